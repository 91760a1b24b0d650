package node_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"octopus"
	"octopus/frontier"
	"octopus/frontier/frontiertest"
	"octopus/kv"
	"octopus/node"
	"octopus/seen"
)

// TestTwoHours is the experiment with windows of one hour, two of them, and 100
// URLs an hour: what was fetched in an hour is not fetched in the next, and is
// fetched again in the one after that, if a link leads there. It goes through
// the frontier, on a clock of its own.
func TestTwoHours(t *testing.T) {
	for name, offered := range map[string][][]int{ // by hour: the sets of 100 URLs that links lead to
		"all":   {{1}, {1, 2}, {1, 2, 3}, {1, 2, 3, 4}},
		"first": {{1}, {1, 2}, {2, 3}, {1, 2, 3, 4}},
	} {
		t.Run(name, func(t *testing.T) { twoHours(t, offered) })
	}
}

func twoHours(t *testing.T, offered [][]int) {
	now := time.Date(2030, 1, 1, 10, 0, 0, 0, time.UTC)
	store, dir := kv.NewMemory(), t.TempDir()
	var w *seen.Window
	var f *frontier.Frontier
	open := func() {
		var err error
		if w, err = seen.OpenWindow(seen.Place{Store: store, Prefix: []byte("seen/"), Dir: dir},
			seen.WindowOptions{Granularity: seen.Hour, Windows: 2, Capacity: 100, ErrorRate: 1e-4}); err != nil {
			t.Fatal(err)
		}
		if f, err = frontier.Open(frontier.Options{Store: store, Robots: "ignore", Seen: w, Now: func() time.Time { return now },
			Politeness: frontier.Politeness{HostDelay: -1}}); err != nil {
			t.Fatal(err)
		}
	}
	open()
	fetchedIn := map[int]int{} // the hour a set was fetched last
	for hour, sets := range offered {
		for _, set := range sets {
			last, met := fetchedIn[set]
			want := 0
			if !met || hour-last >= 2 {
				want, fetchedIn[set] = 100, hour
			}
			if got := fetchSet(t, f, set, &now); got != want {
				t.Errorf("hour %d: %d URLs of hour %d were fetched, want %d", hour+1, got, set, want)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		open() // what is on disk goes on
		for next := now.Truncate(time.Hour).Add(time.Hour); now.Before(next); now = now.Add(time.Minute) {
			if err := w.Maintain(t.Context(), now); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// fetchSet offers the 100 URLs of a set, fetches what is handed out, and returns
// how many that were.
func fetchSet(t *testing.T, f *frontier.Frontier, set int, now *time.Time) (n int) {
	t.Helper()
	ctx := context.Background()
	var links []octopus.Link
	for i := range 100 {
		links = append(links, frontiertest.Link(fmt.Sprintf("h%d.com/%d/%d", i%10, set, i), 1))
	}
	if _, err := f.Add(ctx, links); err != nil {
		t.Fatal(err)
	}
	for f.Counts().Queued > 0 {
		leases, err := f.Lease(ctx, 100)
		if err != nil {
			t.Fatal(err)
		}
		*now = now.Add(time.Second)
		for _, l := range leases {
			if _, err := f.Done(ctx, []octopus.Outcome{{Lease: l, Status: 200, Start: *now, End: *now}}); err != nil {
				t.Fatal(err)
			}
		}
		n += len(leases)
	}
	return n
}

// TestSeenConfig: what cannot work is refused, with numbers that would.
func TestSeenConfig(t *testing.T) {
	for want, change := range map[string]func(*node.SeenConfig){
		"seen.kind: is \"bloon\"":             func(c *node.SeenConfig) { c.Kind = "bloon" },
		"seen.granularity":                    func(c *node.SeenConfig) { c.Granularity = "week" },
		"seen.windows":                        func(c *node.SeenConfig) { c.Windows = 0 },
		"seen.zone":                           func(c *node.SeenConfig) { c.Zone = "Mars/Base" },
		"seen.capacity":                       func(c *node.SeenConfig) { c.Capacity = 0 },
		"seen.errorRate":                      func(c *node.SeenConfig) { c.ErrorRate = 0.9 },
		"seen.expiry":                         func(c *node.SeenConfig) { c.Expiry = 1 },
		"lower the capacity to":               func(c *node.SeenConfig) { c.Kind, c.Capacity, c.MaxBytes = "bloom", 1<<50, 0 },
		"or a capacity of ":                   func(c *node.SeenConfig) { c.Kind, c.Capacity = "window", 200_000_000 },
		"or an error rate of 0.1":             func(c *node.SeenConfig) { c.Kind, c.Capacity, c.MaxBytes = "bloom", 1_000_000, 1_000_000 },
		"seen.maxBytes: is 1MB; 1 x 1000000 ": func(c *node.SeenConfig) { c.Kind, c.MaxBytes = "bloom", 1_000_000 },
	} {
		cfg := node.DefaultConfig()
		change(&cfg.Seen)
		err := cfg.Validate()
		var bad *node.ConfigError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// openNode opens a node; the test fails where it cannot.
func openNode(t *testing.T, cfg node.Config) *node.Node {
	t.Helper()
	n, err := node.Open(cfg, node.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestForgottenIsFetchedAgain crawls a site three times with a set that expires
// after a second: what is known is left alone, what is forgotten comes again.
func TestForgottenIsFetchedAgain(t *testing.T) {
	for _, kind := range []string{"", "exact", "bloom", "window", "expiring"} {
		t.Run("kind="+kind, func(t *testing.T) {
			s, cfg := newSite(t, 10), config(t)
			cfg.Seen.Kind, cfg.Seen.Expiry = kind, node.Duration(time.Second)
			first := run(t, cfg, node.Options{}, s.entry())
			if got := run(t, cfg, node.Options{}, s.entry()); kind != "expiring" && got.Fetches != 0 {
				t.Errorf("%d requests for what is known", got.Fetches)
			}
			if kind != "expiring" {
				return
			}
			<-time.After(2 * time.Second)
			again := run(t, cfg, node.Options{}, s.entry())
			if again.Pages < first.Pages || first.Pages == 0 {
				t.Errorf("%d pages, and %d once they were forgotten", first.Pages, again.Pages)
			}
		})
	}
}

// TestSeenByHand: what was added is not fetched, what was allowed is again.
func TestSeenByHand(t *testing.T) {
	s, ctx := newSite(t, 4), context.Background()
	cfg := config(t)
	cfg.Seen.Kind = "bloom"
	n := openNode(t, cfg)
	urls := []string{s.entry(), s.URL + "/p1"}
	for i, want := range [][]bool{{true, true}, {false, false}} {
		if fresh, err := n.SeenAdd(ctx, urls); err != nil || !slices.Equal(fresh, want) {
			t.Errorf("added %d times: %v, %v", i+1, fresh, err)
		}
	}
	info, err := n.SeenInfo(ctx)
	if err != nil || info.Entries != 2 || info.Kind != "bloom" || info.Bytes == 0 {
		t.Errorf("info %+v, %v", info, err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if got := run(t, cfg, node.Options{}, s.entry()); got.Fetches != 0 {
		t.Errorf("%d requests for what was added by hand", got.Fetches)
	}
	n = openNode(t, cfg)
	if err := n.SeenAllow(urls[:1]); err != nil {
		t.Fatal(err)
	}
	known, err := n.SeenCheck(ctx, urls)
	if err != nil || !slices.Equal(known, []bool{false, true}) {
		t.Errorf("allowed: known %v, %v", known, err)
	}
	if err := n.SeenRotate(ctx); err == nil {
		t.Error("a set without windows was rotated")
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if got := run(t, cfg, node.Options{}, s.entry()); got.Pages == 0 {
		t.Error("what was allowed was not fetched")
	}
}

// TestBegunWith: what a directory was begun with holds until it is begun anew.
func TestBegunWith(t *testing.T) {
	cfg := config(t)
	cfg.Seen.Kind, cfg.Seen.Windows = "window", 3
	if err := openNode(t, cfg).Close(); err != nil {
		t.Fatal(err)
	}
	left := cfg
	left.Seen = node.DefaultConfig().Seen
	n := openNode(t, left)
	if info, err := n.SeenInfo(context.Background()); err != nil || info.Kind != "window" {
		t.Errorf("left open: %+v, %v", info, err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	for key, change := range map[string]func(*node.Config){
		"seen.kind":        func(c *node.Config) { c.Seen.Kind = "exact" },
		"seen.windows":     func(c *node.Config) { c.Seen.Windows = 4 },
		"seen.zone":        func(c *node.Config) { c.Seen.Zone = "Asia/Shanghai" },
		"seen.granularity": func(c *node.Config) { c.Seen.Granularity = "hour" },
	} {
		other := cfg
		change(&other)
		_, err := node.Open(other, node.Options{})
		var bad *node.ConfigError
		if !errors.As(err, &bad) || bad.Key != key || !strings.Contains(err.Error(), "--fresh") {
			t.Errorf("%s changed: %v", key, err)
		}
		n, err := node.Open(other, node.Options{Fresh: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		if n, err = node.Open(cfg, node.Options{Fresh: true}); err != nil {
			t.Fatal(err)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSeenLosesNoLink: a link that was refused, or that an outcome named that
// came too late, is not taken for met.
func TestSeenLosesNoLink(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	f, err := frontier.Open(frontier.Options{Store: kv.NewMemory(), Robots: "ignore", Seen: seen.NewExact(), Now: func() time.Time { return now },
		Politeness: frontier.Politeness{HostDelay: -1}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx := t.Context()
	offer := func(l octopus.Link, want octopus.VerdictCode) {
		t.Helper()
		v, err := f.Add(ctx, []octopus.Link{l})
		if err != nil || v[0].Code != want {
			t.Errorf("%s: %v, %v, want %v", l.URL.Text, v, err, want)
		}
	}
	far := frontiertest.Link("a.com/far", 1)
	far.Hop = octopus.MaxHops + 1
	offer(far, octopus.Rejected)
	far.Hop = 0
	offer(far, octopus.Queued)

	lease := func() octopus.Lease {
		t.Helper()
		got, err := f.Lease(ctx, 1)
		if err != nil || len(got) != 1 {
			t.Fatalf("%v, %v", got, err)
		}
		return got[0]
	}
	early := lease()
	now = now.Add(10 * time.Minute) // it ends
	late := lease()
	done := func(l octopus.Lease, links ...octopus.Link) octopus.Verdict {
		t.Helper()
		v, err := f.Done(ctx, []octopus.Outcome{{Lease: l, Status: 200, Start: now, End: now, Links: links}})
		if err != nil {
			t.Fatal(err)
		}
		return v[0]
	}
	done(late)
	if v := done(early, frontiertest.Link("a.com/new", 2)); v.Code != octopus.Stale {
		t.Fatalf("the late outcome: %v", v)
	}
	if c := f.Counts(); c.Known != 2 || c.Queued != 1 {
		t.Errorf("%+v: the link of the late outcome is lost", c)
	}
}
