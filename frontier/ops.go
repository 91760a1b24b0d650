package frontier

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"octopus"
	"octopus/kv"
)

// Add offers links; see octopus.Frontier. A link that is known at no greater
// depth costs one look at the index.
func (f *Frontier) Add(ctx context.Context, links []octopus.Link) ([]octopus.Verdict, error) {
	verdicts := make([]octopus.Verdict, len(links))
	if err := checkLinks(links); err != nil {
		return nil, err
	}
	links = f.alias.Load().links(links)
	rest := f.screen(links, verdicts)
	c, err := f.add(ctx, links, rest, verdicts)
	if err != nil {
		return nil, err
	}
	return verdicts, f.await(ctx, c)
}

// checkLinks refuses what no package canon made.
func checkLinks(links []octopus.Link) error {
	for i := range links {
		if u := &links[i].URL; u.Text == "" || u.Host == "" {
			return fmt.Errorf("frontier: link %d of %d has no canonical URL (text %q, host %q)", i+1, len(links), u.Text, u.Host)
		}
	}
	return nil
}

// screen answers the links that the index knows at no greater depth, and
// returns the places of the others. Nil verdicts want no answers.
func (f *Frontier) screen(links []octopus.Link, verdicts []octopus.Verdict) (rest []int) {
	for i := range links {
		l := &links[i]
		if f.opt.Seen != nil && l.Hop > octopus.MaxHops { // the seen set must not take it for met
			answer(verdicts, i, octopus.Verdict{Code: octopus.Rejected, Reason: octopus.ReasonHops})
			f.hops.Add(1)
			continue
		}
		if f.opt.Seen == nil && l.Hop <= octopus.MaxHops && l.Modified.IsZero() {
			if f.index.Load().meet(l.URL.Key, costOf(l.Depth, l.Hop), f.opt.RaiseLinked) {
				answer(verdicts, i, octopus.Verdict{Code: octopus.Known})
				continue
			}
		}
		rest = append(rest, i)
	}
	return rest
}

func answer(verdicts []octopus.Verdict, i int, v octopus.Verdict) {
	if verdicts != nil {
		verdicts[i] = v
	}
}

// add offers the links at the places rest to the Core, and returns the commit
// to wait for.
func (f *Frontier) add(ctx context.Context, links []octopus.Link, rest []int, verdicts []octopus.Verdict) (*commit, error) {
	if len(rest) > 0 {
		f.write.Lock()
		defer f.write.Unlock()
	}
	look, err := f.look(ctx, links, rest)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.usable(); err != nil {
		return nil, err
	}
	f.offer(links, rest, look, verdicts)
	if len(rest) > 0 {
		f.changed()
	}
	return f.ticket(), nil
}

// looked is what the store and the seen set say of the links at rest.
type looked struct {
	records []*record
	fresh   []bool
}

// look reads what Core.Add needs. The caller holds write.
func (f *Frontier) look(ctx context.Context, links []octopus.Link, rest []int) (looked, error) {
	l := looked{make([]*record, len(rest)), make([]bool, len(rest))}
	if f.opt.Seen != nil && len(rest) > 0 {
		keys := make([]octopus.Key, len(rest))
		for j, i := range rest {
			keys[j] = links[i].URL.Key
		}
		if err := f.opt.Seen.Add(ctx, f.opt.Now(), keys, l.fresh); err != nil {
			return l, fmt.Errorf("frontier: seen: %w", err)
		}
	}
	for j, i := range rest {
		var err error
		if l.records[j], err = f.recordFor(links[i].URL.Key); err != nil {
			return l, err
		}
		if err := f.loadHost(links[i].URL); err != nil {
			return l, err
		}
	}
	return l, nil
}

// offer adds the links at rest to the Core. The caller holds write and mu.
func (f *Frontier) offer(links []octopus.Link, rest []int, look looked, verdicts []octopus.Verdict) {
	now := f.opt.Now()
	var stage []octopus.Key
	for j, i := range rest {
		l := &links[i]
		if f.opt.Seen != nil && !look.fresh[j] && f.core.record(l.URL.Key, look.records[j]) == nil {
			answer(verdicts, i, octopus.Verdict{Code: octopus.Known}) // a filter may say so of a URL that was never met
			continue
		}
		v := f.core.Add(now, l, look.records[j], look.fresh[j])
		answer(verdicts, i, v)
		if v.Code == octopus.Rejected {
			f.hops.Add(1) // the only reason the Core has
		} else {
			x := f.index.Load()
			x.set(l.URL.Key, costOf(l.Depth, l.Hop))
			if x.link(l.URL.Key) && f.opt.RaiseLinked {
				f.core.Raise(now, l, look.records[j])
			}
		}
		if look.fresh[j] {
			stage = append(stage, l.URL.Key)
		}
	}
	if s, ok := f.opt.Seen.(stager); ok && len(stage) > 0 {
		s.Stage(f.core.out, now, stage)
	}
}

