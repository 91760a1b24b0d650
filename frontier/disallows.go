package frontier

import (
	"octopus"
	"octopus/robots"
)

// Disallows reports whether a robots.txt that is known already forbids u. It asks
// for none: what belongs to a page, such as a script on another host, is fetched
// without a lease of its own, and so may not wait for one.
func (f *Frontier) Disallows(u octopus.URL) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.core.hosts[u.Key.Host()]
	return h != nil && f.core.disallows(h, u.Text)
}

func (c *Core) disallows(h *host, text string) bool {
	s := h.authority(authorityOf(text, h.name))
	switch {
	case c.opt.Robots == "ignore" || s == nil || s.policy.Fetched.IsZero() || s.policy.Mode == robots.AllowAll:
		return false
	case s.policy.Mode == robots.Unreachable:
		return true
	}
	return !s.rules(c.opt.Agent).Check(robots.Normalize(text)).Allowed
}
