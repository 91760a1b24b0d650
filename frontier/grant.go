package frontier

import (
	"crypto/md5"
	"strconv"
	"time"

	"octopus"
	"octopus/frontier/manners"
	"octopus/robots"
)

// schedule puts h where it belongs after any change: into a heap or nowhere.
func (c *Core) schedule(h *host) {
	if h.heap != nil {
		h.heap.remove(h)
	}
	c.settle(h)
	switch {
	case h.loading, h.inflight >= c.opt.ConnsPerHost, h.queued() == 0, h.asksRobots():
	case !h.loaded, h.starved():
		h.due = c.dueOf(h)
		c.buckets[h.bucket].hungry.push(h)
	case h.inMemory() == 0: // all of it is handed out
	default:
		h.due = c.dueOf(h)
		if h.due.After(c.now) {
			c.sleeping.push(h)
		} else {
			c.buckets[h.bucket].ready.push(h)
		}
	}
}

// asksRobots reports whether a robots.txt of h is under way: nothing else is
// leased until it is known.
func (h *host) asksRobots() bool { return h.asking != nil && !h.asking.over }

// dueOf returns when h may be asked next. A dead host is due at once: its URLs
// are parked.
func (c *Core) dueOf(h *host) time.Time {
	if h.Dead(c.now) {
		return c.now
	}
	due := latest(h.Next, h.Blocked)
	if c.opt.SiteDelay > 0 {
		due = latest(due, h.site.next)
	}
	if c.opt.IPDelay > 0 && h.ip != nil {
		due = latest(due, h.ip.next)
	}
	return due
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// waitsForGroup reports whether h, taken from ready, has to wait for its site
// or its address, and puts it where it waits.
func (c *Core) waitsForGroup(h *host) bool {
	if h.Dead(c.now) {
		return false
	}
	for _, g := range c.groups(h) {
		if g == nil {
			continue
		}
		if g.busy > 0 {
			if h.waits != g {
				h.waits = g
				g.waiting = append(g.waiting, h)
			}
			return true
		}
		if g.next.After(c.now) {
			h.due = c.dueOf(h)
			c.sleeping.push(h)
			return true
		}
	}
	return false
}

// groups returns the groups of h that have a gap; nil stands for none.
func (c *Core) groups(h *host) (gs [2]*group) {
	if c.opt.SiteDelay > 0 {
		gs[0] = h.site
	}
	if c.opt.IPDelay > 0 {
		gs[1] = h.ip
	}
	return gs
}

// grant makes a lease of the next URL of h: of the page, or of the robots.txt
// that has to be known first. URLs that may not be fetched are parked on the
// way. ok is false where nothing is left to lease, or the turn has parked enough.
func (c *Core) grant(h *host, t *Turn) (l octopus.Lease, ok bool) {
	for len(t.Parks) < parksPerTurn {
		e := h.next(c.opt.LaneWeight)
		if e == nil {
			return l, false
		}
		if to, ok := c.elsewhere(h, e); ok {
			p := c.setAside(h, e, octopus.ReasonAlias, standIn(to))
			p.to, p.held = to, true
			t.Parks = append(t.Parks, p)
			continue
		}
		if h.Dead(c.now) {
			t.Parks = append(t.Parks, c.setAside(h, e, octopus.ReasonDead, h.DeadDetail()))
			continue
		}
		rules := c.rules(e.board)
		if rules.Hold != "" {
			p := c.setAside(h, e, rules.Hold, "board "+e.board)
			p.held = true
			t.Parks = append(t.Parks, p)
			continue
		}
		h.Pace = rules.Delay
		if detail := c.poor(h, e); detail != "" && e.kind != octopus.Jump {
			t.Parks = append(t.Parks, c.setAside(h, e, octopus.ReasonTrap, detail))
			continue
		}
		verdict, want := c.askRobots(h, e)
		switch {
		case want == robotsFetch:
			return c.grantRobots(h, e), true
		case want == robotsWait:
			return l, false
		case want == robotsGone:
			t.Parks = append(t.Parks, c.setAside(h, e, octopus.ReasonDead, "robots.txt is unreachable: "+h.authority(authorityOf(e.text, h.name)).failure))
			continue
		case !verdict.Allowed:
			t.Parks = append(t.Parks, c.setAside(h, e, octopus.ReasonRobots, "robots.txt line "+strconv.Itoa(verdict.Line)+": "+verdict.Rule))
			continue
		}
		return c.grantPage(h, e), true
	}
	return l, false
}

// robotsWant is what has to happen before robots.txt can be asked about a URL.
type robotsWant uint8

const (
	robotsKnown robotsWant = iota
	robotsFetch            // it has to be fetched first
	robotsWait             // it is unreachable: the host waits
	robotsGone             // it stayed unreachable: the URL is set aside
)

// askRobots returns what robots.txt says about e. A host whose robots.txt is
// unreachable is blocked until it is tried again.
func (c *Core) askRobots(h *host, e *entry) (robots.Verdict, robotsWant) {
	if c.opt.Robots == "ignore" || e.kind == octopus.Robots {
		return robots.Verdict{Allowed: true}, robotsKnown
	}
	s := h.authority(authorityOf(e.text, h.name))
	switch {
	case s == nil || s.policy.Due(c.now):
		return robots.Verdict{}, robotsFetch
	case c.opt.Gone(&s.policy):
		return robots.Verdict{}, robotsGone
	case s.policy.Mode == robots.Unreachable:
		if s.policy.Next.After(h.Blocked) {
			h.Block(manners.Robots, s.policy.Next)
			c.touch(h)
		}
		return robots.Verdict{}, robotsWait
	}
	return s.rules(c.opt.Agent).Check(robots.Normalize(e.text)), robotsKnown
}

// rules returns the group of the policy, parsed once.
func (s *authorityState) rules(agent string) *robots.Group {
	if s.group == nil {
		s.group = s.policy.For(agent)
	}
	return s.group
}

// grantPage leases e, the next entry of h.
func (c *Core) grantPage(h *host, e *entry) octopus.Lease {
	l := c.newLease(h, e.key(h))
	l.page = true
	c.take(h, e, l)
	h.session++
	if e.pos.lane() == octopus.Data {
		h.turn++
	} else {
		h.turn = 0
	}
	purpose := octopus.FetchPage
	if e.relink {
		purpose = octopus.Relink
	}
	return octopus.Lease{
		ID: l.id, Purpose: purpose, Link: e.link(h, l.key),
		Visit: e.visits + 1, Attempt: int(e.tries), Until: l.until, Gap: c.gap(h),
		ETag: e.etag, LastModified: e.lastMod,
	}
}

// take moves e from the front of h into l.
func (c *Core) take(h *host, e *entry, l *lease) {
	q := &h.lanes[e.pos.lane()]
	q.take(e.pos)
	c.hold(h, -1)
	q.leased++
	l.entry = e
	c.leased[l.key] = l
	h.out = append(h.out, l)
}

// link returns the entry as the link it was offered as.
func (e *entry) link(h *host, key octopus.Key) octopus.Link {
	return octopus.Link{
		URL: octopus.URL{Text: e.text, Host: h.name, Site: h.site.name, Key: key},
		Via: e.via, Kind: e.kind, Depth: e.pos.depth(), Hop: int(e.hop),
		Lane: e.pos.lane(), Precedence: e.pos.precedence(), Weight: e.pos.weight(),
		Method: e.method, Body: e.body, Board: e.board,
	}
}

// grantRobots leases the robots.txt that e, the next entry of h, waits for.
func (c *Core) grantRobots(h *host, e *entry) octopus.Lease {
	a := authorityOf(e.text, h.name)
	text := a.url(h.name) + "/robots.txt"
	sum := md5.Sum([]byte(text))
	l := c.newLease(h, octopus.Key(append(append([]byte(nil), h.key[:]...), sum[:8]...)))
	l.robots, h.asking = a, l
	return octopus.Lease{
		ID: l.id, Purpose: octopus.FetchRobots, Visit: 1, Until: l.until, Gap: c.gap(h),
		Link: octopus.Link{
			URL: octopus.URL{Text: text, Host: h.name, Site: h.site.name, Key: l.key},
			Via: e.text, Kind: octopus.Robots, Depth: e.pos.depth(), Board: e.board,
		},
	}
}

// newLease takes up a connection of h until the lease ends.
func (c *Core) newLease(h *host, key octopus.Key) *lease {
	c.lastLease++
	l := &lease{id: c.lastLease, key: key, host: h, until: c.now.Add(c.opt.LeaseTime)}
	c.leases[l.id] = l
	c.expiry = append(c.expiry, l)
	c.totals.Leased++
	h.inflight++
	if c.opt.ConnsPerHost > 1 {
		h.Next = latest(h.Next, c.now.Add(c.gap(h))) // starts are spaced as well
	}
	for _, g := range c.groups(h) {
		if g != nil {
			g.busy++
		}
	}
	l.groups = c.groups(h)
	return l
}

// gap is the pause after a response of h.
func (c *Core) gap(h *host) time.Duration {
	delay := c.opt.HostDelay
	if h.Pace > 0 {
		delay = h.Pace
	}
	return manners.Gap(delay, h.Delay)
}

// expire ends a lease that nobody reported on: its URL goes back to its place,
// and its host waits a gap as if the request had ended now.
func (c *Core) expire(l *lease) {
	h := l.host
	c.free(l, &octopus.Outcome{End: c.now, Deferred: true})
	c.endLease(l)
	if l.page && l.entry != nil {
		c.putBack(h, l.entry)
	}
	c.schedule(h)
}

// endLease forgets l.
func (c *Core) endLease(l *lease) {
	l.over = true
	delete(c.leases, l.id)
	c.totals.Leased--
	if !l.page {
		return
	}
	if c.leased[l.key] == l {
		delete(c.leased, l.key)
	}
	l.host.forget(l)
}

// forget takes l from the leases of its host.
func (h *host) forget(l *lease) {
	for i, o := range h.out {
		if o == l {
			h.out[i] = h.out[len(h.out)-1]
			h.out = h.out[:len(h.out)-1]
			return
		}
	}
}

// putBack returns an entry that was leased to its place: in memory, or on disk
// only where the front ends before it.
func (c *Core) putBack(h *host, e *entry) {
	q := &h.lanes[e.pos.lane()]
	q.leased--
	if e.pos.compare(q.upto) <= 0 {
		q.insert(e)
		c.hold(h, 1)
	}
}
