package warc

import (
	"fmt"
	"io"
	"runtime"

	"github.com/klauspost/compress/gzip"
)

// Encoder turns records into bytes. It may be used by many goroutines at once;
// as many as there are processors compress at the same time, the others wait.
// More could not be faster, and each has tables of up to 1 MB, which should stay
// in the processor's cache from record to record.
type Encoder struct {
	level   int
	writers chan *gzip.Writer // idle ones; nil stands for one that is not made yet
}

// DefaultLevel is the gzip level of an Encoder made with level 0: within 15 %
// of the size that level 6 gives, at half its cost.
const DefaultLevel = 2

// Plain as a level makes an Encoder that does not compress at all.
const Plain = -1

// NewEncoder returns an encoder with a gzip level of 1 to 9; 0 means
// DefaultLevel, and Plain writes records without gzip.
func NewEncoder(level int) (*Encoder, error) {
	if level == 0 {
		level = DefaultLevel
	}
	if level < Plain || level > 9 {
		return nil, fmt.Errorf("gzip level %d: want 1 to 9", level)
	}
	e := &Encoder{level: level, writers: make(chan *gzip.Writer, runtime.GOMAXPROCS(0))}
	for range cap(e.writers) {
		e.writers <- nil
	}
	return e, nil
}

// Append appends the record to dst as one gzip member. The block is the
// concatenation of the given parts. The Record's own Block and ContentLength
// are not looked at.
func (e *Encoder) Append(dst []byte, r *Record, block ...[]byte) ([]byte, error) {
	if err := r.validate(); err != nil {
		return dst, err
	}
	var length int64
	for _, p := range block {
		length += int64(len(p))
	}
	head := r.appendHeader(make([]byte, 0, 768), length)
	if e.level == Plain {
		return appendParts(dst, head, block), nil
	}
	out := &appender{dst}
	z := e.writer(out)
	defer func() { e.writers <- z }()
	z.Write(head) // an appender never fails, so the errors are all in Close
	for _, p := range block {
		z.Write(p)
	}
	z.Write([]byte("\r\n\r\n"))
	if err := z.Close(); err != nil {
		return dst, fmt.Errorf("compress record %s: %w", r.ID, err)
	}
	return out.b, nil
}

func appendParts(dst, head []byte, block [][]byte) []byte {
	dst = append(dst, head...)
	for _, p := range block {
		dst = append(dst, p...)
	}
	return append(dst, "\r\n\r\n"...)
}

// writer waits for an idle gzip writer and lets it write to w.
func (e *Encoder) writer(w io.Writer) *gzip.Writer {
	z := <-e.writers
	if z == nil {
		z, _ = gzip.NewWriterLevel(w, e.level) // NewEncoder checked the level
	} else {
		z.Reset(w)
	}
	return z
}

// appender is an io.Writer that grows a slice.
type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

// validate refuses a record that no reader would accept.
func (r *Record) validate() error {
	switch {
	case r.Type == "" || r.ID == "" || r.Date.IsZero():
		return fmt.Errorf("WARC record %q %s: type, ID and date are mandatory", r.Type, r.ID)
	case r.Type == Warcinfo && r.TargetURI != "":
		return fmt.Errorf("WARC record %s: a warcinfo has no target URI", r.ID)
	case r.TargetURI == "" && r.Type != Warcinfo && r.Type != Metadata:
		return fmt.Errorf("WARC record %s: a %s needs a target URI", r.ID, r.Type)
	case r.Type == Revisit && r.Profile == "":
		return fmt.Errorf("WARC record %s: a revisit needs a profile", r.ID)
	case r.Date.Year() < 1 || r.Date.Year() > 9999:
		return fmt.Errorf("WARC record %s: date %v outside the years 1 to 9999", r.ID, r.Date)
	}
	return nil
}

// Writer writes records one after the other. It is not safe for concurrent use.
type Writer struct {
	w      io.Writer
	e      *Encoder
	buf    []byte
	offset int64
}

// NewWriter returns a writer of records to w.
func NewWriter(w io.Writer, e *Encoder) *Writer { return &Writer{w: w, e: e} }

// Write writes one record and returns its offset and length in what was
// written so far.
func (w *Writer) Write(r *Record, block ...[]byte) (offset, length int64, err error) {
	if w.buf, err = w.e.Append(w.buf[:0], r, block...); err != nil {
		return 0, 0, err
	}
	offset = w.offset
	n, err := w.w.Write(w.buf)
	w.offset += int64(n)
	return offset, int64(n), err
}
