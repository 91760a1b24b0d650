package frontier_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"octopus"
	"octopus/frontier"
	"octopus/frontier/frontiertest"
	"octopus/frontier/manners"
	"octopus/kv/pebblekv/crashtest"
)

// TestCrash crashes the store at every write of a crawl: no Add and no Done that
// was acknowledged is lost, and every counter equals a full scan.
func TestCrash(t *testing.T) {
	var journal []string // URL of an Add, "-" and URL of a Done, "=" and alias of a Merge, in order of acknowledgement
	opt := frontier.Options{Robots: "ignore", Politeness: frontier.Politeness{HostDelay: -1}, HostLimit: 4, Rules: manners.Rules{RetryBase: time.Nanosecond}}
	every := 1
	if testing.Short() {
		every = 10
	}
	crashtest.Crash(t, crashtest.Scenario{
		Every: every, MemTableBytes: 32 << 10,
		Run: func(t *testing.T, s crashtest.World, acked func(int)) {
			rng := rand.New(rand.NewPCG(5, 5))
			opt := opt
			opt.Store, opt.Rand = s.Store, rng
			f, err := frontier.Open(opt)
			if err != nil {
				t.Fatal(err)
			}
			note := func(lines ...string) {
				journal = append(journal, lines...)
				acked(len(journal))
			}
			crawl(t, f, rng, note)
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		},
		Check: func(t *testing.T, s crashtest.World, acked int) {
			opt := opt
			opt.Store = s.Store
			f, err := frontier.Open(opt)
			if err != nil {
				t.Fatal(err)
			}
			states := map[string]string{}
			for _, line := range journal[:acked] {
				if alias, merged := strings.CutPrefix(line, "="); merged {
					if h, _, err := f.Host(context.Background(), frontiertest.URL(alias)); err != nil || h.AliasOf == "" {
						t.Errorf("%s is no alias: %+v, %v", alias, h, err)
					}
					continue
				}
				url, done := strings.CutPrefix(line, "-")
				if states[url] == "" {
					states[url] = stateOf(t, f, url)
				}
				if got := states[url]; got == "unknown" || done && got != "done" {
					t.Errorf("%s was acknowledged, its state is %q", line, got)
				}
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if err := frontier.Verify(s.Store, 0); err != nil {
				t.Error(err)
			}
		},
	})
}

// stateOf returns the state of a URL, or of the one that stands for it.
func stateOf(t *testing.T, f *frontier.Frontier, url string) string {
	x, err := f.Explain(context.Background(), frontiertest.URL(url))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(x.Facts, func(f octopus.Fact) bool { return f.Name == "alias of" })
	if i >= 0 && (x.State == "unknown" || x.Reason == octopus.ReasonAlias) {
		return stateOf(t, f, x.Facts[i].Value)
	}
	return x.State
}

// crawl offers and visits some hundred URLs, and notes what is acknowledged.
func crawl(t *testing.T, f *frontier.Frontier, rng *rand.Rand, note func(...string)) {
	ctx := context.Background()
	if _, err := f.Add(ctx, []octopus.Link{frontiertest.Link("h0.com/0", 0)}); err != nil {
		t.Fatal(err)
	}
	note("http://h0.com/0")
	merged := false
	for n := 0; f.Counts().Queued > 0; {
		if n > 75 && !merged {
			merged = true
			if moved, err := f.Merge(ctx, frontiertest.URL("h1.com"), frontiertest.URL("h2.com")); err != nil || moved == 0 {
				t.Fatal(moved, err)
			}
			note("=h1.com")
		}
		leases, err := f.Lease(ctx, 8)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range leases {
			o := octopus.Outcome{Lease: l, Status: 200, End: time.Now()}
			lines := []string{"-" + l.Link.URL.Text}
			if rng.IntN(10) == 0 {
				o.Status, lines = 500, nil
			}
			for range rng.IntN(6) {
				if n++; n > 150 {
					break
				}
				link := frontiertest.Link(fmt.Sprintf("h%d.com/%d", rng.IntN(12), n), l.Link.Depth+1)
				o.Links = append(o.Links, link)
				lines = append(lines, link.URL.Text)
			}
			v, err := f.Done(ctx, []octopus.Outcome{o})
			if err != nil || v[0].Code != octopus.Accepted {
				t.Fatal(v, err)
			}
			note(lines...)
		}
	}
}
