package warc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
)

// Encoder turns records into bytes. It may be used by many goroutines at once;
// as many as there are processors compress at the same time, the others wait.
// More could not be faster, and each has tables of up to 1 MB, which should stay
// in the processor's cache from record to record.
type Encoder struct {
	level   int
	writers chan *flate.Writer // idle ones; nil stands for one that is not made yet
	heads   sync.Pool          // of *[]byte, to make a header in
	zstd    *zstd.Encoder      // of NewZstdEncoder, nil else
}

// DefaultLevel is the gzip level of an Encoder made with level 0: within 15 %
// of the size that level 6 gives, at half its cost. Level 2 is 2 % smaller and a
// fifth dearer, on a busy machine more: its tables are four times as large.
const DefaultLevel = 1

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
	e := &Encoder{level: level, writers: make(chan *flate.Writer, runtime.GOMAXPROCS(0))}
	for range cap(e.writers) {
		e.writers <- nil
	}
	return e, nil
}

// Append appends the record to dst as one gzip member (or zstd frame). The block is the
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
	head, ok := e.heads.Get().(*[]byte)
	if !ok {
		head = new(make([]byte, 0, 4<<10))
	}
	defer e.heads.Put(head)
	return e.pack(dst, r.appendHeader((*head)[:0], length), block), nil
}

// pack compresses the parts of a record and what ends it.
func (e *Encoder) pack(dst, head []byte, block [][]byte) []byte {
	if e.zstd != nil {
		return e.zstd.EncodeAll(appendParts(nil, head, block), dst)
	}
	if e.level == Plain {
		return appendParts(dst, head, block)
	}
	if n := len(block) - 1; n >= 0 && packed(block[n]) {
		all := head
		for _, p := range block[:n] {
			all = append(all, p...)
		}
		if member, ok := appendPacked(dst, all, block[n]); ok {
			return member
		}
	}
	z := <-e.writers
	if z == nil {
		z, _ = flate.NewWriter(nil, e.level) // NewEncoder checked the level
	}
	defer func() { e.writers <- z }()
	return appendMember(dst, z, head, block)
}

// Pack appends a record that lies there as text (Decoder.Unpack) to dst, as one
// gzip member or zstd frame.
func (e *Encoder) Pack(dst, record []byte) []byte {
	_, rest, _ := cutHeader(record)
	n := len(record) - len(rest)
	return e.pack(dst, record[:n], [][]byte{bytes.TrimSuffix(rest, []byte(recordEnd))})
}

// recordEnd follows a block.
const recordEnd = "\r\n\r\n"

var gzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}

// appendMember appends a gzip member.
func appendMember(dst []byte, z *flate.Writer, head []byte, block [][]byte) []byte {
	out := &appender{append(dst, gzipHeader...)}
	z.Reset(out)
	z.Write(head) // an appender never fails, nor does a flate.Writer then
	crc, size := crc32.ChecksumIEEE(head), len(head)
	for _, p := range block {
		z.Write(p)
		crc, size = crc32.Update(crc, crc32.IEEETable, p), size+len(p)
	}
	z.Write([]byte(recordEnd))
	z.Close()
	return appendTrailer(out.b, crc32.Update(crc, crc32.IEEETable, []byte(recordEnd)), size+len(recordEnd))
}

// appendPacked appends a gzip member in which body is stored as it is. It refuses a
// head that is not like others.
func appendPacked(dst, head, body []byte) (member []byte, ok bool) {
	member = append(slices.Grow(dst, len(head)+len(body)+len(body)>>10+64), gzipHeader...)
	w, ok := theHeadCode().append(member, head)
	if !ok {
		return nil, false
	}
	member = w.store(body, recordEnd)
	crc := crc32.Update(crc32.ChecksumIEEE(head), crc32.IEEETable, body)
	return appendTrailer(member, crc32.Update(crc, crc32.IEEETable, []byte(recordEnd)), len(head)+len(body)+len(recordEnd)), true
}

func appendTrailer(dst []byte, crc uint32, size int) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(dst, crc), uint32(size))
}

// packed reports whether compressing p seems to be in vain: 256 random bytes have
// 162 different values, give or take 5; text has 100 at most, and so do programs,
// sound and pictures that are not compressed. Values in some order have more.
func packed(p []byte) bool {
	const piece, least, most = 256, 135, 190
	if len(p) < piece {
		return false
	}
	var seen [256]int
	n := 0
	for _, c := range p[(len(p)-piece)/2:][:piece] {
		n += seen[c] ^ 1
		seen[c] = 1
	}
	return least <= n && n <= most
}

func appendParts(dst, head []byte, block [][]byte) []byte {
	size := len(head) + len(recordEnd)
	for _, p := range block {
		size += len(p)
	}
	dst = append(slices.Grow(dst, size), head...)
	for _, p := range block {
		dst = append(dst, p...)
	}
	return append(dst, recordEnd...)
}

// appender is an io.Writer that grows a slice.
type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

// store writes p and end as the last blocks of a deflate stream, not compressed,
// and returns everything written.
func (w *bitWriter) store(p []byte, end string) []byte {
	for final := uint64(0); final == 0; {
		n := min(len(p), 1<<16-1-len(end))
		size := uint16(n)
		if n == len(p) {
			final, size = 1, uint16(n+len(end))
		}
		w.put(final, 3)
		w.b = binary.LittleEndian.AppendUint32(w.align(), uint32(size)|uint32(^size)<<16)
		w.b, p = append(w.b, p[:n]...), p[n:]
	}
	return append(w.b, end...)
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
