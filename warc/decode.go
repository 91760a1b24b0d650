package warc

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/klauspost/compress/zstd"

	"octopus/internal/inflate"
)

// maxMember bounds the content of a member that Decoder reads, in bytes.
const maxMember = 1 << 30

// maxKept bounds the buffer that a Decoder keeps from record to record.
const maxKept = 1 << 20

// Decoder reads single records that lie in memory as a whole. It keeps its
// buffers, up to 1 MiB. It is not safe for concurrent use. The zero value is
// ready.
type Decoder struct {
	z    inflate.Decoder
	zstd *zstd.Decoder // nil until it is needed
	buf  []byte
}

// Decode reads the record in the gzip member or zstd frame that src begins with,
// and returns its block, valid until the next call, and the length of the member.
// The member holds this record alone. Rec has no Block to read from.
func (d *Decoder) Decode(src []byte) (rec *Record, block []byte, n int, err error) {
	buf, n, err := d.Unpack(src)
	if err != nil {
		return nil, nil, 0, err
	}
	head, rest, ok := cutHeader(buf)
	if !ok {
		return nil, nil, 0, errLongHeader
	}
	rec = &Record{}
	if err := rec.parse(string(head)); err != nil {
		return nil, nil, 0, err
	}
	if block, ok = bytes.CutSuffix(rest, []byte(recordEnd)); !ok || int64(len(block)) != rec.ContentLength {
		return nil, nil, 0, fmt.Errorf("%w: Content-Length is %d, %d bytes follow the header", ErrFormat, rec.ContentLength, len(rest))
	}
	return rec, block, n, nil
}

// Unpack returns the content of the gzip member or zstd frame that src begins
// with, valid until the next call, and its length.
func (d *Decoder) Unpack(src []byte) (content []byte, n int, err error) {
	var buf []byte
	if bytes.HasPrefix(src, []byte(zstdMagic)) {
		if n, err = zstdFrame(src); err != nil {
			return nil, 0, err
		}
		if d.zstd == nil {
			if d.zstd, err = newZstdReader(); err != nil {
				return nil, 0, err
			}
		}
		buf, err = d.zstd.DecodeAll(src[:n], d.buf[:0])
	} else {
		buf, n, err = d.z.Gzip(d.buf[:0], src, maxMember)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if d.buf = buf; cap(buf) > maxKept {
		d.buf = nil
	}
	return buf, n, nil
}

// cutHeader splits a record at the empty line behind its header. Lines end with
// CRLF: they are ours.
func cutHeader(b []byte) (head, rest []byte, ok bool) {
	i := bytes.Index(b[:min(len(b), maxHeader)], []byte("\r\n\r\n"))
	if i < 0 {
		return nil, nil, false
	}
	return b[:i+2], b[i+4:], true
}

// parse reads a header: lines that end with CRLF, without the empty one.
func (r *Record) parse(head string) error {
	h := headerParser{rec: r}
	line, head, _ := strings.Cut(head, "\r\n")
	err := h.version(line)
	for head != "" && err == nil {
		line, head, _ = strings.Cut(head, "\r\n")
		err = h.line(line)
	}
	if err != nil {
		return err
	}
	return h.end()
}
