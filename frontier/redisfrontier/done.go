package redisfrontier

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"octopus"
	"octopus/frontier/manners"
	"octopus/internal/redisx"
	"octopus/robots"
)

func redisIsNil(err error) bool { return errors.Is(err, redis.Nil) }

// Done reports outcomes; see octopus.Frontier. The links of an outcome are
// stored before it ends the visit: a crash in between brings the page again.
func (f *Frontier) Done(ctx context.Context, outcomes []octopus.Outcome) ([]octopus.Verdict, error) {
	verdicts := make([]octopus.Verdict, len(outcomes))
	for i := range outcomes {
		v, err := f.doneOne(ctx, &outcomes[i])
		if err != nil {
			return nil, err
		}
		verdicts[i] = v
	}
	return verdicts, nil
}

func (f *Frontier) doneOne(ctx context.Context, o *octopus.Outcome) (octopus.Verdict, error) {
	s, err := f.look(ctx, o)
	if err != nil {
		return octopus.Verdict{}, err
	}
	if err := f.offer(ctx, s); err != nil {
		return octopus.Verdict{}, err
	}
	return f.settle(ctx, s)
}

// offer adds the links of an outcome, unless it comes too late.
func (f *Frontier) offer(ctx context.Context, s *settlement) error {
	links := f.linksOf(s.o)
	if len(links) == 0 || s.stale() || s.o.Deferred {
		return nil
	}
	_, err := f.Add(ctx, links)
	return err
}

// linksOf returns what an outcome offers: its links, and the sitemaps of a
// robots.txt on its own site.
func (f *Frontier) linksOf(o *octopus.Outcome) []octopus.Link {
	links := o.Links
	if o.Lease.Purpose != octopus.FetchRobots || f.opt.Sitemaps == nil {
		return links
	}
	from := o.Lease.Link.URL
	for _, text := range robots.Parse(o.Robots).Sitemaps() {
		if u, err := f.opt.Sitemaps(text); err == nil && u.Site == from.Site {
			links = append(links, octopus.Link{URL: u, Via: from.Text, Kind: octopus.Sitemap, Board: o.Lease.Link.Board})
		}
	}
	return links
}

// settlement is an outcome, and what was read of its URL and its host.
type settlement struct {
	o       *octopus.Outcome
	manners string  // as it lies in Redis
	raw     string  // the record as it lies in Redis; empty for none
	rec     *record // the same
	policy  robots.Policy
	release bool // the request only ended: the visit goes on
	kept    bool // its record was given to Options.Records: once is enough, however often it is decided
}

// stale reports whether the outcome comes too late.
func (s *settlement) stale() bool {
	return s.o.Lease.Purpose != octopus.FetchRobots && stale(s.o, s.rec)
}

// freed reports whether Release told of the request's end already.
func (s *settlement) freed() bool {
	return s.rec != nil && s.rec.flags&flagFreed != 0 && s.rec.lease == s.o.Lease.ID && s.o.Lease.Purpose != octopus.FetchRobots
}

// look reads what an outcome has to be judged by.
func (f *Frontier) look(ctx context.Context, o *octopus.Outcome) (*settlement, error) {
	s := &settlement{o: o}
	var policy string
	key := o.Lease.Link.URL.Key
	b, h := f.bucketOf(key), key.Host()
	err := f.untilItWorks(ctx, func(time.Time) error {
		pipe := f.client.Pipeline()
		m, rec := pipe.HGet(ctx, f.key(b, "h:"+string(h[:])), "m"), pipe.HGet(ctx, f.key(b, "url"), string(key[:]))
		rules := pipe.HGet(ctx, f.key(b, "robots"), string(h[:])+authorityOf(o.Lease.Link.URL.Text))
		if _, err := pipe.Exec(ctx); err != nil && !redisIsNil(err) {
			return redisx.Explain(err)
		}
		for _, c := range []*redis.StringCmd{m, rec, rules} {
			if err := c.Err(); err != nil && !redisIsNil(err) {
				return redisx.Explain(err)
			}
		}
		s.manners, s.raw, policy = m.Val(), rec.Val(), rules.Val()
		return nil
	})
	if err != nil {
		return nil, err
	}
	if s.policy, err = decodePolicy(policy); err != nil {
		return nil, fmt.Errorf("redisfrontier: robots.txt of %s: %w", o.Lease.Link.URL.Host, err)
	}
	return s, s.decode()
}

func (s *settlement) decode() (err error) {
	s.rec = nil
	if s.raw != "" {
		if s.rec, err = decodeRecord(s.raw); err != nil {
			return fmt.Errorf("redisfrontier: %s: %w", s.o.Lease.Link.URL, err)
		}
	}
	return nil
}

