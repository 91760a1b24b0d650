package redisfrontier

import (
	"context"
	"fmt"
	"time"

	"octopus"
	"octopus/internal/redisx"
)

// Release frees the host of a lease whose request ended, a little later: it
// only hands the outcome to a goroutine. Where too many wait it does nothing;
// Done frees the host then.
func (f *Frontier) Release(o octopus.Outcome) {
	o.Links, o.Record = nil, nil // not needed, and not to be kept
	select {
	case f.released <- &o:
	default:
	}
}

// releaseLoop frees hosts until Close. An outcome that cannot be applied is left
// to Done.
func (f *Frontier) releaseLoop() {
	for {
		select {
		case <-f.closed.Done():
			return
		case o := <-f.released:
			if o.Lease.Purpose == octopus.FetchRobots {
				continue // its Done comes at once
			}
			s, err := f.look(f.closed, o)
			if err != nil || s.rec == nil || s.rec.state != stateLeased || s.rec.lease != o.Lease.ID || s.rec.flags&flagFreed != 0 {
				continue
			}
			s.release = true
			_, _ = f.settle(f.closed, s) // Done tells the error, if it lasts
		}
	}
}

// putAside parks a leased URL that may not be fetched, and tells the sinks.
func (f *Frontier) putAside(ctx context.Context, g *grant, reason, detail string) error {
	if f.opt.Records != nil {
		l := g.rec.asLink(octopus.URL{Text: g.rec.link.text})
		rec := &octopus.Record{V: octopus.RecordVersion, URL: l.URL.Text, FinalURL: l.URL.Text, FetchedAt: f.localTime(f.serverNow()),
			Depth: l.Depth, Via: l.Via, Path: string(l.Kind), Board: l.Board, Visit: g.rec.visits + 1, Links: []string{}, Skip: reason, Error: detail}
		if err := f.opt.Records(ctx, []*octopus.Record{rec}); err != nil {
			return fmt.Errorf("redisfrontier: record of %s: %w", l.URL.Text, err)
		}
	}
	parked := g.rec.park(reason, detail)
	return f.giveBack(ctx, g, &parked, time.Time{})
}

// giveBack ends a grant without a request: its URL has the record r now, its
// host is not asked before a time.
func (f *Frontier) giveBack(ctx context.Context, g *grant, r *record, notBefore time.Time) error {
	l := g.rec.asLink(octopus.URL{Text: g.rec.link.text, Host: g.host, Site: g.site, Key: g.key})
	s := &settlement{o: &octopus.Outcome{Lease: octopus.Lease{ID: g.id, Link: l}}, manners: g.manners, raw: g.raw, rec: g.rec}
	for {
		m, err := decodeHost(s.manners)
		if err != nil {
			return fmt.Errorf("redisfrontier: %s: %w", g.host, err)
		}
		c := f.applyCall(&application{kind: "P", link: &l, lease: g.id, old: s.manners, host: m, notBefore: notBefore,
			change: true, oldRecord: s.raw, record: r.encode(), at: f.serverNow()})
		if _, err := f.do(ctx, []*redisx.Call{c}); err != nil {
			return err
		}
		reply, err := f.reply(f.bucketOf(g.key), c)
		if err != nil {
			return err
		}
		list, _ := reply.([]any)
		if len(list) != 3 || list[0] != "again" {
			return nil
		}
		s.manners, _ = list[1].(string)
		s.raw, _ = list[2].(string)
		if err := s.decode(); err != nil {
			return err
		}
		if s.rec == nil || s.rec.state != stateLeased || s.rec.lease != g.id {
			return nil // it is somebody else's now
		}
		r.pos, r.hop, r.link = s.rec.pos, s.rec.hop, s.rec.link // met by a shorter way meanwhile
	}
}
