package stats

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"
)

// Span is the length of a row's time.
type Span byte

// The spans; the letters are part of the keys.
const (
	Hour Span = 'h'
	Day  Span = 'd'
)

// Length returns the span's duration.
func (s Span) Length() time.Duration {
	if s == Day {
		return 24 * time.Hour
	}
	return time.Hour
}

// number returns the number of the span that t lies in, counted from 1970, UTC.
func (s Span) number(t time.Time) uint32 {
	return uint32(max(t.Unix(), 0) / int64(s.Length()/time.Second))
}

// start is the inverse of number.
func (s Span) start(n uint32) time.Time {
	return time.Unix(int64(n)*int64(s.Length()/time.Second), 0).UTC()
}

// id names a row.
type id struct {
	span   Span
	number uint32
	board  string
	class  string
}

// spanKey returns the smallest key of a span from a number on.
func spanKey(prefix string, s Span, number uint32) []byte {
	return binary.BigEndian.AppendUint32(append([]byte(prefix), byte(s)), number)
}

func (r id) key(prefix string) []byte {
	k := append(spanKey(prefix, r.span, r.number), r.board...)
	return append(append(k, 0), r.class...)
}

// parseID is the inverse of key. The strings are copies.
func parseID(prefix string, key []byte) (id, error) {
	rest := key[len(prefix):]
	board, class, found := bytes.Cut(rest[min(5, len(rest)):], []byte{0})
	if !found {
		return id{}, fmt.Errorf("stats: key %q is no row's", key)
	}
	return id{Span(rest[0]), binary.BigEndian.Uint32(rest[1:]), string(board), string(class)}, nil
}

// rowVersion is the first byte of a value.
const rowVersion = 1

func (c *Counts) encode(b []byte) []byte {
	b = append(b, rowVersion)
	for i, n := range c {
		if n != 0 {
			b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(i)), uint64(n))
		}
	}
	return b
}

func (c *Counts) decode(b []byte) error {
	if len(b) == 0 || b[0] != rowVersion {
		return fmt.Errorf("stats: row of another version than %d; use the program that wrote it", rowVersion)
	}
	for b = b[1:]; len(b) > 0; {
		i, n := binary.Uvarint(b)
		b = b[max(n, 0):]
		count, m := binary.Uvarint(b)
		if n <= 0 || m <= 0 {
			return fmt.Errorf("stats: row is cut short or damaged")
		}
		b = b[m:]
		if i < uint64(counters) {
			c[i] = int64(count)
		}
	}
	return nil
}
