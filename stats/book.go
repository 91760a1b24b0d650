package stats

import (
	"fmt"
	"time"

	"octopus"
	"octopus/kv"
)

// Options say where a Book keeps its rows, and for how long.
type Options struct {
	// Prefix begins all keys of the book in its store.
	Prefix string
	// Hours is how long rows of hours are kept. Default 31 days.
	Hours time.Duration
	// Days is how long rows of days are kept. Default 1,100 days.
	Days time.Duration
}

// ClassRobots is the class of requests for robots.txt. The others are those of
// pages: "nav", "data" and "other".
const ClassRobots = "robots"

// Book counts. It keeps in memory the rows of the present hour and day, about
// 1.7 KB for each board and class that anything happened to today.
//
// It is not safe for concurrent use: the lock of the frontier that calls it
// guards it.
type Book struct {
	opt    Options
	now    [len(spans)]uint32 // numbers of the present hour and day
	rows   map[name]*row
	last   *row           // that was counted in last
	stored map[id]*Counts // rows that the store had when the book was opened, of now or later
	dirty  []*row
	past   []pastRow // rows of hours and days that ended since the last Stage
	expire bool      // the hour changed: rows may have come to their end
	buf    []byte
}

type name struct{ board, class string }

// row holds the counters of the present hour and day.
type row struct {
	name
	number [len(spans)]uint32
	counts [len(spans)]Counts
	dirty  bool
}

type pastRow struct {
	id
	Counts
}

var spans = [...]Span{Hour, Day}

