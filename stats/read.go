package stats

import (
	"time"

	"octopus/kv"
)

// Row is what happened to a board's pages of one class in one hour or day.
type Row struct {
	Start time.Time // UTC
	Span  Span
	Board string // empty for links that no board had taken
	Class string // nav, data, other or robots
	Counts
}

// Query selects rows.
type Query struct {
	Prefix string
	Span   Span      // default Hour
	Since  time.Time // rows that end after it; zero means all
	Until  time.Time // rows that begin before it; zero means all
}

// Read calls visit for the rows of a store, oldest first, then by board and
// class. An error of visit ends it and is returned, but for kv.ErrStop.
func Read(store kv.Store, q Query, visit func(Row) error) error {
	if q.Span == 0 {
		q.Span = Hour
	}
	from := uint32(0)
	if !q.Since.IsZero() {
		from = q.Span.number(q.Since)
	}
	var hi []byte
	if !q.Until.IsZero() {
		hi = spanKey(q.Prefix, q.Span, q.Span.number(q.Until.Add(-1))+1)
	}
	return scan(store, q.Prefix, q.Span, from, hi, func(r id, c *Counts) error {
		return visit(Row{Start: r.span.start(r.number), Span: r.span, Board: r.board, Class: r.class, Counts: *c})
	})
}

// scan reads the rows of a span from a number on, up to the key hi where there
// is one.
func scan(store kv.Store, prefix string, s Span, from uint32, hi []byte, visit func(id, *Counts) error) error {
	if hi == nil {
		hi = kv.PrefixEnd(append([]byte(prefix), byte(s)))
	}
	return store.Scan(spanKey(prefix, s, from), hi, func(key, value []byte) error {
		r, err := parseID(prefix, key)
		if err != nil {
			return err
		}
		c := new(Counts)
		if err := c.decode(value); err != nil {
			return err
		}
		return visit(r, c)
	})
}
