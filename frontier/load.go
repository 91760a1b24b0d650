package frontier

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"octopus"
	"octopus/robots"
)

// Has reports whether the host is in memory.
func (c *Core) Has(key octopus.HostKey) bool { return c.hosts[key] != nil }

// HasSite reports whether the site is in memory.
func (c *Core) HasSite(key octopus.HostKey) bool { return c.sites[[4]byte(key[:4])] != nil }

// Load brings a host into memory: from its record, or as a new one where value
// is nil. site is the value of its site's record, nil where there is none; it
// counts only if the site is not in memory (HasSite).
func (c *Core) Load(now time.Time, u octopus.URL, value, site []byte) error {
	key := u.Key.Host()
	if c.Has(key) {
		return nil
	}
	c.advance(now)
	h, siteName := &host{key: key, name: u.Host, loaded: true}, u.Site
	if value != nil {
		var err error
		if h, siteName, err = decodeHost(key, value); err != nil {
			return err
		}
		h.wrote = c.written
	}
	g, err := c.joinSite(key, siteName, site)
	if err != nil {
		return err
	}
	h.site = g
	h.bucket = Home(h.name, len(c.buckets))
	if h.IP.IsValid() {
		h.ip = c.joinIP(h.IP)
	}
	if !c.opened.IsZero() {
		h.Next = latest(h.Next, c.opened.Add(c.gap(h)))
	}
	c.hosts[key] = h
	c.ring = append(c.ring, h)
	if h.queued() > 0 {
		c.queuing++
	}
	c.schedule(h)
	return nil
}

func (c *Core) joinSite(key octopus.HostKey, name string, value []byte) (*group, error) {
	id := [4]byte(key[:4])
	g := c.sites[id]
	if g == nil {
		g = &group{name: name}
		if value != nil {
			r := reader{rest: value}
			g.known = r.count()
			if r.err != nil {
				return nil, fmt.Errorf("site record of %s: %w", name, r.err)
			}
		}
		if !c.opened.IsZero() {
			g.next = c.opened.Add(c.opt.SiteDelay)
		}
		c.sites[id] = g
	}
	g.members++
	return g, nil
}

// Evict takes hosts that are no longer needed out of memory while there are more
// than HostLimit. A host that Add or Done is about to use must not be evicted in
// between: the caller calls it where no such operation is under way.
func (c *Core) Evict() {
	over := len(c.ring) - c.opt.HostLimit
	if over <= 0 {
		return
	}
	spare := -max(c.opt.HostLimit/2, dueKept)
	for _, b := range c.buckets {
		spare += b.ready.len() + b.hungry.len()
	}
	for steps := 4 * over; over > 0 && steps > 0; steps-- {
		c.hand = (c.hand + 1) % len(c.ring)
		h := c.ring[c.hand]
		b := c.buckets[h.bucket]
		due := (h.heap == &b.ready || h.heap == &b.hungry) && !h.due.After(c.now.Add(evictAhead))
		if !c.evictable(h) || due && spare <= 0 {
			continue
		}
		if due {
			spare--
		}
		c.drop(h)
		last := len(c.ring) - 1
		c.ring[c.hand] = c.ring[last]
		c.ring[last] = nil
		c.ring = c.ring[:last]
		over--
	}
}

// evictable reports whether the store has all of h, and nobody waits for it: of
// hosts that are due, Evict leaves as many as are needed.
func (c *Core) evictable(h *host) bool {
	if h.dirty || h.wrote > c.written || h.loading || len(h.out) > 0 || h.inflight > 0 || h.waits != nil || len(h.pending) > 0 {
		return false
	}
	return h.queued() == 0 || h.heap != nil && (h.heap != &c.sleeping || h.due.After(c.now.Add(evictAhead)))
}

// dueKept is the least number of hosts that are due and stay in memory.
const dueKept = 4096

// evictAhead is how long a host with URLs must have to wait to be evicted.
const evictAhead = 10 * time.Second

// drop takes h out of memory.
func (c *Core) drop(h *host) {
	if h.heap != nil {
		h.heap.remove(h)
	}
	if h.queued() > 0 {
		c.queuing--
	}
	c.hold(h, -h.inMemory())
	c.leaveIP(h)
	if h.site.members--; h.site.members == 0 {
		delete(c.sites, [4]byte(h.key[:4]))
	}
	delete(c.hosts, h.key)
}

// Refill names the part of a host's queue that the Core wants to have.
type Refill struct {
	Host   octopus.HostKey
	From   [2]position // per lane: behind this, or from this where Open is set
	Open   [2]bool
	Want   [2]int // entries per lane; 0 for none
	Robots bool   // and the host's robots records
}

// refill returns what h needs: enough of each lane for a while.
func (c *Core) refill(h *host) Refill {
	r := Refill{Host: h.key, Robots: !h.loaded}
	want := c.opt.QueueLimit / (c.readyIn(nil) + c.sleeping.len() + 1)
	for l := range h.lanes {
		q := &h.lanes[l]
		if len(q.fifo) > 0 || h.onDisk(octopus.Lane(l)) <= 0 {
			continue
		}
		r.Want[l] = min(max(want, fifoMin), fifoMax)
		r.From[l] = q.upto
		if q.upto.compare(h.Head[l]) < 0 {
			r.From[l], r.Open[l] = h.Head[l], true
		}
	}
	return r
}

// stored is what a refill found.
type stored struct {
	lanes  [2]found
	robots []keyValue
	yields []keyValue
}

