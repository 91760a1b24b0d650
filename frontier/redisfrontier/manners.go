package redisfrontier

import (
	"fmt"
	"net/netip"
	"time"

	"octopus"
	"octopus/robots"
)

// manners is how a host behaves: what decides when it may be asked again. It is
// a value; what changes it is pure.
type manners struct {
	Blocked time.Time // no request before this
	Why     string    // what Blocked stands for: one of the why constants
	Unavail uint8     // 429/503 without Retry-After in a row
	Fails   uint8     // connection failures in a row
	Probes  uint8     // failed probes of the open breaker
	NoHost  uint8     // answers "no such host" in a row
	Alive   bool      // it has answered before
	Delay   time.Duration
	IP      netip.Addr
}

// What a host is blocked for; the scripts know dead and robots.
const (
	whyAsked       = "asked"
	whyUnavailable = "unavailable"
	whyBreaker     = "breaker"
	whyDead        = "dead"
	whyRobots      = "robots"
)

var whyText = map[string]string{
	whyAsked: "Retry-After", whyUnavailable: "429 or 503", whyBreaker: "does not answer",
	whyDead: "dead", whyRobots: "robots.txt unreachable",
}

func (m *manners) encode() string {
	var w writer
	w.time(m.Blocked)
	w.string(m.Why)
	alive := byte(0)
	if m.Alive {
		alive = 1
	}
	w = append(w, m.Unavail, m.Fails, m.Probes, m.NoHost, alive)
	w.uint(uint64(m.Delay / time.Millisecond))
	ip, _ := m.IP.MarshalBinary() // never fails
	w.string(string(ip))
	return string(w)
}

func decodeManners(text string) (m manners, err error) {
	if text == "" {
		return m, nil
	}
	r := reader{rest: text}
	m.Blocked, m.Why = r.time(), r.string()
	m.Unavail, m.Fails, m.Probes, m.NoHost, m.Alive = r.byte(), r.byte(), r.byte(), r.byte(), r.byte() != 0
	m.Delay = time.Duration(r.uint()) * time.Millisecond
	if ip := r.string(); r.err == nil {
		r.err = m.IP.UnmarshalBinary([]byte(ip))
	}
	if r.err != nil {
		return m, fmt.Errorf("host: %w", errDamaged)
	}
	return m, nil
}

// after returns the manners after an outcome whose response ended at end.
func (m manners) after(o *octopus.Outcome, end time.Time, opt *Options) manners {
	if o.IP.IsValid() {
		m.IP = o.IP
	}
	if o.Deferred || o.NoRequest {
		return m
	}
	switch {
	case unavailable(o):
		m.answered()
		if o.RetryAfter > 0 {
			m.Unavail = 0
			m.block(whyAsked, end.Add(min(max(o.RetryAfter, minRetryAfter), maxRetryAfter)))
			break
		}
		m.block(whyUnavailable, end.Add(doubled(opt.Pauses.Unavailable, m.Unavail, unavailableMax)))
		m.Unavail = bump(m.Unavail)
	case o.Status != 0:
		m.answered()
		m.Unavail = 0
	case o.Err == nil:
	case o.Err.Kind == octopus.KindNoHost:
		m.noHost(end, opt)
	case connectionFailure(o.Err.Kind):
		m.connectionFailed(end, opt)
	}
	return m
}

func (m *manners) answered() {
	m.Alive, m.Fails, m.Probes, m.NoHost = true, 0, 0, 0
	if m.Why == whyBreaker || m.Why == whyDead || m.Why == whyRobots {
		m.Why, m.Blocked = "", time.Time{}
	}
}

func (m *manners) block(why string, until time.Time) {
	if until.After(m.Blocked) {
		m.Why, m.Blocked = why, until
	}
}

// noHost counts an answer "no such host". After the second the host is dead.
func (m *manners) noHost(end time.Time, opt *Options) {
	m.NoHost = bump(m.NoHost)
	if m.NoHost < noHostMax {
		m.block(whyBreaker, end.Add(opt.RetryBase))
		return
	}
	m.block(whyDead, end.Add(doubled(opt.Pauses.Dead, m.NoHost-noHostMax, deadMax)))
}

// connectionFailed counts a failed connection. Five in a row open the breaker;
// then each request is a probe. A host that never answered is dead after three
// failed probes.
func (m *manners) connectionFailed(end time.Time, opt *Options) {
	m.Fails = bump(m.Fails)
	if m.Fails < breakerAfter {
		return
	}
	why := whyBreaker
	if !m.Alive && m.Probes >= probesMax {
		why = whyDead
	}
	m.block(why, end.Add(doubled(opt.Pauses.Breaker, m.Probes, breakerMax)))
	m.Probes = bump(m.Probes)
}

func (m *manners) dead(now time.Time) bool { return m.Why == whyDead && m.Blocked.After(now) }

// deadDetail says why the host is dead, in words.
func (m *manners) deadDetail() string {
	if m.NoHost >= noHostMax {
		return fmt.Sprintf("no such host, asked %d times", m.NoHost)
	}
	return fmt.Sprintf("no connection, tried %d times", m.Fails)
}

// gap is the pause after a response of the host.
func (m *manners) gap(opt *Options) time.Duration {
	return max(opt.HostDelay, min(m.Delay, maxCrawlDelay))
}

// setDelay takes the Crawl-delay or Request-rate of a robots.txt group. Of
// several authorities of a host the longest holds.
func (m *manners) setDelay(g *robots.Group) {
	if d, ok := g.CrawlDelay(); ok {
		m.Delay = max(m.Delay, min(d, maxCrawlDelay))
	}
	if d, ok := g.RequestRate(); ok {
		m.Delay = max(m.Delay, min(d, maxCrawlDelay))
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

// doubled returns base × 2^n, at most limit.
func doubled(base time.Duration, n uint8, limit time.Duration) time.Duration {
	return min(base<<min(n, 16), limit)
}

func bump(n uint8) uint8 { return min(n, 254) + 1 }
