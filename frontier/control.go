package frontier

import (
	"time"

	"octopus"
	"octopus/frontier/manners"
)

// Revive queues a URL that was parked or bad; e is its entry in that table, old
// its record. It reports whether the URL still stood there.
func (c *Core) Revive(now time.Time, key octopus.Key, e *entry, old *record) bool {
	c.advance(now)
	h := c.hosts[key.Host()]
	was := c.record(key, old)
	if was == nil || was.state != stateParked && was.state != stateFailed {
		return false
	}
	r := *was
	if r.state == stateParked {
		c.totals.Parked--
		h.Parked--
		c.out.Delete(c.keys.parked(key))
	} else {
		c.countDone(h, -1)
		c.totals.Failed--
		h.Failed--
		c.out.Delete(c.keys.bad(key))
	}
	if h.Why == manners.Dead || h.Why == manners.Breaker {
		h.Free()
	}
	r.state, r.pos, r.tries, r.reason, r.detail = stateQueued, c.placeAgain(h, r.pos), 0, "", ""
	e.fill(&r)
	c.enqueue(h, e)
	c.save(key, &r)
	c.schedule(h)
	return true
}

// Drop parks a queued URL for a reason; e is its entry. It reports whether the URL
// still stood there and is not handed out.
func (c *Core) Drop(now time.Time, key octopus.Key, e *entry, old *record, reason, detail string) bool {
	c.advance(now)
	h := c.hosts[key.Host()]
	was := c.record(key, old)
	if was == nil || was.state != stateQueued || was.pos != e.pos || c.leased[key] != nil {
		return false
	}
	r := *was
	c.dequeue(h, key, r.pos)
	c.park(h, e, &r, reason, detail)
	c.schedule(h)
	return true
}

// SetPrecedence has a host, which must be in memory, go before those that are
// ready and have a greater one.
func (c *Core) SetPrecedence(now time.Time, key octopus.HostKey, precedence int8) {
	c.advance(now)
	h := c.hosts[key]
	if h.heap != nil {
		h.heap.remove(h) // it stands there by the old one
	}
	h.Rank = precedence
	c.touch(h)
	c.schedule(h)
}

// Block keeps a host, which must be in memory, from being asked before a time; a
// time in the past lets it go.
func (c *Core) Block(now time.Time, key octopus.HostKey, until time.Time) {
	c.advance(now)
	h := c.hosts[key]
	h.Why, h.Blocked = manners.Operator, until
	if !until.After(c.now) {
		h.Free()
	}
	c.touch(h)
	c.schedule(h)
}
