package redisfrontier

import (
	"net/http"
	"time"

	"octopus"
	"octopus/frontier/manners"
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
func (o *Options) conclude(now time.Time, out *octopus.Outcome, r *record, m *hostState, draw func(int64) int64) conclusion {
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
	switch o.Fate(out, int(r.tries)) {
	case manners.Again:
		c.state, c.behind = stateQueued, true
	case manners.Retry:
		c.tries++
		c.state, c.at = stateLater, now.Add(o.RetryPause(int(c.tries), draw))
	case manners.Done:
		c.succeed(out, o.relinks(), o.rulesOf(c.link.board).Periods)
	default:
		c.fail(out, m, now)
	}
	return c
}

// succeed ends a visit with a final answer. Where the URL was met by a shorter
// way meanwhile, its links are to be read again.
func (c *conclusion) succeed(out *octopus.Outcome, relinks bool, p manners.Periods) {
	relink, changed := c.flags&flagRelink != 0, false
	c.visits++
	c.tries, c.flags = 0, c.flags&^(flagRelink|flagLinks)
	if !relink || !out.NoRequest {
		changed = c.last.take(out)
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
	if !relink || c.last.period == 0 {
		c.last.period = p.Next(manners.Visited{There: c.flags&flagLinks != 0, Entry: c.link.kind == octopus.Entry,
			Nav: c.pos.lane() == octopus.Nav, Changed: changed, Period: c.last.period})
	}
	if c.state == stateDone {
		c.await()
	}
}

// await lets a visited page with a period come due again.
func (c *conclusion) await() {
	if c.last.period > 0 {
		c.state, c.at = stateAgain, c.at.Add(c.last.period)
	}
}

// fail ends a visit for good: the URL is bad, with its reason. A page that has a
// period keeps it: it was there once.
func (c *conclusion) fail(out *octopus.Outcome, m *hostState, now time.Time) {
	c.visits++
	c.ended = true
	if c.last.period > 0 {
		c.tries, c.state = 0, stateDone
		c.await()
		return
	}
	c.state = stateFailed
	c.reason, c.detail = octopus.ReasonFailed, manners.Failure(out)
	if m.Dead(now) {
		c.reason = octopus.ReasonDead
	}
	c.last.at, c.last.status = out.End, out.Status
}

// take notes what an outcome says of the page, and tells whether it has changed.
func (v *visit) take(o *octopus.Outcome) (changed bool) {
	v.at, v.status = o.End, o.Status
	if o.Status == http.StatusNotModified {
		return false // the stored version still holds, validators included
	}
	changed = o.Changed && (o.Digest == "" || o.Digest != v.digest)
	v.digest, v.etag, v.lastMod = o.Digest, o.ETag, o.LastModified
	return changed
}

// park puts a leased URL aside.
func (r record) park(reason, detail string) record {
	r.state, r.reason, r.detail = stateParked, reason, detail
	r.flags &^= flagFreed
	return r
}
