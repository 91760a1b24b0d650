package node

import (
	"encoding/json"
	"errors"
	"fmt"

	"octopus/kv"
)

// keyMade is where it is kept what a state directory was begun with.
var keyMade = []byte("made")

// made is what a state directory was begun with, and last crawled with. A
// configuration that leaves it open goes on with that. The first six cannot change
// while a crawl goes on; the sizes can, but for a set in Redis, which refuses others
// itself.
type made struct {
	Frontier    string `json:"frontier,omitempty"`
	Job         string `json:"job,omitempty"`
	Seen        string `json:"seen"`
	Granularity string `json:"granularity,omitempty"`
	Windows     int    `json:"windows,omitempty"`
	Zone        string `json:"zone,omitempty"`

	Capacity  int64    `json:"capacity,omitempty"`
	ErrorRate float64  `json:"errorRate,omitempty"`
	Expiry    Duration `json:"expiry,omitempty"`

	Manners crawlManners `json:"manners,omitzero"` // of the last crawl; see Options.Look
}

// crawlManners are the settings that tell why a URL waits or is not fetched. They
// may change with every crawl.
type crawlManners struct {
	UserAgent    string   `json:"userAgent"`
	Robots       string   `json:"robots"`
	ConnsPerHost int      `json:"connsPerHost"`
	HostDelay    Duration `json:"hostDelay"`
	IPDelay      Duration `json:"ipDelay"`
	SiteDelay    Duration `json:"siteDelay"`
}

func (c *Config) manners() crawlManners {
	f := &c.Fetcher
	return crawlManners{c.UserAgent, c.Robots.Policy, f.ConnsPerHost, f.HostDelay, f.IPDelay, f.SiteDelay}
}

// adoptManners takes over what a crawl had, where the configuration has the
// defaults.
func (c *Config) adoptManners(old crawlManners) {
	if old == (crawlManners{}) {
		return // crawled by a program that did not note them
	}
	d := DefaultConfig()
	adoptUsual(&c.UserAgent, d.UserAgent, old.UserAgent)
	adoptUsual(&c.Robots.Policy, d.Robots.Policy, old.Robots)
	f, usual := &c.Fetcher, &d.Fetcher
	adoptUsual(&f.ConnsPerHost, usual.ConnsPerHost, old.ConnsPerHost)
	adoptUsual(&f.HostDelay, usual.HostDelay, old.HostDelay)
	adoptUsual(&f.IPDelay, usual.IPDelay, old.IPDelay)
	adoptUsual(&f.SiteDelay, usual.SiteDelay, old.SiteDelay)
}

// adoptUsual puts old, which may be zero, in the place of the usual value.
func adoptUsual[T comparable](v *T, usual, old T) {
	if *v == usual {
		*v = old
	}
}

// adopt completes the configuration from the state directory, refuses one that
// contradicts it, and notes it for the next time.
func (n *Node) adopt() error {
	value, err := n.store.Get(keyMade)
	if errors.Is(err, kv.ErrNotFound) {
		if n.cfg.Seen.Kind == "" {
			n.cfg.Seen.Kind = seenExact
		}
		return n.saveMade(n.cfg.made())
	}
	if err != nil {
		return err
	}
	var old made
	if err := json.Unmarshal(value, &old); err != nil {
		return fmt.Errorf("%s: what it was begun with: %w", n.cfg.Dir, err)
	}
	if err := n.cfg.adopt(old); err != nil {
		return err
	}
	if n.opt.Look {
		n.cfg.adoptManners(old.Manners)
		return nil
	}
	now := old
	if n.cfg.Frontier == "" {
		now = n.cfg.made()
	}
	if now.Manners = n.cfg.manners(); now == old {
		return nil
	}
	return n.saveMade(now)
}

func (c *Config) adopt(old made) error {
	began := func(key, was string) error {
		return &ConfigError{key, fmt.Sprintf("cannot change: the crawl in %s was begun with %q; leave it so, or start anew with --fresh or another --dir", c.Dir, was)}
	}
	if c.Frontier == "" {
		c.Frontier, c.Job = old.Frontier, orElse(old.Job, c.Job)
	}
	if c.Seen.Kind == "" {
		c.Seen.Kind, c.Seen.Granularity = old.Seen, orElse(old.Granularity, c.Seen.Granularity)
		c.Seen.Windows, c.Seen.Zone = orElse(old.Windows, c.Seen.Windows), orElse(old.Zone, c.Seen.Zone)
	}
	usual := DefaultConfig().Seen
	c.Seen.Capacity = unless(c.Seen.Capacity, usual.Capacity, old.Capacity)
	c.Seen.ErrorRate = unless(c.Seen.ErrorRate, usual.ErrorRate, old.ErrorRate)
	c.Seen.Expiry = unless(c.Seen.Expiry, usual.Expiry, old.Expiry)
	now := c.made()
	switch {
	case Redact(now.Frontier) != Redact(old.Frontier): // a password may change
		return began("frontier", Redact(old.Frontier))
	case now.Job != old.Job:
		return began("job", old.Job)
	case now.Seen != old.Seen:
		return began("seen.kind", old.Seen)
	case now.Granularity != old.Granularity:
		return began("seen.granularity", old.Granularity)
	case now.Windows != old.Windows:
		return began("seen.windows", fmt.Sprint(old.Windows))
	case now.Zone != old.Zone:
		return began("seen.zone", old.Zone)
	}
	return nil
}

// orElse returns v unless it is the zero value.
func orElse[T comparable](v, other T) T {
	var zero T
	if v == zero {
		return other
	}
	return v
}

// unless returns v; where that is only the usual value, what there was before.
func unless[T comparable](v, usual, old T) T {
	if v != usual {
		return v
	}
	return orElse(old, v)
}

// made is what the configuration begins a directory with.
func (c *Config) made() made {
	m := made{Seen: c.Seen.Kind, Manners: c.manners()}
	if c.Frontier != "" {
		m.Frontier, m.Job = c.Frontier, c.Job
	}
	if c.Seen.Kind == seenWindow {
		m.Granularity, m.Windows, m.Zone = c.Seen.Granularity, c.Seen.Windows, c.Seen.Zone
	}
	if c.Seen.Kind == seenBloom || c.Seen.Kind == seenWindow {
		m.Capacity, m.ErrorRate = c.Seen.Capacity, c.Seen.ErrorRate
	}
	if c.Seen.Kind == seenExpiring {
		m.Expiry = c.Seen.Expiry
	}
	return m
}

func (n *Node) saveMade(m made) error {
	value, err := json.Marshal(m)
	if err != nil {
		return err
	}
	var b kv.Batch
	b.Set(keyMade, value)
	return n.store.Apply(&b, kv.Durability(!n.cfg.Store.NoSync))
}
