package manners

import (
	"fmt"
	"time"

	"octopus"
)

// Health is what is known of how a host answers. The zero value is a host that
// was never asked.
type Health struct {
	Blocked time.Time // no request before this
	Why     Why       // what Blocked stands for
	Unavail uint8     // 429/503 without Retry-After in a row
	Fails   uint8     // connection failures in a row
	Probes  uint8     // failed probes of the open breaker
	NoHost  uint8     // answers "no such host" in a row
	Alive   bool      // it has answered before
}

// Why says what keeps a host from being asked. The numbers are those of the
// stores.
type Why uint8

const (
	Nothing     Why = iota
	Asked           // the server named a time
	Unavailable     // 429 or 503 without a time
	Breaker         // it does not answer
	Dead            // its name does not exist, or it never answered
	Robots          // robots.txt is unreachable
	Operator        // an operator asked for it
)

var whyText = [...]string{"", "Retry-After", "429 or 503", "does not answer", "dead", "robots.txt unreachable", "blocked by an operator"}

// String says it in words for people; Nothing is empty.
func (w Why) String() string { return whyText[min(int(w), len(whyText)-1)] }

// After takes in an outcome whose response ended at end. One without a request
// says nothing of the host.
func (h *Health) After(o *octopus.Outcome, end time.Time, r *Rules) {
	switch {
	case o.Deferred || o.NoRequest:
	case unavailable(o):
		h.answered()
		if o.RetryAfter > 0 {
			h.Unavail = 0
			h.Block(Asked, end.Add(min(max(o.RetryAfter, minRetryAfter), maxRetryAfter)))
			return
		}
		h.Block(Unavailable, end.Add(doubled(r.Pauses.Unavailable, h.Unavail, unavailableMax)))
		h.Unavail = bump(h.Unavail)
	case o.Status != 0:
		h.answered()
		h.Unavail = 0
	case o.Err == nil:
	case o.Err.Kind == octopus.KindNoHost:
		h.noHost(end, r)
	case connectionFailure(o.Err.Kind):
		h.connectionFailed(end, r)
	}
}

// Block keeps the host from being asked until a time, where it is not so
// already for longer.
func (h *Health) Block(why Why, until time.Time) {
	if until.After(h.Blocked) {
		h.Why, h.Blocked = why, until
	}
}

// Free forgets all trouble of the host, and with it why it is blocked.
func (h *Health) Free() { *h = Health{Alive: h.Alive} }

// Dead reports whether the host is given up for now.
func (h *Health) Dead(now time.Time) bool { return h.Why == Dead && h.Blocked.After(now) }

// DeadDetail says why the host is dead, in words.
func (h *Health) DeadDetail() string {
	if h.NoHost >= noHostMax {
		return fmt.Sprintf("no such host, asked %d times", h.NoHost)
	}
	return fmt.Sprintf("no connection, tried %d times", h.Fails)
}

// answered notes that the host lives.
func (h *Health) answered() {
	h.Alive, h.Fails, h.Probes, h.NoHost = true, 0, 0, 0
	if h.Why == Breaker || h.Why == Dead || h.Why == Robots {
		h.Why, h.Blocked = Nothing, time.Time{}
	}
}

// noHost counts an answer "no such host". After the second the host is dead.
func (h *Health) noHost(end time.Time, r *Rules) {
	h.NoHost = bump(h.NoHost)
	if h.NoHost < noHostMax {
		h.Block(Breaker, end.Add(r.RetryBase))
		return
	}
	h.Block(Dead, end.Add(doubled(r.Pauses.Dead, h.NoHost-noHostMax, deadMax)))
}

// connectionFailed counts a failed connection. Five in a row open the breaker;
// then each request is a probe. A host that never answered is dead after three
// failed probes.
func (h *Health) connectionFailed(end time.Time, r *Rules) {
	h.Fails = bump(h.Fails)
	if h.Fails < breakerAfter {
		return
	}
	why := Breaker
	if !h.Alive && h.Probes >= probesMax {
		why = Dead
	}
	h.Block(why, end.Add(doubled(r.Pauses.Breaker, h.Probes, breakerMax)))
	h.Probes = bump(h.Probes)
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
