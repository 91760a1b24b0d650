package frontier

import (
	"time"

	"octopus"
	"octopus/frontier/manners"
	"octopus/robots"
)

// Release frees the host of a lease whose request ended.
func (c *Core) Release(now time.Time, o *octopus.Outcome) {
	c.advance(now)
	if l := c.leaseOf(o); l != nil && !l.freed {
		c.free(l, o)
		c.schedule(l.host)
	}
}

// leaseOf returns the lease of an outcome, nil where it is not known (any more).
func (c *Core) leaseOf(o *octopus.Outcome) *lease {
	l := c.leases[o.Lease.ID]
	if l == nil || l.key != o.Lease.Link.URL.Key {
		return nil
	}
	return l
}

// Done applies the outcome of a page or of a robots.txt. old is the URL's record
// in the store, links how many links to it were met since that was written. It
// does not add the outcome's links: the caller does, with Add,
// if the verdict is Accepted.
func (c *Core) Done(now time.Time, o *octopus.Outcome, old *record, links uint8) octopus.Verdict {
	c.advance(now)
	l := c.leaseOf(o)
	h := c.hosts[o.Lease.Link.URL.Key.Host()]
	if l != nil {
		c.free(l, o)
	} else if !o.NoRequest && !o.End.IsZero() {
		h.Next = latest(h.Next, earliest(o.End, c.now).Add(c.gap(h))) // a request is a request
	}
	defer c.schedule(h)
	if o.Lease.Purpose == octopus.FetchRobots {
		return c.doneRobots(h, l, o)
	}
	key := o.Lease.Link.URL.Key
	r := c.record(key, old)
	if r == nil || r.state != stateQueued || h.cleared(r) || o.Lease.Visit != r.visits+1 || o.Lease.Attempt != int(r.tries) {
		if l != nil {
			c.endLease(l)
		}
		return octopus.Verdict{Code: octopus.Stale}
	}
	if o.Deferred || o.Err != nil && o.Err.Kind == octopus.KindCanceled {
		if l != nil {
			c.cut(h, l)
		}
		return octopus.Verdict{Code: octopus.Accepted}
	}
	met := costOf(o.Lease.Link.Depth, o.Lease.Link.Hop)
	c.dequeue(h, key, r.pos)
	if l != nil {
		c.endLease(l)
	}
	visited := *r
	visited.links += uint32(links)
	c.conclude(h, o, visited, met)
	if l != nil && l.hasten {
		c.Hasten(now, key, newEntry(&o.Lease.Link, &visited), nil, l.whole)
	}
	return octopus.Verdict{Code: octopus.Accepted}
}

// cut ends a lease whose work was given up: the URL stays where it is.
func (c *Core) cut(h *host, l *lease) {
	c.endLease(l)
	if l.entry != nil {
		c.putBack(h, l.entry)
	}
}

// conclude ends a visit, or the attempt. The URL is in no queue any more.
func (c *Core) conclude(h *host, o *octopus.Outcome, r record, met cost) {
	e := entryOf(o)
	ending := octopus.Ending{Final: true}
	switch c.opt.Fate(o, int(r.tries)) {
	case manners.Again:
		ending.Final = false
		c.requeue(h, e, &r)
	case manners.Retry:
		ending.Final = false
		c.later(h, e, &r)
	case manners.Done:
		ending.New, ending.Changed = r.last.compare(o)
		ending.Near = c.succeed(h, o, e, &r, met)
	default:
		ending.Failed = true
		c.fail(h, o, e, &r)
	}
	c.tell(o, ending)
}

func (c *Core) tell(o *octopus.Outcome, e octopus.Ending) {
	if c.opt.Tally != nil {
		c.opt.Tally.Outcome(c.now, o, e)
	}
}

// entryOf rebuilds the entry of an outcome's URL from its lease.
func entryOf(o *octopus.Outcome) *entry {
	return newEntry(&o.Lease.Link, &record{hop: uint8(o.Lease.Link.Hop)})
}

// fill gives the entry the place and the history that r has.
func (e *entry) fill(r *record) {
	e.pos, e.hop, e.number, e.visits, e.tries, e.relink = r.pos, r.hop, r.number, r.visits, r.tries, r.relink
	e.etag, e.lastMod = r.last.etag, r.last.lastMod
}

// requeue puts the URL behind the others of its depth; no attempt counted.
func (c *Core) requeue(h *host, e *entry, r *record) {
	r.state, r.pos = stateQueued, c.placeAgain(h, r.pos)
	e.fill(r)
	c.enqueue(h, e)
	c.save(e.key(h), r)
}

// later schedules the next attempt.
func (c *Core) later(h *host, e *entry, r *record) {
	r.tries++
	c.scheduleVisit(h, e, r, c.now.Add(c.opt.RetryPause(int(r.tries), c.rng.Int64N)))
}

// scheduleVisit puts the URL into the due table.
func (c *Core) scheduleVisit(h *host, e *entry, r *record, due time.Time) {
	r.state, r.due = stateLater, due.Truncate(time.Millisecond)
	e.fill(r)
	c.totals.Later++
	c.countRefresh(r, 1)
	c.totals.Queued++
	h.Later++
	if c.nextDue.IsZero() || r.due.Before(c.nextDue) {
		c.nextDue = r.due
	}
	c.out.Set(c.keys.due(r.due, e.key(h)), c.outside(h, e))
	c.save(e.key(h), r)
	c.touch(h)
}

