package frontier

import (
	"fmt"
	"net/netip"
	"time"

	"octopus"
)

// free ends the request of a lease: its host may be asked again a gap after the
// end of the response, and what the answer says of the host counts. It does so
// once for each lease.
func (c *Core) free(l *lease, o *octopus.Outcome) {
	if l.freed {
		return
	}
	l.freed = true
	h := l.host
	h.inflight--
	end := o.End
	if end.IsZero() || end.After(c.now) {
		end = c.now
	}
	if !o.NoRequest {
		h.Next = latest(h.Next, end.Add(c.gap(h)))
	}
	for i, g := range l.groups {
		if g == nil {
			continue
		}
		g.busy--
		if !o.NoRequest {
			g.next = latest(g.next, end.Add([2]time.Duration{c.opt.SiteDelay, c.opt.IPDelay}[i]))
		}
	}
	c.setIP(h, o.IP, end)
	if !o.Deferred && !o.NoRequest {
		c.feedback(h, o, end)
	}
	c.touch(h)
	for _, g := range l.groups {
		c.letGo(g)
	}
}

// letGo schedules the hosts that waited for a request of their group.
func (c *Core) letGo(g *group) {
	if g == nil || g.busy > 0 {
		return
	}
	waiting := g.waiting
	g.waiting = nil
	for _, h := range waiting {
		if h.waits == g {
			h.waits = nil
		}
		c.schedule(h)
	}
}

// setIP notes the address that answered for h; its gap starts with that answer.
func (c *Core) setIP(h *host, ip netip.Addr, end time.Time) {
	if !ip.IsValid() || ip == h.IP && h.ip != nil {
		return
	}
	c.leaveIP(h)
	h.IP = ip
	h.ip = c.joinIP(ip)
	if c.opt.IPDelay > 0 {
		h.ip.next = latest(h.ip.next, end.Add(c.opt.IPDelay))
	}
}

func (c *Core) joinIP(ip netip.Addr) *group {
	g := c.ips[ip]
	if g == nil {
		g = &group{name: ip.String()}
		c.ips[ip] = g
	}
	g.members++
	return g
}

func (c *Core) leaveIP(h *host) {
	g := h.ip
	if g == nil {
		return
	}
	h.ip = nil
	if g.members--; g.members == 0 {
		delete(c.ips, h.IP)
	}
}

// feedback applies what an answer, or its absence, says of the host.
func (c *Core) feedback(h *host, o *octopus.Outcome, end time.Time) {
	switch {
	case unavailable(o):
		c.answered(h)
		if o.RetryAfter > 0 {
			h.Unavail = 0
			c.block(h, blockAsked, end.Add(min(max(o.RetryAfter, minRetryAfter), maxRetryAfter)))
			return
		}
		c.block(h, blockUnavailable, end.Add(doubled(c.opt.Pauses.Unavailable, h.Unavail, unavailableMax)))
		h.Unavail = bump(h.Unavail)
	case o.Status != 0:
		c.answered(h)
		h.Unavail = 0
	case o.Err == nil:
	case o.Err.Kind == octopus.KindNoHost:
		c.noHost(h, end)
	case connectionFailure(o.Err.Kind):
		c.connectionFailed(h, end)
	}
}

// unavailable reports whether the site asks to come back later.
func unavailable(o *octopus.Outcome) bool {
	return o.Status == 429 || o.Status == 503 || o.Err != nil && o.Err.Kind == octopus.KindUnavailable
}

// connectionFailure reports whether the kind speaks of the host, not of one URL.
func connectionFailure(k octopus.Kind) bool {
	switch k {
	case octopus.KindDNS, octopus.KindConnect, octopus.KindTLS, octopus.KindTimeout, octopus.KindProtocol, octopus.KindDisconnect:
		return true
	}
	return false
}

// answered notes that the host lives.
func (c *Core) answered(h *host) {
	h.Alive, h.Fails, h.Probes, h.NoHost = true, 0, 0, 0
	if h.Why == blockBreaker || h.Why == blockDead || h.Why == blockRobots {
		h.Why, h.Blocked = blockNone, time.Time{}
	}
}

func (c *Core) block(h *host, why block, until time.Time) {
	if until.After(h.Blocked) {
		h.Why, h.Blocked = why, until
	}
}

// noHost counts an answer "no such host". After the second the host is dead.
func (c *Core) noHost(h *host, end time.Time) {
	h.NoHost = bump(h.NoHost)
	if h.NoHost < noHostMax {
		c.block(h, blockBreaker, end.Add(c.opt.RetryBase))
		return
	}
	c.block(h, blockDead, end.Add(doubled(c.opt.Pauses.Dead, h.NoHost-noHostMax, deadMax)))
}

// connectionFailed counts a failed connection. Five in a row open the breaker;
// then each request is a probe. A host that never answered is dead after three
// failed probes.
func (c *Core) connectionFailed(h *host, end time.Time) {
	h.Fails = bump(h.Fails)
	if h.Fails < breakerAfter {
		return
	}
	why := blockBreaker
	if !h.Alive && h.Probes >= probesMax {
		why = blockDead
	}
	c.block(h, why, end.Add(doubled(c.opt.Pauses.Breaker, h.Probes, breakerMax)))
	h.Probes = bump(h.Probes)
}

// doubled returns base × 2^n, at most limit.
func doubled(base time.Duration, n uint8, limit time.Duration) time.Duration {
	return min(base<<min(n, 16), limit)
}

func bump(n uint8) uint8 { return min(n, 254) + 1 }

// dead reports whether h is given up for now.
func (h *host) dead(now time.Time) bool { return h.Why == blockDead && h.Blocked.After(now) }

// deadDetail says why h is dead, in words.
func (h *host) deadDetail() string {
	if h.NoHost >= noHostMax {
		return fmt.Sprintf("no such host, asked %d times", h.NoHost)
	}
	return fmt.Sprintf("no connection, tried %d times", h.Fails)
}

// retryPause draws the pause before attempt n (from 1): full jitter below
// RetryBase × 4^(n-1), at most six hours.
func (c *Core) retryPause(n int) time.Duration {
	limit := min(c.opt.RetryBase<<min(2*(n-1), 20), retryMax)
	return time.Duration(c.rng.Int64N(int64(limit) + 1))
}
