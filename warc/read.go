package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// ErrFormat is in the chain of every error about the content of a file, as
// opposed to errors of reading it.
var ErrFormat = errors.New("not a valid WARC record")

// maxHeader bounds the header of a record, in bytes. Real ones have 1 KiB.
const maxHeader = 64 << 10

// Reader streams over the records of a WARC file, compressed (one or several
// records per gzip member or zstd frame) or not. It buffers 64 KiB, whatever the
// records claim, and the window of a zstd frame, up to 8 MiB. It is not safe for concurrent use.
type Reader struct {
	in   *bufio.Reader
	n    counter // under in: counts what in has taken
	base int64   // offset of the first byte in the file

	z      *gzip.Reader
	zstd   *zstd.Decoder // nil until a frame is met; reads frame
	frame  frameReader
	lines  *bufio.Reader // the records of the open member; in itself where there is no gzip
	zlines *bufio.Reader // a buffer for lines that Reset kept
	zipped bool
	open   bool // a member is open
	start  int64
	rec    *Record
	block  io.LimitedReader // what is left of the record's block
}

// counter counts bytes, and keeps the error of a disk apart from those of the
// data.
type counter struct {
	r   io.Reader
	n   int64
	err error
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// NewReader returns a reader of the records in r. base is added to the offsets
// it reports: where in its file r begins.
func NewReader(r io.Reader, base int64) *Reader {
	d := &Reader{base: base}
	d.n.r = r
	d.in = bufio.NewReaderSize(&d.n, 32<<10)
	return d
}

// Reset makes d read from r as NewReader would, keeping its buffers.
func (d *Reader) Reset(r io.Reader, base int64) {
	d.n, d.base = counter{r: r}, base
	d.in.Reset(&d.n)
	if d.zipped { // else lines is in itself, or nothing yet
		d.zlines = d.lines
	}
	d.lines, d.zipped, d.open, d.start, d.rec = nil, false, false, 0, nil
}

// Offset returns how far the input was used, in bytes from the start of the
// file: after Next returned io.EOF, or between records, the end of the last
// record.
func (d *Reader) Offset() int64 { return d.base + d.n.n - int64(d.in.Buffered()) }

// InMember reports, after Finish, whether the gzip member of the record goes on:
// its CRC was not checked then.
func (d *Reader) InMember() bool { return d.zipped && d.open }

// Next skips what was not read of the last block and returns the next record.
// Its Block is valid until the next call. At the end of the file it returns
// io.EOF. Any other error ends the file: it names the offset of the record
// that could not be read.
func (d *Reader) Next() (*Record, error) {
	if err := d.Finish(); err != nil {
		return nil, err
	}
	if err := d.begin(); err != nil {
		return nil, err
	}
	rec := &Record{Offset: d.start}
	if err := d.header(rec); err != nil {
		return nil, d.fail(err)
	}
	d.rec = rec
	d.block = io.LimitedReader{R: d.lines, N: rec.ContentLength}
	rec.Block = blockReader{d, rec}
	return rec, nil
}

// ReadBlock returns the rest of the record's block. It takes what the record
// claims for granted only up to 64 KiB.
func (r *Record) ReadBlock() ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, min(r.ContentLength+bytes.MinRead, 64<<10)))
	_, err := b.ReadFrom(r.Block)
	return b.Bytes(), err
}

// blockReader reads the block of rec and reports a file that ends inside it.
type blockReader struct {
	d   *Reader
	rec *Record
}

func (b blockReader) Read(p []byte) (int, error) {
	if b.d.rec != b.rec {
		return 0, errors.New("block of a record that was left behind")
	}
	n, err := b.d.block.Read(p)
	if err == io.EOF && b.d.block.N > 0 {
		err = b.d.fail(io.ErrUnexpectedEOF)
	} else if err != nil && err != io.EOF {
		err = b.d.fail(err)
	}
	return n, err
}

