package frontier

import (
	"fmt"
	"time"

	"octopus"
)

// park keeps a URL aside; it is in no queue. r is its record, not yet saved.
func (c *Core) park(h *host, e *entry, r *record, reason, detail string) {
	key := e.key(h)
	r.state, r.reason, r.detail = stateParked, reason, detail
	r.setText(e)
	c.totals.Parked++
	h.Parked++
	c.parked[reason]++
	c.tellLink(e, reason)
	c.out.Set(c.keys.parked(key), c.outside(h, e))
	c.save(key, r)
	c.touch(h)
}

// Park is a queued URL that may not be fetched. Its record in the store is
// wanted before it can be put aside (Core.Park).
type Park struct {
	lease          *lease // holds the URL until then
	reason, detail string
	to             octopus.Link // that stands for it; zero where none does
	held           bool         // by its board, or it goes on elsewhere
}

// Key returns the key of the URL.
func (p Park) Key() octopus.Key { return p.lease.key }

// setAside takes e, the next entry of h, out of the queue in memory.
func (c *Core) setAside(h *host, e *entry, reason, detail string) Park {
	l := &lease{key: e.key(h), host: h, page: true, freed: true}
	c.take(h, e, l)
	return Park{lease: l, reason: reason, detail: detail}
}

// Park puts the URL aside and tells the sinks. It reports whether the URL still
// waited.
func (c *Core) Park(now time.Time, p Park, old *record) bool {
	c.advance(now)
	l := p.lease
	h, e := l.host, l.entry
	r := c.record(l.key, old)
	if e == nil || r == nil || r.state != stateQueued {
		h.forget(l) // an outcome ended the visit meanwhile
		return false
	}
	c.dequeue(h, l.key, r.pos)
	delete(c.leased, l.key)
	h.forget(l)
	parked := *r
	c.park(h, e, &parked, p.reason, p.detail)
	if !p.held { // it goes on later: no news for the sinks
		c.skipped(h, e, p.reason, p.detail)
	}
	c.schedule(h)
	return true
}

// Visiting returns the record of a URL that is handed out for the first time: its
// entry has all of it, so that the store need not be asked. Of other URLs it
// returns nil: after a failed attempt the record holds the links that were met.
func (c *Core) Visiting(key octopus.Key) *record {
	l := c.leased[key]
	if l == nil || l.entry == nil || l.entry.visits > 0 || l.entry.tries > 0 {
		return nil
	}
	e := l.entry
	return &record{state: stateQueued, pos: e.pos, hop: e.hop, number: e.number, tries: e.tries, relink: e.relink}
}

// skipped sends the record of a URL that will not be fetched to the sinks.
func (c *Core) skipped(h *host, e *entry, reason, detail string) {
	if c.opt.Outbox == nil {
		return
	}
	c.emit(&octopus.Record{
		V: octopus.RecordVersion, URL: e.text, FinalURL: e.text, FetchedAt: c.now,
		Depth: e.pos.depth(), Via: e.via, Path: string(e.kind), Board: e.board,
		Visit: e.visits + 1, Links: []string{}, Skip: reason, Error: detail,
	})
}

// emit appends a record to the outbox. Its first error is kept: the commit that
// the record belongs to fails with it.
func (c *Core) emit(rec *octopus.Record) {
	if c.opt.Outbox == nil || rec == nil || c.failed != nil {
		return
	}
	if err := c.opt.Outbox.Append(c.out, rec); err != nil {
		c.failed = fmt.Errorf("outbox: record of %s: %w", rec.URL, err)
	}
}

// key returns the URL key of an entry of h.
func (e *entry) key(h *host) octopus.Key {
	var k octopus.Key
	copy(k[:], h.key[:])
	copy(k[8:], e.tail[:])
	return k
}

// setText keeps in the record what a queue entry keeps otherwise.
func (r *record) setText(e *entry) {
	r.text, r.via, r.board, r.kind = e.text, e.via, e.board, e.kind
}

// outside returns the value of an entry outside the queue, where the key does not
// hold its position. It is valid until the next value is built.
func (c *Core) outside(h *host, e *entry) []byte {
	c.buf = append(c.buf[:0], e.pos[:]...)
	e.encode(&c.buf, h.name)
	return c.buf
}

// decodeDue reads what outside wrote.
func decodeDue(host string, value []byte) (*entry, error) {
	n := len(position{})
	if len(value) < n {
		return nil, fmt.Errorf("entry of %s: %w", host, errTruncated)
	}
	return decodeEntry(position(value[:n]), host, value[n:])
}