// succeed ends a visit with a final answer. Where the URL was met by a shorter
// way meanwhile, its links are to be read again. near tells that the page is a
// near-duplicate of others of its URL pattern.
func (c *Core) succeed(h *host, o *octopus.Outcome, e *entry, r *record, met cost) (near bool) {
	relink := r.relink
	r.visits++
	r.tries, r.relink, r.due = 0, false, time.Time{}
	r.setText(e)
	if !relink || !o.NoRequest {
		r.last.take(o)
	}
	if o.Status/100 == 2 && !relink {
		c.totals.Pages++
		near = c.learn(h, o)
	}
	r.pos[0] = byte(o.Lane)
	if !relink {
		c.emit(o.Record)
	}
	if r.cost() < met && c.relinks(r) {
		c.relinkLater(h, o, *r)
		return near
	}
	if !relink || r.last.period == 0 {
		r.last.period = c.period(r)
	}
	c.finish(h, e, r)
	return near
}

// relinkLater queues a page that was met by a shorter way while it was fetched:
// its holder knew the longer one.
func (c *Core) relinkLater(h *host, o *octopus.Outcome, r record) {
	link := o.Lease.Link
	link.Depth, link.Hop, link.Lane = r.pos.depth(), int(r.hop), o.Lane
	c.countDone(h, 1)
	r.state = stateDone
	c.again(h, &link, &r, true)
}

// finish puts a visited URL where it belongs: aside, or into the due table where
// it has a period.
func (c *Core) finish(h *host, e *entry, r *record) {
	if r.last.period > 0 {
		c.scheduleVisit(h, e, r, r.last.at.Add(r.last.period))
		return
	}
	r.state = stateDone
	c.countDone(h, 1)
	c.save(e.key(h), r)
	c.touch(h)
}

func (c *Core) countDone(h *host, n int64) {
	c.totals.Done += n
	h.Done += n
}

// period returns when the URL comes due again after its last visit, 0 for never.
func (c *Core) period(r *record) time.Duration {
	return c.rules(r.board).Next(manners.Visited{
		There: r.hasLinks(), Entry: r.kind == octopus.Entry, Nav: r.pos.lane() == octopus.Nav,
		Changed: r.last.changed.Equal(r.last.at), Period: r.last.period,
	})
}

// compare tells whether an outcome brings the first page of the URL, or other
// content than the last visit. A page that is sent whole although it is the same
// has not changed.
func (v *visit) compare(o *octopus.Outcome) (fresh, changed bool) {
	had := v.status/100 == 2 || v.status == 304
	same := o.Digest != "" && o.Digest == v.digest
	return !had && o.Status/100 == 2, o.Changed && o.Status != 304 && !same
}

// take notes what an outcome says of the page.
func (v *visit) take(o *octopus.Outcome) {
	_, changed := v.compare(o)
	v.at, v.status = o.End, o.Status
	if o.Status == 304 {
		return // the stored version still holds, validators included
	}
	if changed || v.changed.IsZero() {
		v.changed = o.End
	}
	v.digest, v.etag, v.lastMod = o.Digest, o.ETag, o.LastModified
	v.rich = richOf(o)
	if o.Record != nil {
		v.title, v.size, v.print, v.class = o.Record.Title, o.Record.Size, o.Record.Fingerprint, o.Record.KindReason
	}
}

// fail ends a visit for good: the URL is bad, with its reason. A page that has
// a period keeps it: it was there once.
func (c *Core) fail(h *host, o *octopus.Outcome, e *entry, r *record) {
	r.visits++
	if r.last.period > 0 {
		r.tries = 0
		c.emit(o.Record)
		c.scheduleVisit(h, e, r, c.now.Add(r.last.period))
		return
	}
	r.state, r.reason, r.due = stateFailed, octopus.ReasonFailed, time.Time{}
	r.detail = manners.Failure(o)
	if h.Dead(c.now) {
		r.reason = octopus.ReasonDead
	}
	r.setText(e)
	r.last.at, r.last.status = o.End, o.Status
	c.countDone(h, 1)
	c.totals.Failed++
	h.Failed++
	key := e.key(h)
	e.fill(r)
	c.out.Set(c.keys.bad(key), c.outside(h, e))
	c.emit(o.Record)
	c.save(key, r)
	c.touch(h)
}

// doneRobots takes in the answer to a robots.txt request.
func (c *Core) doneRobots(h *host, l *lease, o *octopus.Outcome) octopus.Verdict {
	if l == nil || l.page {
		return octopus.Verdict{Code: octopus.Stale}
	}
	c.endLease(l)
	if o.Deferred || o.Err != nil && o.Err.Kind == octopus.KindCanceled {
		return octopus.Verdict{Code: octopus.Accepted}
	}
	s := h.authority(l.robots)
	if s == nil {
		s = &authorityState{authority: l.robots}
		h.robots = append(h.robots, s)
	}
	s.policy = c.opt.Policy(c.now, s.policy, o)
	s.group, s.failure = nil, ""
	if s.policy.Mode == robots.Unreachable {
		s.failure = manners.Failure(o)
		if !c.opt.Gone(&s.policy) {
			h.Block(manners.Robots, s.policy.Next)
		}
	}
	h.Delay, h.Line = 0, 0
	for _, other := range h.robots {
		if d := manners.Delay(h.Delay, other.rules(c.opt.Agent)); d > h.Delay {
			h.Delay, h.Line = d, other.rules(c.opt.Agent).DelayLine()
		}
	}
	if !o.NoRequest {
		h.Next = latest(h.Next, o.End.Add(c.gap(h))) // the gap it asks for holds from its own response
	}
	c.out.Set(c.keys.robots(h.key, s.authority), encodePolicy(&s.policy))
	c.touch(h)
	c.tell(o, octopus.Ending{Final: true})
	return octopus.Verdict{Code: octopus.Accepted}
}
