package frontier

import (
	"fmt"
	"time"

	"octopus/frontier/manners"
)

// Waiting says in words why nothing can be leased at now; empty where something
// can, or nothing is queued.
func (c *Core) Waiting(now time.Time) string {
	if c.readyIn(nil) > 0 || c.totals.Queued == 0 {
		return ""
	}
	state := fmt.Sprintf("0 of %d hosts ready", c.totals.Hosts)
	h := c.sleeping.top()
	if g := c.topHungry(nil); g != nil && (h == nil || g.due.Before(h.due)) {
		h = g
	}
	switch {
	case h != nil && h.due.After(now):
		return fmt.Sprintf("%s; next %s in %s (%s)", state, h.name, pause(h.due.Sub(now)), c.reason(h, h.due))
	case h != nil:
		return ""
	case c.totals.Leased > 0:
		return fmt.Sprintf("%s; %d URLs are being fetched", state, c.totals.Leased)
	case c.totals.Later > 0 && !c.nextDue.IsZero():
		if c.totals.Later == c.totals.Again {
			return fmt.Sprintf("all %d pages are fresh; the next is due in %s", c.totals.Again, pause(c.nextDue.Sub(now)))
		}
		return fmt.Sprintf("%s; %d URLs wait for a later attempt, the next in %s", state, c.totals.Later, pause(c.nextDue.Sub(now)))
	}
	return state
}

// reason says what keeps h from being asked before due.
func (c *Core) reason(h *host, due time.Time) string {
	switch {
	case h.Why != manners.Nothing && due.Equal(h.Blocked):
		return h.Why.String()
	case due.Equal(h.Next) && h.Delay > c.opt.HostDelay:
		return fmt.Sprintf("Crawl-delay %s, robots.txt line %d", pause(h.Delay), h.Line)
	case due.Equal(h.Next):
		return fmt.Sprintf("host delay %s", pause(c.gap(h)))
	case c.opt.SiteDelay > 0 && due.Equal(h.site.next):
		return fmt.Sprintf("site delay %s", pause(c.opt.SiteDelay))
	}
	return fmt.Sprintf("IP delay %s", pause(c.opt.IPDelay))
}

// pause writes a duration for people: milliseconds below a second, tenths below
// a minute, seconds above.
func pause(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
