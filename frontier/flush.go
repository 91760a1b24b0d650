package frontier

import (
	"fmt"
	"time"

	"octopus"
	"octopus/kv"
	"octopus/robots"
)

// save writes the record of key and keeps r, which must not change any more.
func (c *Core) save(key octopus.Key, r *record) {
	c.records[key] = recordAt{r, c.batch}
	c.buf = c.buf[:0]
	r.encode(&c.buf)
	c.out.Set(c.keys.url(key), c.buf)
}

// touch marks h to be written with the next batch, and its site with it.
func (c *Core) touch(h *host) {
	if !h.dirty {
		h.dirty = true
		c.touched = append(c.touched, h)
	}
	if g := h.site; !g.dirty {
		g.dirty = true
		c.changed = append(c.changed, dirtySite{[4]byte(h.key[:4]), g})
	}
}

// Pending reports whether there is anything to write.
func (c *Core) Pending() bool { return c.out.Len() > 0 || len(c.touched) > 0 }

// Flush hands over the changes since the last call, complete with host states
// and totals, and the number of the batch. The caller must write the batches in
// order, and tell Written. An error is one of the outbox: nothing may be written
// any more.
func (c *Core) Flush() (*kv.Batch, uint64, error) {
	var w writer
	for _, h := range c.touched {
		h.dirty, h.wrote = false, c.batch
		w = w[:0]
		h.encode(&w)
		c.out.Set(c.keys.host(h.key), w)
	}
	for _, s := range c.changed {
		s.dirty = false
		w = w[:0]
		w.count(s.known)
		c.out.Set(c.keys.site(s.key), w)
	}
	w = w[:0]
	c.totals.encode(&w)
	c.out.Set(c.keys.stats(totalsName), w)
	if c.opt.Tally != nil {
		c.opt.Tally.Stage(c.out)
	}
	out, n := c.out, c.batch
	if c.spare == nil {
		c.spare = new(kv.Batch)
	}
	c.out, c.spare, c.batch = c.spare, nil, c.batch+1
	clear(c.touched)
	c.touched, c.changed = c.touched[:0], c.changed[:0]
	return out, n, c.failed
}

// spareBytes is the size of a batch up to which its memory is kept.
const spareBytes = 1 << 20

// Reuse takes back a batch of Flush that nobody reads any more.
func (c *Core) Reuse(b *kv.Batch) {
	if b.Size() <= spareBytes {
		b.Reset()
		c.spare = b
	}
}

// Written forgets what was kept in memory until the store has batch n. No read
// of the store that began before the batch was written may still be on its way
// to Add, Done, Refilled or Woken. The records go to keep.
func (c *Core) Written(n uint64, keep cache) {
	c.written = n
	for key, r := range c.records {
		if r.batch <= n {
			keep.put(key, r.record)
			delete(c.records, key)
		}
	}
	for len(c.queued) > 0 && c.queued[0].batch <= n {
		h := c.queued[0].host
		h.pending = h.pending[1:]
		c.queued = c.queued[1:]
	}
}

// totalsName is the key of the totals in the stats table.
const totalsName = "totals"

func (t *totals) encode(w *writer) {
	w.byte(recordVersion)
	for _, n := range []int64{t.Known, t.Queued, t.Later, t.Done, t.Parked, t.Hosts, t.Pages, t.Failed} {
		w.count(n)
	}
	w.uint(t.Seq)
	w.count(t.Again)
}

func (t *totals) decode(value []byte) error {
	r := reader{rest: value}
	if v := r.byte(); v != recordVersion && r.err == nil {
		return fmt.Errorf("frontier of version %d: this program reads version %d; use the program that wrote it, or start afresh", v, recordVersion)
	}
	for _, n := range []*int64{&t.Known, &t.Queued, &t.Later, &t.Done, &t.Parked, &t.Hosts, &t.Pages, &t.Failed} {
		*n = r.count()
	}
	t.Seq = r.uint()
	if r.err == nil && len(r.rest) > 0 { // not there before boards were
		t.Again = r.count()
	}
	if r.err != nil {
		return fmt.Errorf("frontier totals: %w", r.err)
	}
	return nil
}

// Restore takes over the totals of an older state, opened at now, and the time
// of the first entry of the due table. Every host waits one full gap.
func (c *Core) Restore(now time.Time, totals []byte, firstDue time.Time) error {
	c.advance(now)
	c.opened, c.nextDue = now, firstDue
	return c.totals.decode(totals)
}

// encodePolicy returns the value of the robots table.
//
//	| mode | fetched | next | failures | text |
func encodePolicy(p *robots.Policy) []byte {
	var w writer
	w.byte(byte(p.Mode))
	w.time(p.Fetched)
	w.time(p.Next)
	w.uint(uint64(p.Failures))
	w.string(string(p.Text))
	return w
}

func decodePolicy(value []byte) (robots.Policy, error) {
	r := reader{rest: value}
	p := robots.Policy{Mode: robots.Mode(r.byte()), Fetched: r.time(), Next: r.time(), Failures: int(r.uint())}
	p.Text = []byte(r.string())
	if r.err != nil {
		return p, fmt.Errorf("robots record: %w", r.err)
	}
	return p, nil
}

// Counts returns the totals at now.
func (c *Core) Counts(now time.Time) octopus.Counts {
	c.advance(now)
	return c.totals.Counts
}
