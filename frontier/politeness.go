package frontier

import (
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
	h.After(o, end, &c.opt.Rules)
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
