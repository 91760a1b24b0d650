package node

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"octopus"
	"octopus/seen"
	"octopus/seen/redisseen"
)

var (
	_ seen.Stager     = (*seen.Bloom)(nil)
	_ seen.Stager     = (*seen.Window)(nil)
	_ seen.Stager     = (*seen.Expiring)(nil)
	_ seen.Maintainer = (*redisseen.Set)(nil)
)

// The kinds of seen set. Exact needs none: the frontier's URL records decide.
const (
	seenExact    = "exact"
	seenBloom    = "bloom"
	seenWindow   = "window"
	seenExpiring = "expiring"
)

// Keys and directory of the seen set.
const (
	prefixSeen  = "seen/"
	prefixAdded = prefixSeen + "added/" // then a URL key (16): put in by hand
	dirSeen     = "seen"
)

// openSeen opens the seen set, and has it maintained until Close.
func (n *Node) openSeen() error {
	set, err := n.newSeen()
	if err != nil || set == nil {
		return err
	}
	n.seen = set
	n.maintain(set)
	return nil
}

// newSeen returns the set of the configuration; nil for exact.
func (n *Node) newSeen() (seen.Maintainer, error) {
	c := n.cfg.Seen
	switch {
	case c.Kind == seenExact:
		return nil, nil
	case n.cfg.Frontier != "":
		return n.sharedSeen()
	case n.cfg.Store.Discard:
		return c.inMemory()
	}
	place := seen.Place{Store: n.store, Prefix: []byte(prefixSeen + c.Kind + "/"), Dir: filepath.Join(n.cfg.Dir, dirSeen)}
	if err := os.MkdirAll(place.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("seen set: %w", err)
	}
	switch c.Kind {
	case seenBloom:
		return seen.OpenBloom(place, seen.BloomOptions{Capacity: c.Capacity, ErrorRate: c.ErrorRate, Confirm: n.recorded})
	case seenWindow:
		return seen.OpenWindow(place, c.window())
	}
	return seen.OpenExpiring(n.store, place.Prefix, seen.ExpiringOptions{TTL: time.Duration(c.Expiry)})
}

// inMemory returns a set that keeps nothing.
func (c *SeenConfig) inMemory() (seen.Maintainer, error) {
	switch c.Kind {
	case seenBloom:
		return seen.NewBloom(seen.BloomOptions{Capacity: c.Capacity, ErrorRate: c.ErrorRate})
	case seenWindow:
		return seen.NewWindow(c.window())
	}
	return seen.NewExpiring(seen.ExpiringOptions{TTL: time.Duration(c.Expiry)})
}

func (c *SeenConfig) window() seen.WindowOptions {
	return seen.WindowOptions{Granularity: seen.Granularity(c.Granularity), Windows: c.Windows, Zone: c.zone(),
		Capacity: c.Capacity, ErrorRate: c.ErrorRate}
}

// sharedSeen returns the set that all processes of a shared crawl ask.
func (n *Node) sharedSeen() (seen.Maintainer, error) {
	c := n.cfg.Seen
	set, err := redisseen.Open(context.Background(), redisseen.Options{
		URL: n.cfg.Frontier, Name: n.cfg.Job + ":seen", Kind: redisseen.Kind(c.Kind), Capacity: c.Capacity, ErrorRate: c.ErrorRate,
		Granularity: seen.Granularity(c.Granularity), Windows: c.Windows, Zone: c.zone(), Expiry: time.Duration(c.Expiry),
	})
	if err != nil {
		return nil, err
	}
	n.closeLast(set.Close)
	return set, nil
}

// recorded is the seen.Confirm of a filter: it tells whether a URL has a record
// in the frontier, or was put into the set by hand.
func (n *Node) recorded(key octopus.Key) (bool, error) {
	known, err := n.frontier.Recorded(key)
	if known || err != nil {
		return known, err
	}
	return n.added(key)
}

// maintain calls Maintain about once a second until Close. The set answers
// without it, so a failure is logged, once, and does not end the crawl.
func (n *Node) maintain(set seen.Maintainer) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		failed := false
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-tick.C:
				err := set.Maintain(ctx, now)
				if err != nil && ctx.Err() == nil && !failed {
					n.log.Warn("the seen set needs looking after", "err", err)
				}
				failed = err != nil
			}
		}
	}()
	n.closeLast(func() error {
		stop()
		<-ended
		return nil
	})
}

// check returns a *ConfigError for what cannot work, with numbers that would.
func (c *SeenConfig) check() error {
	_, errZone := time.LoadLocation(c.Zone)
	for _, check := range []struct {
		bad       bool
		key, text string
	}{
		{!oneOf(c.Kind, "", seenExact, seenBloom, seenWindow, seenExpiring), "kind", fmt.Sprintf("is %q; use exact, bloom, window or expiring", c.Kind)},
		{!oneOf(c.Granularity, "hour", "day", "month"), "granularity", fmt.Sprintf("is %q; use hour, day or month", c.Granularity)},
		{c.Windows < 1 || c.Windows > 1000, "windows", "must be 1 to 1000"},
		{errZone != nil || c.Zone == "", "zone", fmt.Sprintf("is %q; use a name such as UTC or Asia/Shanghai", c.Zone)},
		{c.Capacity < 1, "capacity", "must be at least 1"},
		{!(c.ErrorRate >= 1e-12 && c.ErrorRate <= 0.5), "errorRate", "must be 1e-12 to 0.5"},
		{c.MaxBytes < 0, "maxBytes", "is negative; 0 means no limit"},
		{time.Duration(c.Expiry) < time.Second, "expiry", "must be at least 1s"},
	} {
		if check.bad {
			return &ConfigError{"seen." + check.key, check.text}
		}
	}
	if c.Kind != seenBloom && c.Kind != seenWindow {
		return nil
	}
	return c.checkSize()
}

// checkSize refuses filters that cannot meet their error rate.
func (c *SeenConfig) checkSize() error {
	windows := 1
	if c.Kind == seenWindow {
		windows = c.Windows
	}
	plan, err := seen.PlanFor(c.Capacity, windows, c.ErrorRate)
	if err != nil {
		return &ConfigError{"seen.capacity", err.Error()}
	}
	if c.MaxBytes == 0 || plan.Bytes <= int64(c.MaxBytes) {
		return nil
	}
	fits := int64(float64(c.MaxBytes) * 8 / (plan.BitsPerKey * float64(windows)))
	text := fmt.Sprintf("is %s; %d x %d URLs at an error rate of %g need %d bytes: allow %d bytes, or a capacity of %d",
		c.MaxBytes, windows, c.Capacity, c.ErrorRate, plan.Bytes, plan.Bytes, fits)
	for p := c.ErrorRate * 10; p <= 0.5; p *= 10 {
		if loose, err := seen.PlanFor(c.Capacity, windows, p); err == nil && loose.Bytes <= int64(c.MaxBytes) {
			text += fmt.Sprintf(", or an error rate of %.1g", math.Nextafter(p, 1))
			break
		}
	}
	return &ConfigError{"seen.maxBytes", text}
}

// zone returns the location of a checked configuration.
func (c *SeenConfig) zone() *time.Location {
	zone, err := time.LoadLocation(c.Zone)
	if err != nil {
		return time.UTC
	}
	return zone
}