// Open returns the book that a store holds, at now.
func Open(store kv.Store, now time.Time, opt Options) (*Book, error) {
	if opt.Hours == 0 {
		opt.Hours = 31 * 24 * time.Hour
	}
	if opt.Days == 0 {
		opt.Days = 1100 * 24 * time.Hour
	}
	b := &Book{opt: opt, rows: map[name]*row{}, stored: map[id]*Counts{}, expire: true}
	for i, s := range spans {
		b.now[i] = s.number(now)
		err := scan(store, opt.Prefix, s, b.now[i], nil, func(r id, c *Counts) error {
			b.stored[r] = c
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("open statistics: %w", err)
		}
	}
	return b, nil
}

// Outcome counts an outcome that was accepted at now. It must be told each only
// once, and in the commit that Stage is called for next.
func (b *Book) Outcome(now time.Time, o *octopus.Outcome, e octopus.Ending) {
	if o.NoRequest && o.Lease.Purpose == octopus.Relink {
		return // the links of a stored page were read again
	}
	class := classOf(o)
	r := b.row(now, o.Lease.Link.Board, class)
	if !o.NoRequest {
		r.add(Requests, 1)
		r.add(Bytes, o.Wire)
	}
	if kind, failed := errorOf(o); failed {
		r.add(Error(kind), 1)
	}
	if class != ClassRobots {
		r.ending(o, e)
	}
}

// ending counts what an outcome meant for its URL.
func (r *row) ending(o *octopus.Outcome, e octopus.Ending) {
	switch {
	case !e.Final:
		r.add(Retries, 1)
	case e.Failed:
		r.add(Failed, 1)
	case o.Status == 304:
		r.add(Pages, 1)
		r.add(Unchanged, 1)
	case o.Status/100 == 2:
		r.page(o, e)
	case o.Status/100 == 3:
		r.add(Redirects, 1)
	default:
		r.add(Missing, 1)
	}
}

func (r *row) page(o *octopus.Outcome, e octopus.Ending) {
	r.add(Pages, 1)
	switch {
	case e.New:
		r.add(New, 1)
		r.fresh(o)
	case e.Changed:
		r.add(Changed, 1)
	default:
		r.add(Unchanged, 1)
		return
	}
	if o.Record != nil && o.Record.DuplicateOf != "" {
		r.add(Duplicates, 1)
	} else if e.Near {
		r.add(Near, 1)
	}
}

// fresh counts the first page of a URL.
func (r *row) fresh(o *octopus.Outcome) {
	if o.Lane != octopus.Data {
		return
	}
	r.add(Articles, 1)
	if o.Record == nil {
		return
	}
	if bucket, ok := captureOf(o.Record.Published, o.End); ok {
		r.add(bucket, 1)
	}
}

// Link counts a URL that was met for the first time, or set aside later: queued
// where reason is empty.
func (b *Book) Link(now time.Time, board string, lane octopus.Lane, reason string) {
	counter := Links
	if reason != "" {
		counter = Parked
	}
	b.row(now, board, lane.String()).add(counter, 1)
}

// row returns the row to count in at now, marked as changed.
func (b *Book) row(now time.Time, board, class string) *row {
	for i, s := range spans {
		if n := s.number(now); n > b.now[i] {
			b.now[i], b.expire = n, true
		}
	}
	r := b.last
	if r == nil || r.board != board || r.class != class {
		if r = b.rows[name{board, class}]; r == nil {
			r = &row{name: name{board, class}}
			b.rows[r.name] = r
		}
		b.last = r
	}
	if r.number != b.now {
		b.turn(r)
	}
	if !r.dirty {
		r.dirty = true
		b.dirty = append(b.dirty, r)
	}
	return r
}

// turn moves a row on to the present hour and day. What is not in the store yet
// of the ones before is kept for Stage.
func (b *Book) turn(r *row) {
	for i, n := range b.now {
		if r.number[i] == n {
			continue
		}
		if r.dirty {
			b.past = append(b.past, pastRow{r.id(i), r.counts[i]})
		}
		r.number[i], r.counts[i] = n, Counts{}
		if c := b.stored[r.id(i)]; c != nil {
			r.counts[i] = *c
			delete(b.stored, r.id(i))
		}
	}
}

// id returns the name of a row's counters of the span of index i.
func (r *row) id(i int) id { return id{spans[i], r.number[i], r.board, r.class} }

func (r *row) add(c Counter, n int64) {
	for i := range r.counts {
		r.counts[i][c] += n
	}
}

// Stage puts what changed since its last call into a batch.
func (b *Book) Stage(batch *kv.Batch) {
	for i := range b.past {
		b.set(batch, b.past[i].id, &b.past[i].Counts)
	}
	b.past = nil
	for _, r := range b.dirty {
		for i := range r.counts {
			b.set(batch, r.id(i), &r.counts[i])
		}
		r.dirty = false
	}
	clear(b.dirty)
	b.dirty = b.dirty[:0]
	if b.expire {
		b.expire = false
		b.drop(batch)
	}
}

func (b *Book) set(batch *kv.Batch, r id, c *Counts) {
	b.buf = c.encode(b.buf[:0])
	batch.Set(r.key(b.opt.Prefix), b.buf)
}

// drop removes rows that are kept no longer from the store, and boards to which
// nothing happened today from memory.
func (b *Book) drop(batch *kv.Batch) {
	for i, keep := range [...]time.Duration{b.opt.Hours, b.opt.Days} {
		s := spans[i]
		if n := uint32(keep / s.Length()); n < b.now[i] {
			batch.DeleteRange(spanKey(b.opt.Prefix, s, 0), spanKey(b.opt.Prefix, s, b.now[i]-n))
		}
	}
	for k, r := range b.rows {
		if r.number[1] < b.now[1] {
			delete(b.rows, k)
		}
	}
	b.last = nil
}

// classOf returns the class of the page that an outcome brought, else the lane
// that its URL stood in.
func classOf(o *octopus.Outcome) string {
	switch {
	case o.Lease.Purpose == octopus.FetchRobots:
		return ClassRobots
	case o.Record != nil && o.Record.Kind != "":
		return o.Record.Kind
	}
	return o.Lane.String()
}

// errorOf returns the kind of what went wrong. A missing robots.txt is no error.
func errorOf(o *octopus.Outcome) (octopus.Kind, bool) {
	switch s := o.Status; {
	case o.Err != nil:
		return o.Err.Kind, true
	case s == 429 || s == 503:
		return octopus.KindUnavailable, true
	case s == 408:
		return octopus.KindTimeout, true
	case s >= 500:
		return octopus.KindServer, true
	case s >= 400 && o.Lease.Purpose != octopus.FetchRobots:
		return octopus.KindGone, true
	case s == 0:
		return octopus.KindOther, true
	}
	return 0, false
}
