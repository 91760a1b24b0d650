package node

import (
	"encoding/json"
	"errors"
	"fmt"

	"octopus/kv"
)

// keyMade is where it is kept what a state directory was begun with.
var keyMade = []byte("made")

// made is what cannot change while a crawl goes on. A configuration that leaves
// it open goes on with what the directory was begun with.
type made struct {
	Frontier    string `json:"frontier,omitempty"`
	Job         string `json:"job,omitempty"`
	Seen        string `json:"seen"`
	Granularity string `json:"granularity,omitempty"`
	Windows     int    `json:"windows,omitempty"`
	Zone        string `json:"zone,omitempty"`
}

// adopt completes the configuration from the state directory, refuses one that
// contradicts it, and notes it for the next time.
func (n *Node) adopt() error {
	value, err := n.store.Get(keyMade)
	if errors.Is(err, kv.ErrNotFound) {
		if n.cfg.Seen.Kind == "" {
			n.cfg.Seen.Kind = seenExact
		}
		return n.saveMade()
	}
	if err != nil {
		return err
	}
	var old made
	if err := json.Unmarshal(value, &old); err != nil {
		return fmt.Errorf("%s: what it was begun with: %w", n.cfg.Dir, err)
	}
	return n.cfg.adopt(old)
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
	now := c.made()
	switch {
	case now.Frontier != old.Frontier:
		return began("frontier", old.Frontier)
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

// made is what the configuration begins a directory with.
func (c *Config) made() made {
	m := made{Seen: c.Seen.Kind}
	if c.Frontier != "" {
		m.Frontier, m.Job = c.Frontier, c.Job
	}
	if c.Seen.Kind == seenWindow {
		m.Granularity, m.Windows, m.Zone = c.Seen.Granularity, c.Seen.Windows, c.Seen.Zone
	}
	return m
}

func (n *Node) saveMade() error {
	value, err := json.Marshal(n.cfg.made())
	if err != nil {
		return err
	}
	var b kv.Batch
	b.Set(keyMade, value)
	return n.store.Apply(&b, kv.Durability(!n.cfg.Store.NoSync))
}
