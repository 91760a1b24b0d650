package redisfrontier

import (
	"encoding/binary"
	"errors"
	"time"
)

// writer appends the fields of a value.
type writer []byte

func (w *writer) byte(b byte)      { *w = append(*w, b) }
func (w *writer) uint(v uint64)    { *w = binary.AppendUvarint(*w, v) }
func (w *writer) string(s string)  { w.uint(uint64(len(s))); *w = append(*w, s...) }
func (w *writer) time(t time.Time) { w.uint(uint64(millis(t))) }

// millis is how times lie in Redis; 0 stands for none.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return max(t.Add(time.Millisecond-1).UnixMilli(), 0) // up, so that no gap is cut short
}

func fromMillis(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// errDamaged is the cause of every decoding error.
var errDamaged = errors.New("value is cut short or damaged")

// reader takes the fields back, in the same order. After the first error it
// returns zeros.
type reader struct {
	rest string
	err  error
}

func (r *reader) take(n uint64) string {
	if r.err != nil || n > uint64(len(r.rest)) {
		r.err = errDamaged
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func (r *reader) byte() byte {
	if s := r.take(1); s != "" {
		return s[0]
	}
	return 0
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint([]byte(r.rest[:min(len(r.rest), binary.MaxVarintLen64)]))
	if r.err != nil || n <= 0 {
		r.err = errDamaged
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) string() string  { return r.take(r.uint()) }
func (r *reader) time() time.Time { return fromMillis(int64(min(r.uint(), 1<<62))) }
