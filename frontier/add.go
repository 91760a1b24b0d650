package frontier

import (
	"math"
	"octopus"
	"strconv"
	"time"
)

// Add offers one link. old is its URL record in the store, nil where there is
// none; a newer one in memory goes before it. fresh says that the seen set does
// not know the URL: then a record does not hold it back. The link's host must be
// in memory (Core.Has, Core.Load).
func (c *Core) Add(now time.Time, l *octopus.Link, old *record, fresh bool) octopus.Verdict {
	c.advance(now)
	if l.Hop > octopus.MaxHops {
		return octopus.Verdict{Code: octopus.Rejected, Reason: octopus.ReasonHops}
	}
	h := c.hosts[l.URL.Key.Host()]
	r := c.record(l.URL.Key, old)
	switch {
	case r == nil:
		return c.addFresh(h, l)
	case h.cleared(r):
		c.inject(h, l, r)
		return octopus.Verdict{Code: octopus.Queued}
	case r.elsewhere():
		c.Revive(now, l.URL.Key, newEntry(l, r), r)
		if costOf(l.Depth, l.Hop) < r.cost() {
			c.moveUp(h, l, c.record(l.URL.Key, r))
		}
		return octopus.Verdict{Code: octopus.Queued}
	case fresh && (r.state == stateDone || r.state == stateFailed):
		c.again(h, l, r, false) // what was forgotten is fetched, not only read again
		return octopus.Verdict{Code: octopus.Queued}
	case costOf(l.Depth, l.Hop) < r.cost():
		c.moveUp(h, l, r)
	case r.state == stateLater && r.tries == 0 && l.Modified.After(r.last.at):
		k := *l
		k.Via, k.Kind, k.Board = r.via, r.kind, r.board
		c.comeDue(h, l.URL.Key, newEntry(&k, r), *r)
	}
	return octopus.Verdict{Code: octopus.Known}
}

// record returns the newest record of key: what the store has not seen yet, or
// old.
func (c *Core) record(key octopus.Key, old *record) *record {
	if r, ok := c.records[key]; ok {
		return r.record
	}
	return old
}

// addFresh takes in a URL that was never met.
func (c *Core) addFresh(h *host, l *octopus.Link) octopus.Verdict {
	r := &record{state: stateQueued, pos: c.place(h, l), hop: uint8(l.Hop), number: c.totals.Seq}
	e := newEntry(l, r)
	reason, detail := c.refuses(h, l)
	h.Known++
	h.site.known++
	c.totals.Known++
	c.touch(h)
	if reason != "" {
		c.park(h, e, r, reason, detail)
		return octopus.Verdict{Code: octopus.Parked, Reason: reason}
	}
	c.tellLink(e, "")
	c.enqueue(h, e)
	c.save(l.URL.Key, r)
	c.schedule(h)
	return octopus.Verdict{Code: octopus.Queued}
}

// tellLink tells the tally of a new URL, or with a reason of one put aside.
func (c *Core) tellLink(e *entry, reason string) {
	if c.opt.Tally != nil {
		c.opt.Tally.Link(c.now, e.board, e.pos.lane(), reason)
	}
}

// place returns the position behind everything of the link's depth and weight.
func (c *Core) place(h *host, l *octopus.Link) position {
	c.totals.Seq++
	return newPosition(l, h.Gen[l.Lane], c.totals.Seq)
}

// placeAgain returns p behind everything of its depth and weight.
func (c *Core) placeAgain(h *host, p position) position {
	c.totals.Seq++
	return p.withGeneration(h.Gen[p.lane()]).withSeq(c.totals.Seq)
}

// newEntry returns the queue entry of a link for the visit that r waits for.
func newEntry(l *octopus.Link, r *record) *entry {
	return &entry{
		pos: r.pos, tail: [8]byte(l.URL.Key[8:]), kind: l.Kind, hop: r.hop, relink: r.relink,
		number: r.number, visits: r.visits, tries: r.tries, text: l.URL.Text, via: l.Via, board: l.Board,
		method: l.Method, body: l.Body, etag: r.last.etag, lastMod: r.last.lastMod,
	}
}