// Finish reads to the end of the current record and, where that is the end of
// its gzip member too, checks the member's CRC. Without an error Offset is the
// end of the record then. Next does it by itself.
func (d *Reader) Finish() error {
	if d.rec == nil {
		return nil
	}
	if _, err := io.Copy(io.Discard, blockReader{d, d.rec}); err != nil {
		return err
	}
	d.rec = nil
	for range 2 {
		line, err := d.line(8)
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err == nil && len(line) != 0 {
			err = fmt.Errorf("%w: %.20q where the record should end", ErrFormat, line)
		}
		if err != nil {
			return d.fail(err)
		}
	}
	if !d.zipped {
		d.start = d.Offset()
		return nil
	}
	_, err := d.lines.Peek(1)
	if err == io.EOF {
		d.open = false
		return nil
	}
	if err != nil {
		return d.fail(err)
	}
	return nil
}

// begin opens the next gzip member where there is need.
func (d *Reader) begin() error {
	if d.open {
		return nil
	}
	d.start = d.Offset()
	magic, err := d.in.Peek(4)
	if len(magic) == 0 {
		return err // io.EOF, or the error of reading
	}
	if string(magic) == zstdMagic {
		return d.beginFrame()
	}
	magic = magic[:min(2, len(magic))]
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		if d.zipped {
			return d.fail(fmt.Errorf("%w: no gzip member begins here", ErrFormat))
		}
		d.lines, d.open = d.in, true
		return nil
	}
	if d.z == nil {
		d.z, err = gzip.NewReader(d.in)
	} else {
		err = d.z.Reset(d.in)
	}
	if err != nil {
		return d.fail(err)
	}
	d.z.Multistream(false)
	d.openMember(d.z)
	return nil
}

// beginFrame opens the zstd frame that comes next.
func (d *Reader) beginFrame() (err error) {
	if d.zstd == nil {
		if d.zstd, err = newZstdReader(); err != nil {
			return err
		}
	}
	d.frame = frameReader{in: d.in}
	if err := d.zstd.Reset(&d.frame); err != nil {
		return d.fail(err)
	}
	d.openMember(d.zstd)
	return nil
}

// openMember lets lines read from r.
func (d *Reader) openMember(r io.Reader) {
	d.zipped, d.open = true, true
	switch {
	case d.lines == nil && d.zlines == nil:
		d.lines = bufio.NewReaderSize(r, 32<<10)
	case d.lines == nil:
		d.lines = d.zlines
		fallthrough
	default:
		d.lines.Reset(r)
	}
}

// header reads version line and named fields.
func (d *Reader) header(rec *Record) error {
	line, err := d.line(maxHeader)
	if err != nil {
		if err == io.EOF && !d.zipped {
			return io.EOF
		}
		return noEOF(err)
	}
	h := headerParser{rec: rec}
	if err := h.version(line); err != nil {
		return err
	}
	for left := maxHeader; ; {
		line, err := d.line(left)
		if err != nil {
			return noEOF(err)
		}
		if left -= len(line) + 2; left <= 0 {
			return errLongHeader
		}
		if line == "" {
			return h.end()
		}
		if err := h.line(line); err != nil {
			return err
		}
	}
}

// line returns the next line, at most max bytes of it, without its end. It
// returns io.EOF only where there is nothing at all.
func (d *Reader) line(max int) (string, error) {
	var long []byte
	for {
		part, err := d.lines.ReadSlice('\n')
		if len(long)+len(part) > max+2 {
			return "", fmt.Errorf("%w: a line of more than %d bytes", ErrFormat, max)
		}
		if err == nil && long == nil {
			return string(trimEnd(part)), nil
		}
		long = append(long, part...)
		switch {
		case err == nil:
			return string(trimEnd(long)), nil
		case err == io.EOF && len(long) > 0:
			return "", io.ErrUnexpectedEOF
		case err != bufio.ErrBufferFull:
			return "", err
		}
	}
}

func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// fail names the offset of the record that err is about.
func (d *Reader) fail(err error) error {
	if err == io.EOF {
		return err
	}
	if d.n.err == nil && !errors.Is(err, ErrFormat) {
		err = fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return fmt.Errorf("WARC record at offset %d: %w", d.start, err)
}