// settle decides and applies, again and again where what was read has changed
// meanwhile.
func (f *Frontier) settle(ctx context.Context, s *settlement) (octopus.Verdict, error) {
	again := false
	for {
		if again && s.rec != nil && s.rec.lease == s.o.Lease.ID && s.rec.state != stateLeased {
			return octopus.Verdict{Code: octopus.Accepted}, nil // it was applied, and the answer was lost
		}
		c, verdict, err := f.decide(ctx, s)
		if err != nil {
			return octopus.Verdict{}, err
		}
		twice, err := f.do(ctx, []*redisx.Call{c})
		if err != nil {
			return octopus.Verdict{}, err
		}
		again = again || twice
		reply, err := f.reply(f.bucketOf(s.o.Lease.Link.URL.Key), c)
		if err != nil {
			return octopus.Verdict{}, err
		}
		list, _ := reply.([]any)
		if len(list) != 3 {
			return octopus.Verdict{}, fmt.Errorf("redisfrontier: unexpected answer %v", reply)
		}
		switch list[0] {
		case "done":
			if !s.release {
				f.drop(s.o.Lease.ID)
			}
			if s.freed() {
				return verdict, nil
			}
			return verdict, f.freeAddresses(ctx, s)
		case "stale":
			return octopus.Verdict{Code: octopus.Stale}, nil
		}
		s.manners, _ = list[1].(string)
		s.raw, _ = list[2].(string)
		if err := s.decode(); err != nil {
			return octopus.Verdict{}, err
		}
		if err := f.offer(ctx, s); err != nil { // they may have gone with the record that was read
			return octopus.Verdict{}, err
		}
	}
}

// decide computes what an outcome comes to, and the call that applies it.
func (f *Frontier) decide(ctx context.Context, s *settlement) (*redisx.Call, octopus.Verdict, error) {
	o := s.o
	now := f.serverNow()
	end := f.endOf(o.End, now)
	m, err := decodeHost(s.manners)
	if err != nil {
		return nil, octopus.Verdict{}, fmt.Errorf("redisfrontier: %s: %w", o.Lease.Link.URL.Host, err)
	}
	if !s.stale() && !s.freed() {
		m = m.after(o, end, &f.opt.Rules)
	}
	a := application{kind: "P", link: &o.Lease.Link, lease: o.Lease.ID, old: s.manners, oldRecord: s.raw, at: now, end: end,
		request: !o.NoRequest}
	verdict := octopus.Verdict{Code: octopus.Accepted}
	switch {
	case o.Lease.Purpose == octopus.FetchRobots:
		a.kind = "R"
		f.takeRobots(s, &a, &m, now)
	case s.release:
	case s.stale():
		verdict.Code = octopus.Stale
	default:
		c := f.opt.conclude(now, o, s.rec, &m, f.draw)
		c.detail = c.detail[:min(len(c.detail), 500)]
		if c.ended && o.Record != nil && f.opt.Records != nil && !s.kept {
			if err := f.opt.Records(ctx, []*octopus.Record{o.Record}); err != nil {
				return nil, verdict, fmt.Errorf("redisfrontier: record of %s: %w", o.Lease.Link.URL, err)
			}
			s.kept = true
		}
		a.change, a.record, a.at, a.behind, a.pages = true, c.encode(), c.at, c.behind, c.pages
	}
	a.host = m
	return f.applyCall(&a), verdict, nil
}

// takeRobots takes in the answer to a robots.txt request.
func (f *Frontier) takeRobots(s *settlement, a *application, m *hostState, now time.Time) {
	o := s.o
	if o.Deferred || o.Err != nil && o.Err.Kind == octopus.KindCanceled || s.release {
		return
	}
	p := f.opt.Policy(now, s.policy, o)
	m.setDelay(authorityOf(o.Lease.Link.URL.Text), manners.Delay(0, p.For(f.opt.Agent)))
	mode := int(p.Mode)
	if f.opt.Gone(&p) {
		mode = robotsGone
	}
	a.robotsTimes = fmt.Sprintf("%d %d", p.Next.UnixMilli(), mode)
	a.policy = encodePolicy(&p)
}

// robotsGone is the mode, for lease.lua, of a robots.txt that was unreachable so
// often that its URLs are set aside.
const robotsGone = 9

// application is what settle.lua is told.
type application struct {
	kind      string
	link      *octopus.Link
	lease     octopus.LeaseID
	request   bool
	end       time.Time
	old       string
	host      hostState
	notBefore time.Time

	change      bool
	oldRecord   string
	record      []byte
	at          time.Time
	behind      bool
	pages       int
	robotsTimes string
	policy      string
}

func (f *Frontier) applyCall(a *application) *redisx.Call {
	u := &a.link.URL
	m := &a.host
	pace := f.opt.HostDelay
	if d := f.opt.rulesOf(a.link.Board).Delay; d > 0 {
		pace = d
	}
	return f.call(settleScript, f.bucketOf(u.Key),
		a.kind, u.Key[:], binary.BigEndian.AppendUint64(nil, uint64(a.lease)), authorityOf(u.Text),
		flag(a.request), millis(a.end), a.old, m.encode(),
		millis(m.Blocked), int(m.Why), m.gap(pace).Milliseconds(), millis(a.notBefore),
		flag(a.change), a.oldRecord, a.record, millis(a.at), flag(a.behind), a.pages,
		a.robotsTimes, a.policy, u.Host, u.Site)
}

// draw draws a number below n.
func (f *Frontier) draw(n int64) int64 {
	f.drawing.Lock()
	defer f.drawing.Unlock()
	return f.opt.Rand.Int64N(n)
}
