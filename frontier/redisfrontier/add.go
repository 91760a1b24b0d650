package redisfrontier

import (
	"context"
	"fmt"
	"time"

	"octopus"
	"octopus/internal/redisx"
)

// addBatch is the number of links of one call; it holds Redis for about 2 ms.
const addBatch = 100

// Add offers links; see octopus.Frontier. Links of all buckets travel in one
// round trip, with a seen set in three: is it known? store it; it is known now.
// A crash in between stores a URL that the set has not heard of: it may be
// fetched again, it is not lost. Where Redis came back empty in between, the set
// knows URLs that are stored no more, so they are stored again.
func (f *Frontier) Add(ctx context.Context, links []octopus.Link) ([]octopus.Verdict, error) {
	for i := range links {
		if u := &links[i].URL; u.Text == "" || u.Host == "" {
			return nil, fmt.Errorf("redisfrontier: link %d of %d has no canonical URL (text %q, host %q)", i+1, len(links), u.Text, u.Host)
		}
	}
	known, err := f.askSeen(ctx, links)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	born := f.born
	f.mu.Unlock()
	verdicts, fresh, err := f.store(ctx, links, known)
	for err == nil && len(fresh) > 0 && f.opt.Seen != nil {
		if err = f.tellSeen(ctx, fresh); err != nil {
			break
		}
		same := false
		err = f.untilItWorks(ctx, func(time.Time) (err error) { same, err = f.same(ctx, born); return err })
		if err != nil || same {
			break
		}
		f.mu.Lock()
		born = f.born
		f.mu.Unlock()
		_, _, err = f.store(ctx, fresh, nil)
	}
	return verdicts, err
}

// store writes the links that are not known, and returns the verdicts, and the
// links that the seen set has to be told of.
func (f *Frontier) store(ctx context.Context, links []octopus.Link, known []bool) (verdicts []octopus.Verdict, fresh []octopus.Link, err error) {
	calls, places, verdicts := f.addCalls(links, known)
	if _, err := f.do(ctx, calls); err != nil {
		return nil, nil, err
	}
	for i, c := range calls {
		reply, err := f.reply(places[i].bucket, c)
		if err != nil {
			return nil, nil, err
		}
		codes, _ := reply.(string)
		if len(codes) != len(places[i].at) {
			return nil, nil, fmt.Errorf("redisfrontier: %d verdicts for %d links", len(codes), len(places[i].at))
		}
		for j, at := range places[i].at {
			if verdicts[at] = verdictOf(codes[j]); verdicts[at].Code != octopus.Known {
				fresh = append(fresh, links[at])
			}
		}
	}
	return verdicts, fresh, nil
}

func verdictOf(code byte) octopus.Verdict {
	switch code {
	case 'q':
		return octopus.Verdict{Code: octopus.Queued}
	case 'h', 's':
		return octopus.Verdict{Code: octopus.Parked, Reason: octopus.ReasonQuota}
	case 't':
		return octopus.Verdict{Code: octopus.Parked, Reason: octopus.ReasonTrap}
	case 'd':
		return octopus.Verdict{Code: octopus.Parked, Reason: octopus.ReasonDead}
	}
	return octopus.Verdict{Code: octopus.Known}
}

// place says where the verdicts of a call go.
type place struct {
	bucket int
	at     []int
}

// addCalls makes the calls that offer links, at most addBatch each. Links that
// need none have their verdict already. known is nil without a seen set.
func (f *Frontier) addCalls(links []octopus.Link, known []bool) (calls []*redisx.Call, places []place, verdicts []octopus.Verdict) {
	verdicts = make([]octopus.Verdict, len(links))
	open := map[int]*addition{}
	var list []*addition
	for i := range links {
		l := &links[i]
		part := partOf(l)
		blob := part.encode()
		switch {
		case l.Hop > octopus.MaxHops:
			verdicts[i] = octopus.Verdict{Code: octopus.Rejected, Reason: octopus.ReasonHops}
			continue
		case len(blob) > maxLink:
			verdicts[i] = octopus.Verdict{Code: octopus.Rejected, Reason: octopus.ReasonTrap}
			continue
		}
		b := f.bucketOf(l.URL.Key)
		a := open[b]
		if a == nil || len(a.at) == addBatch {
			a = &addition{place: place{bucket: b}, named: map[octopus.HostKey]bool{}}
			open[b] = a
			list = append(list, a)
		}
		fresh := ""
		if known != nil {
			fresh = "1"
			if known[i] {
				fresh = "0"
			}
		}
		a.link(i, l, fresh, blob)
		a.links = append(a.links, f.refusals(l)...)
	}
	for _, a := range list {
		args := []any{f.opt.SiteQuota, tail("", ""),
			tail(octopus.ReasonQuota, fmt.Sprintf("site quota of %d", f.opt.SiteQuota)),
			tail(octopus.ReasonDead, "its host was dead when it was met"), flag(f.opt.relinks()), len(a.named)}
		calls = append(calls, f.call(addScript, a.bucket, append(append(args, a.hosts...), a.links...)...))
		places = append(places, a.place)
	}
	return calls, places, verdicts
}