// Done reports outcomes; see octopus.Frontier. The links of an accepted outcome
// are added in the same commit, and all outcomes of a call share one.
func (f *Frontier) Done(ctx context.Context, outcomes []octopus.Outcome) ([]octopus.Verdict, error) {
	for i := range outcomes {
		if err := checkLinks(outcomes[i].Links); err != nil {
			return nil, err
		}
	}
	verdicts := make([]octopus.Verdict, len(outcomes))
	c, err := f.doneAll(ctx, outcomes, verdicts)
	if err != nil {
		return nil, err
	}
	return verdicts, f.await(ctx, c)
}

// doneAll applies outcomes and returns the commit to wait for.
func (f *Frontier) doneAll(ctx context.Context, outcomes []octopus.Outcome, verdicts []octopus.Verdict) (c *commit, err error) {
	for i := range outcomes {
		if err = f.doneOne(ctx, &outcomes[i], &verdicts[i]); err != nil {
			break
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changed() // what was applied before an error counts
	return f.ticket(), err
}

func (f *Frontier) doneOne(ctx context.Context, o *octopus.Outcome, v *octopus.Verdict) error {
	links := f.alias.Load().links(f.linksOf(o))
	rest := f.screen(links, nil)
	f.write.Lock()
	defer f.write.Unlock()
	u := o.Lease.Link.URL
	if err := f.loadHost(u); err != nil {
		return err
	}
	old, err := f.recordOfLeased(u.Key)
	if err != nil {
		return err
	}
	look, err := f.look(ctx, links, rest)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.usable(); err != nil {
		return err
	}
	*v = f.core.Done(f.opt.Now(), o, old, f.index.Load().takeLinks(u.Key))
	// The seen set has taken the links for met: they must be queued in any case.
	if !o.Deferred && (v.Code == octopus.Accepted || f.opt.Seen != nil) {
		f.offer(links, rest, look, nil)
	}
	return nil
}

// recordFor returns the record of a URL that was offered. While the index is
// complete it knows what is not there. The caller holds write.
func (f *Frontier) recordFor(key octopus.Key) (*record, error) {
	x := f.index.Load()
	complete := x.complete() // asked first: it may be filled in between
	if _, found, _ := x.get(key); !found && complete {
		return nil, nil
	}
	return f.cachedRecord(key)
}

// recordOfLeased returns the record of a URL that is handed out, from memory
// where that has it. The caller holds write.
func (f *Frontier) recordOfLeased(key octopus.Key) (*record, error) {
	f.mu.Lock()
	r := f.core.Visiting(key)
	f.mu.Unlock()
	if r != nil {
		return r, nil
	}
	return f.cachedRecord(key)
}

// cachedRecord is recordOf with the cache in front. The caller holds write.
func (f *Frontier) cachedRecord(key octopus.Key) (*record, error) {
	if r := f.cache.get(key); r != nil {
		return r, nil
	}
	r, err := f.recordOf(key)
	if err == nil {
		f.cache.put(key, r)
	}
	return r, err
}

// recordOf reads the record of a URL from the store, nil where there is none.
func (f *Frontier) recordOf(key octopus.Key) (*record, error) {
	value, err := f.opt.Store.Get(f.keys.url(key))
	if errors.Is(err, kv.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("frontier: read URL %s: %w", key, err)
	}
	return decodeRecord(value)
}

// loadHost brings the host of u into memory. The caller holds write, so that
// what was read stays true.
func (f *Frontier) loadHost(u octopus.URL) error {
	h := u.Key.Host()
	f.mu.Lock()
	has, hasSite := f.core.Has(h), f.core.HasSite(h)
	f.mu.Unlock()
	if has {
		return nil
	}
	value, err := f.get(f.keys.host(h))
	if err != nil {
		return err
	}
	var site []byte
	if !hasSite {
		if site, err = f.get(f.keys.site([4]byte(h[:4]))); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.core.Load(f.opt.Now(), u, value, site)
}

// get reads a value, nil where there is none.
func (f *Frontier) get(key []byte) ([]byte, error) {
	value, err := f.opt.Store.Get(key)
	if errors.Is(err, kv.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("frontier: read store: %w", err)
	}
	return value, nil
}

// linksOf returns what an outcome offers: its links, and the sitemaps of a
// robots.txt.
func (f *Frontier) linksOf(o *octopus.Outcome) []octopus.Link {
	if o.Lease.Purpose != octopus.FetchRobots || f.opt.Sitemaps == nil || len(o.Robots) == 0 {
		return o.Links
	}
	return slices.Concat(o.Links, f.sitemaps(o))
}