type found struct {
	values []queueValue
	end    bool // there is nothing behind the last value
}

type queueValue struct {
	pos   position
	value []byte
}

type keyValue struct{ key, value []byte }

// Refilled takes what a refill found. An entry that was handed out, moved or
// done meanwhile is left out; one that a batch not written when the store was
// read has is put in.
func (c *Core) Refilled(now time.Time, r Refill, s *stored) error {
	c.advance(now)
	h := c.hosts[r.Host]
	h.loading = false
	if r.Robots {
		if err := errors.Join(c.takeRobots(h, s.robots), h.takeYields(s.yields)); err != nil {
			return err
		}
		h.loaded = true
	}
	for l := range h.lanes {
		if r.Want[l] == 0 {
			continue
		}
		if err := c.takeEntries(h, octopus.Lane(l), &s.lanes[l]); err != nil {
			return err
		}
	}
	c.schedule(h)
	return nil
}

// takeRobots takes up what an earlier process knew of robots.txt. A crawl that
// gives an unreachable one a number of tries gives them anew.
func (c *Core) takeRobots(h *host, list []keyValue) error {
	for _, f := range list {
		tail := f.key[5+len(h.key):]
		if len(tail) == 0 {
			return fmt.Errorf("robots record of %s: %w", h.name, errTruncated)
		}
		a := authority{tls: tail[0] == 's', port: string(tail[1:])}
		p, err := decodePolicy(f.value)
		if err != nil {
			return err
		}
		if p.Mode == robots.Unreachable && c.opt.RobotsTries > 0 {
			p = robots.Policy{}
		}
		if h.authority(a) == nil {
			h.robots = append(h.robots, &authorityState{authority: a, policy: p})
		}
	}
	return nil
}

// takeEntries puts what was found of one lane into memory.
func (c *Core) takeEntries(h *host, lane octopus.Lane, f *found) error {
	q := &h.lanes[lane]
	upto := q.upto
	for _, v := range f.values {
		e, err := decodeEntry(v.pos, h.name, v.value)
		if err != nil {
			return err
		}
		upto = maxPosition(upto, v.pos)
		if c.stillQueued(h, e) {
			q.insert(e)
			c.hold(h, 1)
		}
	}
	for _, e := range h.pending {
		if e.text == "" || e.pos.lane() != lane || e.pos.compare(q.upto) <= 0 || !f.end && e.pos.compare(upto) > 0 {
			continue
		}
		if c.stillQueued(h, e) {
			q.insert(e)
			c.hold(h, 1)
		}
	}
	q.upto = upto
	if n := len(q.fifo); f.end && n > 0 {
		q.upto = maxPosition(upto, q.fifo[n-1].pos)
	}
	if f.end && len(q.fifo) == 0 && h.onDisk(lane) > 0 {
		return fmt.Errorf("queue of %s: %d entries are counted in lane %s that are not there; rebuild the counters with `octopus doctor`", h.name, h.onDisk(lane), lane)
	}
	return nil
}

// stillQueued reports whether e, as the store has it, waits for a lease: it was
// not done or moved since, is not handed out, and not in memory already.
func (c *Core) stillQueued(h *host, e *entry) bool {
	key := e.key(h)
	if r, ok := c.records[key]; ok && (r.state != stateQueued || r.pos != e.pos) {
		return false
	}
	if l := c.leased[key]; l != nil && l.entry != nil {
		return false
	}
	_, found := slices.BinarySearchFunc(h.lanes[e.pos.lane()].fifo, e.pos, func(a *entry, p position) int { return a.pos.compare(p) })
	return !found
}

func maxPosition(a, b position) position {
	if a.compare(b) < 0 {
		return b
	}
	return a
}

// Due is an entry of the due table whose time has come.
type Due struct {
	At    time.Time
	Key   octopus.Key
	value []byte
	old   *record // the URL's record in the store
}

// Woken moves due URLs to the queues of their hosts, which must be in memory.
// next is the time of the first entry behind them, zero where there is none.
func (c *Core) Woken(now time.Time, list []Due, next time.Time) error {
	c.advance(now)
	for _, d := range list {
		h := c.hosts[d.Key.Host()]
		e, err := decodeDue(h.name, d.value)
		if err != nil {
			return err
		}
		r := c.record(d.Key, d.old)
		if r == nil || r.state != stateLater || !r.due.Equal(d.At) {
			continue // moved meanwhile
		}
		c.comeDue(h, d.Key, e, *r)
	}
	c.nextDue = next
	for _, r := range c.records {
		if r.state == stateLater && (c.nextDue.IsZero() || r.due.Before(c.nextDue)) {
			c.nextDue = r.due
		}
	}
	return nil
}

// comeDue queues one URL whose time has come.
func (c *Core) comeDue(h *host, key octopus.Key, e *entry, r record) {
	c.unschedule(h, key, &r)
	r.state, r.pos, r.due = stateQueued, c.placeAgain(h, r.pos), time.Time{}
	e.fill(&r)
	c.enqueue(h, e)
	c.save(key, &r)
	c.schedule(h)
}

// unschedule takes a URL out of the due table.
func (c *Core) unschedule(h *host, key octopus.Key, r *record) {
	c.out.Delete(c.keys.due(r.due, key))
	c.totals.Later--
	c.countRefresh(r, -1)
	c.totals.Queued--
	h.Later--
	c.touch(h)
}
