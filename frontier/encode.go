package frontier

import (
	"encoding/binary"
	"errors"
	"time"
)

// writer appends the fields of a record.
type writer []byte

func (w *writer) byte(b byte)      { *w = append(*w, b) }
func (w *writer) bytes(p []byte)   { *w = append(*w, p...) }
func (w *writer) uint(v uint64)    { *w = binary.AppendUvarint(*w, v) }
func (w *writer) string(s string)  { w.uint(uint64(len(s))); *w = append(*w, s...) }
func (w *writer) time(t time.Time) { w.uint(millis(t)) }
func (w *writer) count(n int64)    { w.uint(uint64(max(n, 0))) }
func millis(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(t.UnixMilli())
}

func fromMillis(ms uint64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(ms))
}

// errTruncated is the cause of every decoding error: a value ends too early or
// a number does not fit.
var errTruncated = errors.New("value is cut short or damaged")

// reader takes the fields of a record back, in the same order. After the first
// error it returns zeros.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) bytes(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.rest) {
		r.err = errTruncated
		return nil
	}
	p := r.rest[:n]
	r.rest = r.rest[n:]
	return p
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if r.err != nil || n <= 0 {
		r.err = errTruncated
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) string() string {
	n := r.uint()
	if n > uint64(len(r.rest)) {
		r.err = errTruncated
		return ""
	}
	return string(r.bytes(int(n)))
}

func (r *reader) count() int64    { return int64(r.uint()) }
func (r *reader) time() time.Time { return fromMillis(r.uint()) }
