package redisfrontier

import (
	"context"
	"crypto/md5"
	"fmt"
	"strconv"
	"strings"
	"time"

	"octopus"
	"octopus/internal/redisx"
	"octopus/robots"
)

// Lease hands out up to most URLs that may be fetched now; see octopus.Frontier.
// While there is none it sleeps until the time when there may be, or until
// somebody tells.
func (f *Frontier) Lease(ctx context.Context, most int) ([]octopus.Lease, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b, wake, change := f.pick()
		if b < 0 {
			if err := f.wait(ctx, wake, change); err != nil {
				return nil, err
			}
			continue
		}
		leases, err := f.leaseFrom(ctx, b, max(most, 1))
		if err != nil || len(leases) > 0 {
			return leases, err
		}
	}
}

// pick returns a bucket that may have something to do, -1 for none, and then
// the time when one may have.
func (f *Frontier) pick() (b int, wake time.Time, change <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	for i := range f.buckets {
		b := (f.next + i) % len(f.buckets)
		k := &f.buckets[b]
		if k.never {
			continue
		}
		if !k.wake.After(now) {
			f.next = b + 1
			return b, now, nil
		}
		if wake.IsZero() || k.wake.Before(wake) {
			wake = k.wake
		}
	}
	return -1, wake, f.change
}

// longWait is how long a process sleeps at most. Messages of Redis may be lost
// without a trace; one costs a minute then.
const longWait = time.Minute

// wait returns at wake (zero: never), on a change, or with an error.
func (f *Frontier) wait(ctx context.Context, wake time.Time, change <-chan struct{}) error {
	pause := longWait
	if !wake.IsZero() {
		pause = min(max(wake.Sub(f.serverNow()), time.Millisecond), longWait)
	}
	alarm := time.NewTimer(pause)
	defer alarm.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-f.closed.Done():
		return ErrClosed
	case <-alarm.C:
		if pause == longWait {
			f.askAll()
		}
	case <-change:
	}
	return nil
}

// grant is a lease as the script hands it out.
type grant struct {
	kind       string // P page, R robots.txt, D page of a dead host
	id         octopus.LeaseID
	key        octopus.Key
	raw        string
	rec        *record
	host, site string
	gap        time.Duration
	robots     string // of P "next mode", of R the authority
	manners    string
}

// admitTime bounds the work on what a script has granted.
const admitTime = 15 * time.Second

// leaseFrom asks one bucket. What may not be fetched is parked; what has to
// wait for its address goes back.
func (f *Frontier) leaseFrom(ctx context.Context, b, most int) (leases []octopus.Lease, err error) {
	call := f.call(leaseScript, b, most, f.opt.LeaseTime.Milliseconds(), flag(f.opt.Robots != "ignore"))
	if _, err := f.do(ctx, []*redisx.Call{call}); err != nil {
		return nil, err
	}
	until := f.localTime(f.serverNow().Add(f.opt.LeaseTime))
	reply, err := f.reply(b, call)
	if err != nil {
		return nil, err
	}
	grants, err := decodeGrants(reply)
	if err != nil {
		return nil, err
	}
	// The end of ctx must not lose what was granted.
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), admitTime)
	defer cancel()
	for i := range grants {
		g := &grants[i]
		ok, err := f.admit(late, g)
		if late.Err() != nil {
			break // Redis is gone again: the rest end by themselves
		}
		if err != nil {
			return nil, err
		}
		if ok {
			leases = append(leases, g.lease(until))
		}
	}
	f.hold(leases)
	return leases, nil
}

func decodeGrants(reply any) (grants []grant, err error) {
	rows, _ := reply.([]any)
	for _, row := range rows {
		v, _ := row.([]any)
		if len(v) != 9 {
			return nil, fmt.Errorf("redisfrontier: unexpected lease %v", row)
		}
		s := make([]string, len(v))
		for i := range v {
			s[i], _ = v[i].(string)
		}
		id, _ := strconv.ParseUint(s[1], 10, 64)
		gap, _ := strconv.ParseInt(s[6], 10, 64)
		g := grant{kind: s[0], id: octopus.LeaseID(id), raw: s[3], host: s[4], site: s[5],
			gap: time.Duration(gap) * time.Millisecond, robots: s[7], manners: s[8]}
		copy(g.key[:], s[2])
		if g.rec, err = decodeRecord(s[3]); err != nil {
			return nil, fmt.Errorf("redisfrontier: key %s: %w", g.key, err)
		}
		grants = append(grants, g)
	}
	return grants, nil
}

// lease returns a grant as a lease.
func (g *grant) lease(until time.Time) octopus.Lease {
	u := octopus.URL{Text: g.rec.link.text, Host: g.host, Site: g.site, Key: g.key}
	l := octopus.Lease{ID: g.id, Purpose: octopus.FetchPage, Link: g.rec.asLink(u), Until: until, Gap: g.gap,
		Visit: g.rec.visits + 1, Attempt: int(g.rec.tries), ETag: g.rec.last.etag, LastModified: g.rec.last.lastMod}
	if g.rec.flags&flagRelink != 0 {
		l.Purpose = octopus.Relink
	}
	if g.kind == "R" {
		text := authorityURL(g.robots, g.host) + "/robots.txt"
		sum := md5.Sum([]byte(text))
		key := g.key
		copy(key[8:], sum[:8])
		l.Purpose, l.Visit, l.Attempt, l.ETag, l.LastModified = octopus.FetchRobots, 1, 0, "", ""
		l.Link = octopus.Link{URL: octopus.URL{Text: text, Host: g.host, Site: g.site, Key: key}, Via: u.Text,
			Kind: octopus.Robots, Depth: g.rec.pos.depth(), Board: g.rec.link.board}
	}
	return l
}

// authorityURL returns scheme://host:port.
func authorityURL(auth, host string) string {
	scheme := "http://"
	if strings.HasPrefix(auth, "s") {
		scheme = "https://"
	}
	text := scheme + octopus.HostInURL(host)
	if port := auth[1:]; port != "" {
		text += ":" + port
	}
	return text
}

// admit reports whether a grant may be fetched now, and deals with those that
// may not.
func (f *Frontier) admit(ctx context.Context, g *grant) (bool, error) {
	m, err := decodeHost(g.manners)
	if err != nil {
		return false, fmt.Errorf("redisfrontier: %s: %w", g.host, err)
	}
	switch {
	case g.kind == "D":
		return false, f.putAside(ctx, g, octopus.ReasonDead, m.DeadDetail())
	case g.kind == "P" && strings.HasSuffix(g.robots, " "+strconv.Itoa(robotsGone)):
		return false, f.putAside(ctx, g, octopus.ReasonDead, "its robots.txt was unreachable too often")
	case g.kind == "P" && g.robots != "":
		group, err := f.group(ctx, g)
		if err != nil {
			return false, err
		}
		if v := group.Check(robots.Normalize(g.rec.link.text)); !v.Allowed {
			return false, f.putAside(ctx, g, octopus.ReasonRobots, fmt.Sprintf("robots.txt line %d: %s", v.Line, v.Rule))
		}
	}
	if f.opt.IPDelay > 0 && m.IP.IsValid() {
		return f.askAddress(ctx, g, m.IP.String())
	}
	return true, nil
}