// addition is one call being filled.
type addition struct {
	place
	named        map[octopus.HostKey]bool
	hosts, links []any
}

func (a *addition) link(i int, l *octopus.Link, fresh string, blob []byte) {
	h := l.URL.Key.Host()
	if !a.named[h] {
		a.named[h] = true
		a.hosts = append(a.hosts, h[:], l.URL.Host, l.URL.Site)
	}
	pos := newPosition(l)
	a.links = append(a.links, l.URL.Key[:], pos[:6], l.Hop, fresh, blob)
	a.at = append(a.at, i)
}

// refusals returns what add.lua has to know to park a link that is new: the
// quota of its host, and the tails of a record parked for it and as a trap.
func (f *Frontier) refusals(l *octopus.Link) []any {
	quota, whose, trap := f.opt.HostQuota, "host", []byte(nil)
	if q := f.opt.rulesOf(l.Board).Quota; q > 0 {
		quota, whose = q, "board"
	}
	if detail := f.opt.Traps.Catches(l.URL.Text); detail != "" && l.Kind != octopus.Entry && l.Kind != octopus.Jump {
		trap = tail(octopus.ReasonTrap, detail)
	}
	if quota == 0 {
		return []any{0, "", trap}
	}
	return []any{quota, tail(octopus.ReasonQuota, fmt.Sprintf("%s quota of %d", whose, quota)), trap}
}

func tail(reason, detail string) []byte {
	r := record{reason: reason, detail: detail}
	return r.tail()
}

func flag(on bool) string {
	if on {
		return "1"
	}
	return ""
}

// askSeen asks the seen set which links it knows; nil without one.
func (f *Frontier) askSeen(ctx context.Context, links []octopus.Link) (known []bool, err error) {
	if f.opt.Seen == nil || len(links) == 0 {
		return nil, nil
	}
	known = make([]bool, len(links))
	err = f.untilItWorks(ctx, func(now time.Time) error {
		if s, ok := f.opt.Seen.(LinkSeen); ok {
			return s.ContainsLinks(ctx, now, links, known)
		}
		return f.opt.Seen.Contains(ctx, now, keysOf(links), known)
	})
	return known, err
}

// tellSeen records links that were stored.
func (f *Frontier) tellSeen(ctx context.Context, links []octopus.Link) error {
	if f.opt.Seen == nil || len(links) == 0 {
		return nil
	}
	fresh := make([]bool, len(links))
	return f.untilItWorks(ctx, func(now time.Time) error {
		if s, ok := f.opt.Seen.(LinkSeen); ok {
			return s.AddLinks(ctx, now, links, fresh)
		}
		return f.opt.Seen.Add(ctx, now, keysOf(links), fresh)
	})
}

// untilItWorks repeats a call that is no script of ours, to the seen set for one,
// while it fails.
func (f *Frontier) untilItWorks(ctx context.Context, call func(now time.Time) error) error {
	s := struggle{f: f}
	defer s.giveUp()
	for pause := firstPause; ; pause = min(2*pause, longPause) {
		err := call(f.serverNow())
		if err == nil {
			s.succeed()
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.fail(err)
		if err := f.sleep(ctx, pause); err != nil {
			return err
		}
	}
}

func keysOf(links []octopus.Link) []octopus.Key {
	keys := make([]octopus.Key, len(links))
	for i := range links {
		keys[i] = links[i].URL.Key
	}
	return keys
}
