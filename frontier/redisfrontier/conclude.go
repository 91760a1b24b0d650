package redisfrontier

import (
	"fmt"
	"net/http"
	"time"

	"octopus"
)

// conclusion is what an outcome comes to: the record as it is now, and what
// goes with it.
type conclusion struct {
	record
	at     time.Time // of later: when; else now
	behind bool      // queued behind the others of its depth
	pages  int       // pages that came
	ended  bool      // the visit is over: its record goes to the sinks
}

// stale reports whether o speaks of a visit that is not the present one.
func stale(o *octopus.Outcome, r *record) bool {
	if r == nil {
		return o.Lease.Visit != 1 // Redis came back empty while it was fetched
	}
	return r.state != stateQueued && r.state != stateLeased || o.Lease.Visit != r.visits+1 || o.Lease.Attempt != int(r.tries)
}

// conclude decides what becomes of a URL. r is its record as it was read, nil
// where Redis has none any more; m the host after the outcome. It is pure but
// for the draw of a retry pause.
func (o *Options) conclude(now time.Time, out *octopus.Outcome, r *record, m *manners, draw func(int64) int64) conclusion {
	if r == nil {
		l := out.Lease.Link
		r = &record{pos: newPosition(&l), hop: uint8(l.Hop), link: partOf(&l)}
	}
	c := conclusion{record: *r, at: now}
	c.flags &^= flagFreed
	c.lease = out.Lease.ID
	if out.Deferred || out.Err != nil && out.Err.Kind == octopus.KindCanceled {
		c.state = stateQueued
		return c
	}
	switch end := endingOf(out); {
	case end == endAgain:
		c.state, c.behind = stateQueued, true
	case end == endRetry && int(r.tries) < o.maxTries(out):
		c.tries++
		c.state, c.at = stateLater, now.Add(o.retryPause(int(c.tries), draw))
	case end == endDone:
		c.succeed(out, o.Relink)
	default:
		c.fail(out, m, now)
	}
	return c
}

// succeed ends a visit with a final answer. Where the URL was met by a shorter
// way meanwhile, its links are to be read again.
func (c *conclusion) succeed(out *octopus.Outcome, relinks bool) {
	relink := c.flags&flagRelink != 0
	c.visits++
	c.tries, c.flags = 0, c.flags&^(flagRelink|flagLinks)
	if !relink || !out.NoRequest {
		c.last.take(out)
	}
	if out.Status/100 == 2 && !relink {
		c.pages = 1
	}
	c.pos.setLane(out.Lane)
	c.state, c.ended = stateDone, !relink
	if c.last.status >= 200 && c.last.status < 400 {
		c.flags |= flagLinks
		if relinks && cost(c.pos.depth(), int(c.hop)) < cost(out.Lease.Link.Depth, out.Lease.Link.Hop) {
			c.state, c.behind, c.flags = stateQueued, true, c.flags|flagRelink
		}
	}
}

// fail ends a visit for good: the URL is bad, with its reason.
func (c *conclusion) fail(out *octopus.Outcome, m *manners, now time.Time) {
	c.visits++
	c.state, c.ended = stateFailed, true
	c.reason, c.detail = octopus.ReasonFailed, failure(out)
	if m.dead(now) {
		c.reason = octopus.ReasonDead
	}
	c.last.at, c.last.status = out.End, out.Status
}

// take notes what an outcome says of the page.
func (v *visit) take(o *octopus.Outcome) {
	v.at, v.status = o.End, o.Status
	if o.Status == http.StatusNotModified {
		return // the stored version still holds, validators included
	}
	v.digest, v.etag, v.lastMod = o.Digest, o.ETag, o.LastModified
}

// ending is what an outcome means for its URL.
type ending uint8

const (
	endDone  ending = iota // a final answer
	endRetry               // an attempt failed
	endAgain               // the host asked to wait: no attempt counted
	endFail                // no use in trying again
)

// endingOf decides by status and error, as package frontier does.
func endingOf(o *octopus.Outcome) ending {
	switch {
	case unavailable(o) && o.RetryAfter > 0:
		return endAgain
	case unavailable(o), o.Status >= 500, o.Status == 408, o.Status == 425:
		return endRetry
	case o.Status != 0 && o.Err == nil:
		return endDone
	case o.Err == nil:
		return endRetry
	case o.Err.Kind == octopus.KindForbidden, o.Err.Kind == octopus.KindTooLarge, o.Err.Kind == octopus.KindGone:
		return endFail
	}
	return endRetry
}

// maxTries is the number of attempts that may fail before the last one.
func (o *Options) maxTries(out *octopus.Outcome) int {
	if out.Err != nil && out.Err.Kind == octopus.KindNoHost {
		return min(o.MaxRetries, noHostMax-1)
	}
	return o.MaxRetries
}

// retryPause draws the pause before attempt n (from 1): full jitter below
// RetryBase × 4^(n-1), at most six hours.
func (o *Options) retryPause(n int, draw func(int64) int64) time.Duration {
	limit := min(o.RetryBase<<min(2*(n-1), 20), retryMax)
	return time.Duration(draw(int64(limit) + 1))
}

// failure says in words what went wrong.
func failure(o *octopus.Outcome) string {
	if o.Err != nil {
		if o.Err.Err != nil {
			return o.Err.Kind.String() + ": " + o.Err.Err.Error()
		}
		return o.Err.Kind.String()
	}
	return fmt.Sprintf("status %d %s", o.Status, http.StatusText(o.Status))
}

// park puts a leased URL aside.
func (r record) park(reason, detail string) record {
	r.state, r.reason, r.detail = stateParked, reason, detail
	r.flags &^= flagFreed
	return r
}