// refuses returns the reason why a fresh URL of h is parked at once; empty where
// it is not.
func (c *Core) refuses(h *host, l *octopus.Link) (reason, detail string) {
	if detail := c.opt.Traps.Catches(l.URL.Text); detail != "" && l.Kind != octopus.Entry && l.Kind != octopus.Jump {
		return octopus.ReasonTrap, detail
	}
	quota, whose := c.opt.HostQuota, "host"
	if q := c.rules(l.Board).Quota; q > 0 {
		quota, whose = q, "board"
	}
	switch {
	case quota > 0 && h.Known >= quota:
		return octopus.ReasonQuota, whose + " quota of " + strconv.FormatInt(quota, 10)
	case c.opt.SiteQuota > 0 && h.site.known >= c.opt.SiteQuota:
		return octopus.ReasonQuota, "site quota of " + strconv.FormatInt(c.opt.SiteQuota, 10)
	case h.Dead(c.now):
		return octopus.ReasonDead, h.DeadDetail()
	}
	return "", ""
}

// enqueue puts e into the queue of h: on disk, and into memory where it belongs
// to the front.
func (c *Core) enqueue(h *host, e *entry) {
	q := &h.lanes[e.pos.lane()]
	whole := h.onDisk(e.pos.lane()) == 0 && !h.loading
	c.enqueueDisk(h, e)
	switch {
	case e.pos.compare(q.upto) < 0, whole && len(q.fifo) < fifoMax && c.inMemory < c.front():
		q.insert(e)
		c.hold(h, 1)
		if q.upto.compare(e.pos) < 0 {
			q.upto = e.pos
		}
		c.shorten(h, q)
	default:
		h.pending = append(h.pending, e)
		c.writes.queued = append(c.writes.queued, pendingEntry{h, c.batch})
	}
}

// enqueueDisk writes and counts a queue entry.
func (c *Core) enqueueDisk(h *host, e *entry) {
	lane := e.pos.lane()
	if h.queued() == 0 {
		c.totals.Hosts++
		c.queuing++
	}
	if h.Queued[lane] == 0 || e.pos.compare(h.Head[lane]) < 0 {
		h.Head[lane] = e.pos
	}
	h.Queued[lane]++
	c.totals.Queued++
	c.buf = c.buf[:0]
	e.encode(&c.buf, h.name)
	c.out.Set(c.keys.queue(h.key, e.pos), c.buf)
	c.touch(h)
}

// front is the number of entries up to which Add keeps fresh ones in memory.
func (c *Core) front() int { return min(frontEntries, c.opt.QueueLimit) }

// shorten drops the last entry of a front that became too long: longer than two
// refills. While memory holds enough, a front that has any grows no more.
func (c *Core) shorten(h *host, q *lane) {
	keep := len(q.fifo) - 1
	if keep == 0 || keep < 2*fifoMax && c.inMemory <= c.front() {
		return
	}
	q.fifo[keep] = nil
	q.fifo = q.fifo[:keep]
	q.upto = q.fifo[keep-1].pos
	c.hold(h, -1)
}

// dequeue takes the entry at p out of the queue of h, on disk and in memory.
func (c *Core) dequeue(h *host, key octopus.Key, p position) {
	lane := p.lane()
	q := &h.lanes[lane]
	c.out.Delete(c.keys.queue(h.key, p))
	h.Queued[lane]--
	c.totals.Queued--
	if l := c.leased[key]; l != nil && l.entry != nil {
		l.entry = nil
		q.leased--
	} else if q.take(p) != nil {
		c.hold(h, -1)
	} else {
		h.dropPending(p)
	}
	h.Head[lane] = h.head(lane)
	if h.queued() == 0 {
		c.totals.Hosts--
		c.queuing--
	}
	c.touch(h)
}

