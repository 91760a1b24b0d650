package frontier

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"octopus"
	"octopus/robots"
)

var _ octopus.Explainer = (*Frontier)(nil)

// Explain tells all that is known of a URL: its record, its place, its host, and
// what it waits for.
func (f *Frontier) Explain(_ context.Context, u octopus.URL) (octopus.Explanation, error) {
	f.write.Lock()
	defer f.write.Unlock()
	old, err := f.cachedRecord(u.Key)
	if err != nil {
		return octopus.Explanation{}, err
	}
	if value, err := f.get(f.keys.host(u.Key.Host())); err != nil {
		return octopus.Explanation{}, err
	} else if value != nil {
		if err := f.loadHost(u); err != nil {
			return octopus.Explanation{}, err
		}
	}
	links, err := f.linksTo(u.Key)
	if err != nil {
		return octopus.Explanation{}, err
	}
	found, err := f.scanRobots(u.Key.Host())
	if err != nil {
		return octopus.Explanation{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.usable(); err != nil {
		return octopus.Explanation{}, err
	}
	if h := f.core.hosts[u.Key.Host()]; h != nil {
		if err := f.core.takeRobots(h, found); err != nil {
			return octopus.Explanation{}, err
		}
	}
	return f.core.Explain(f.opt.Now(), u, old, links), nil
}

// Explain tells what is known of a URL; old is its record in the store, links how
// many links to it that does not have.
func (c *Core) Explain(now time.Time, u octopus.URL, old *record, links uint64) octopus.Explanation {
	c.advance(now)
	x := octopus.Explanation{URL: u, State: "unknown"}
	h := c.hosts[u.Key.Host()]
	r := c.record(u.Key, old)
	if r != nil {
		x.State, x.Reason = r.state.String(), r.reason
		if x.State == "later" {
			x.State = "queued"
		}
		x.Facts = r.facts(u, links, c.timeToLive(r))
		if r.text != "" && r.text != u.Text {
			x.Facts = append(x.Facts, octopus.Fact{Name: "same key as", Value: r.text + ", of which all this is"})
		}
		if h != nil && h.cleared(r) {
			x.State, x.Waiting = "cleared", "a page or an entry that names it: its lane was cleared"
		}
	}
	if to, ok := c.aliases.link(octopus.Link{URL: u}); ok {
		x.Facts = append(x.Facts, octopus.Fact{Name: "alias of", Value: to.URL.Text})
	}
	l := c.leased[u.Key]
	if l != nil && l.id != 0 {
		x.State = "leased"
		x.Facts = append(x.Facts, octopus.Fact{Name: "lease", Value: fmt.Sprintf("%d, ends in %s", l.id, pause(l.until.Sub(c.now)))})
	}
	if h != nil {
		x.Facts = append(x.Facts, octopus.Fact{Name: "robots.txt", Value: c.robotsSays(h, u.Text)})
		x.Facts = append(x.Facts, c.hostFacts(h)...)
		if x.State == "queued" {
			x.Waiting = c.waitsFor(h, r)
		}
	}
	return x
}

// noAnswer says that robots.txt was not asked for yet, or in vain.
const noAnswer = "no answer yet"

// robotsSays tells in words what robots.txt says about a URL of h, with the line
// that decides.
func (c *Core) robotsSays(h *host, text string) string {
	s := h.authority(authorityOf(text, h.name))
	switch {
	case c.opt.Robots == "ignore":
		return "ignored"
	case s == nil || s.policy.Fetched.IsZero():
		return noAnswer
	case s.policy.Mode == robots.Unreachable:
		return "unreachable, so nothing may be fetched"
	case s.policy.Mode == robots.AllowAll:
		return "allowed: there is no robots.txt"
	}
	v := s.rules(c.opt.Agent).Check(robots.Normalize(text))
	switch {
	case v.Line == 0:
		return "allowed: no rule matches"
	case v.Allowed:
		return fmt.Sprintf("allowed by line %d: %s", v.Line, v.Rule)
	}
	return fmt.Sprintf("disallowed by line %d: %s", v.Line, v.Rule)
}

// waitsFor says what a queued URL of h waits for.
func (c *Core) waitsFor(h *host, r *record) string {
	switch {
	case r.state == stateLater:
		return fmt.Sprintf("its time, in %s", pause(r.due.Sub(c.now)))
	case h.inflight >= c.opt.ConnsPerHost:
		return fmt.Sprintf("the request under way to %s, then its turn among %d", h.name, h.queued())
	}
	if due := c.dueOf(h); due.After(c.now) {
		return fmt.Sprintf("%s, free in %s (%s), then its turn among %d", h.name, pause(due.Sub(c.now)), c.reason(h, due), h.queued())
	}
	return fmt.Sprintf("its turn among %d of %s", h.queued(), h.name)
}

// timeToLive tells when the stored page of r counts as stale.
func (c *Core) timeToLive(r *record) string {
	if r.state == stateLater && r.tries == 0 {
		return "stale in " + pause(r.due.Sub(c.now))
	}
	return "no end: its board has no period for it"
}

// facts returns what a record says, in reading order.
func (r *record) facts(u octopus.URL, links uint64, ttl string) []octopus.Fact {
	var l factList
	l.add("number", strconv.FormatUint(r.number, 10))
	l.add("depth", strconv.Itoa(r.pos.depth()))
	l.addIf(r.hop > 0, "redirects", strconv.Itoa(int(r.hop)))
	l.add("lane", r.pos.lane().String())
	l.addIf(r.last.class != "", "class", r.last.class)
	l.addIf(r.pos.precedence() != 0, "precedence", strconv.Itoa(int(r.pos.precedence())))
	l.addIf(r.pos.weight() != 0, "weight", strconv.Itoa(int(r.pos.weight())))
	l.addIf(r.via != "", "via", r.via)
	l.addIf(r.board != "", "board", r.board)
	l.addIf(r.detail != "", "detail", r.detail)
	links += uint64(r.links)
	l.addIf(links > 0, "links to it", strconv.FormatUint(links, 10))
	l.addIf(r.visits > 0, "visits", strconv.Itoa(int(r.visits)))
	l.addIf(r.tries > 0, "failed attempts", strconv.Itoa(int(r.tries)))
	if v := &r.last; !v.at.IsZero() {
		l.add("last visit", v.at.UTC().Format(time.RFC3339))
		l.add("status", strconv.Itoa(v.status))
		l.addIf(v.title != "", "title", v.title)
		v.rich.facts(&l, u.Text, u.Host)
		l.addIf(v.size > 0, "size", strconv.FormatInt(v.size, 10))
		l.addIf(v.digest != "", "digest", v.digest)
		l.addIf(v.print != octopus.Fingerprint{}, "fingerprint", v.print.String())
		l.addIf(v.etag != "", "etag", v.etag)
		l.addIf(v.lastMod != "", "last modified", v.lastMod)
		l.addIf(!v.changed.IsZero(), "last change", v.changed.UTC().Format(time.RFC3339))
		l.addIf(r.state == stateDone || r.state == stateLater, "time to live", ttl)
	}
	l.addIf(!r.due.IsZero(), "next visit", r.due.UTC().Format(time.RFC3339))
	return l
}

// hostFacts returns what is known of a host.
func (c *Core) hostFacts(h *host) []octopus.Fact {
	var l factList
	l.add("host", h.name)
	l.add("host URLs", fmt.Sprintf("%d known, %d queued, %d later, %d done, %d parked, %d failed", h.Known, h.queued(), h.Later, h.Done, h.Parked, h.Failed))
	l.addIf(h.IP.IsValid(), "host address", h.IP.String())
	l.addIf(h.Delay > 0, "crawl delay", h.Delay.String())
	if h.Blocked.After(c.now) {
		l.add("host blocked", fmt.Sprintf("for %s: %s", pause(h.Blocked.Sub(c.now)), h.Why))
	}
	for _, s := range h.robots {
		says := noAnswer
		if !s.policy.Fetched.IsZero() {
			says = fmt.Sprintf("%s, asked again in %s", s.policy.Mode, pause(s.policy.Next.Sub(c.now)))
		}
		l.add("host robots", s.url(h.name)+": "+says)
	}
	return l
}

// factList is built line by line.
type factList []octopus.Fact

func (l *factList) add(name, value string) { *l = append(*l, octopus.Fact{Name: name, Value: value}) }

func (l *factList) addIf(ok bool, name, value string) {
	if ok {
		l.add(name, value)
	}
}

// Recorded reports whether a URL was ever taken in: what a seen.Confirm has to
// know. It may be called by the Seen of Options.
func (f *Frontier) Recorded(key octopus.Key) (bool, error) {
	x := f.index.Load()
	complete := x.complete()
	if _, found, _ := x.get(key); !found && complete {
		return false, nil
	}
	r, err := f.recordOf(key)
	return r != nil, err
}