func (h *host) dropPending(p position) {
	for i, e := range h.pending {
		if e.pos == p {
			h.pending[i] = &entry{} // a gap; the list is cut by commits, in order
			return
		}
	}
}

// head returns a position that no queued entry of the lane stands before: the
// first in memory or leased, else the end of what was read.
func (h *host) head(lane octopus.Lane) position {
	q := &h.lanes[lane]
	head := q.upto
	if len(q.fifo) > 0 {
		head = q.fifo[0].pos
	}
	for _, l := range h.out {
		if l.entry != nil && l.entry.pos.lane() == lane && l.entry.pos.compare(head) < 0 {
			head = l.entry.pos
		}
	}
	if head.compare(h.Head[lane]) < 0 {
		return h.Head[lane] // nothing was read yet
	}
	return head
}

// moveUp notes that a known URL was met by a shorter way.
func (c *Core) moveUp(h *host, l *octopus.Link, old *record) {
	r := *old
	r.pos, r.hop = old.pos.withDepth(l.Depth), uint8(l.Hop)
	key := l.URL.Key
	switch r.state {
	case stateQueued:
		holder := c.leased[key]
		c.dequeue(h, key, old.pos)
		e := newEntry(l, &r)
		if holder != nil {
			c.enqueueLeased(h, e, holder)
		} else {
			c.enqueue(h, e)
		}
	case stateLater:
		if r.visits > 0 && c.relinks(&r) { // it waits for its refresh
			c.unschedule(h, key, old)
			c.countDone(h, 1)
			was := *old
			was.state, was.due = stateDone, time.Time{}
			c.again(h, l, &was, true)
			return
		}
		c.out.Set(c.keys.due(r.due, key), c.outside(h, newEntry(l, &r)))
	case stateParked:
		r.via, r.kind = l.Via, l.Kind
		c.out.Set(c.keys.parked(key), c.outside(h, newEntry(l, &r)))
	case stateDone:
		if c.relinks(&r) {
			c.again(h, l, old, true)
			return
		}
	}
	c.save(key, &r)
	c.schedule(h)
}

// Raise makes a URL that waits for its first visit one step heavier. It may have
// been handed out, or visited: then nothing happens.
func (c *Core) Raise(now time.Time, l *octopus.Link, old *record) {
	c.advance(now)
	key := l.URL.Key
	was, h := c.record(key, old), c.hosts[key.Host()]
	if was == nil || was.state != stateQueued || was.visits > 0 || c.leased[key] != nil || h.cleared(was) || was.pos.weight() == math.MaxUint16 {
		return
	}
	r := *was
	c.dequeue(h, key, r.pos)
	r.pos = r.pos.withWeight(r.pos.weight() + 1)
	c.enqueue(h, newEntry(l, &r))
	c.save(key, &r)
	c.schedule(h)
}

// enqueueLeased moves an entry that is handed out: on disk only. Its holder
// knows the old depth, so its outcome brings a Relink.
func (c *Core) enqueueLeased(h *host, e *entry, holder *lease) {
	c.enqueueDisk(h, e)
	h.lanes[e.pos.lane()].leased++
	holder.entry = e
}

// hasLinks reports whether the URL's last visit brought something that links:
// a page or a redirect.
func (r *record) hasLinks() bool { return r.last.status >= 200 && r.last.status < 400 }

// again queues a URL that was visited: to read its links at a smaller depth
// (relink), or because the seen set has forgotten it.
func (c *Core) again(h *host, l *octopus.Link, old *record, relink bool) {
	r := *old
	r.relink = relink
	if old.state == stateFailed {
		c.totals.Failed--
		h.Failed--
		c.out.Delete(c.keys.bad(l.URL.Key))
	}
	r.state, r.reason, r.detail = stateQueued, "", ""
	r.pos, r.hop = c.place(h, l), uint8(l.Hop)
	c.countDone(h, -1)
	c.enqueue(h, newEntry(l, &r))
	c.save(l.URL.Key, &r)
	c.schedule(h)
}
