package stats_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"octopus"
	"octopus/frontier"
	"octopus/frontier/frontiertest"
	"octopus/frontier/manners"
	"octopus/kv"
	"octopus/kv/pebblekv/crashtest"
	"octopus/stats"
)

// TestCrash crashes the store at every write of a crawl. After each crash, and
// again when the crawl was carried to its end, the statistics equal what the
// frontier itself has counted and found by a full scan.
func TestCrash(t *testing.T) {
	every := 1
	if testing.Short() {
		every = 10
	}
	crashtest.Crash(t, crashtest.Scenario{
		Every: every, MemTableBytes: 32 << 10,
		Run: func(t *testing.T, s crashtest.World, acked func(int)) {
			visit(t, s.Store, 1000, acked)
			compare(t, s.Store)
		},
		Check: func(t *testing.T, s crashtest.World, acked int) {
			if c := compare(t, s.Store); c.Pages+c.Failed < int64(acked) {
				t.Errorf("%d pages and %d failures counted, %d were acknowledged", c.Pages, c.Failed, acked)
			}
			visit(t, s.Store, 20, func(int) {})
			compare(t, s.Store)
		},
	})
}

// visit crawls until nothing is left, or most outcomes are reported; each
// outcome is reported twice. It tells acked how many visits ended.
func visit(t *testing.T, store kv.Store, most int, acked func(int)) {
	now := time.Now()
	book, err := stats.Open(store, now, stats.Options{Prefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	f, err := frontier.Open(frontier.Options{Store: store, Tally: book, Robots: "ignore", Rules: manners.Rules{MaxRetries: 1, RetryBase: time.Nanosecond},
		Politeness: frontier.Politeness{HostDelay: -1}, Rand: rand.New(rand.NewPCG(5, 5))})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx := context.Background()
	if _, err := f.Add(ctx, []octopus.Link{frontiertest.Link("h0.com/0", 0)}); err != nil {
		t.Fatal(err)
	}
	for ended := 0; most > 0 && f.Counts().Queued > 0; most-- {
		leases, err := f.Lease(ctx, 1)
		if err != nil {
			t.Fatal(err)
		}
		o := answer(leases[0])
		for i, want := range []octopus.VerdictCode{octopus.Accepted, octopus.Stale} {
			v, err := f.Done(ctx, []octopus.Outcome{o})
			if err != nil || v[0].Code != want {
				t.Fatal(i, v, err)
			}
		}
		if o.Status == 200 || o.Lease.Attempt == 1 {
			ended++
			acked(ended)
		}
	}
}

// answer is the same for the same URL: page n links to 2n+1 and 2n+2, up to 120;
// every seventh is broken.
func answer(l octopus.Lease) octopus.Outcome {
	o := octopus.Outcome{Lease: l, Status: 200, End: time.Now()}
	text := l.Link.URL.Text
	n, err := strconv.Atoi(text[strings.LastIndexByte(text, '/')+1:])
	if err != nil {
		panic(err) // of a URL that this test made
	}
	if n%7 == 6 {
		o.Status = 500
		return o
	}
	for _, c := range []int{2*n + 1, 2*n + 2} {
		if c < 120 {
			o.Links = append(o.Links, frontiertest.Link(fmt.Sprintf("h%d.com/%d", c%12, c), l.Link.Depth+1))
		}
	}
	return o
}

// compare holds the statistics of a store against the frontier's own counters,
// and those against all it has.
func compare(t *testing.T, store kv.Store) octopus.Counts {
	t.Helper()
	f, err := frontier.Open(frontier.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	want := f.Counts()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := frontier.Verify(store, 0); err != nil {
		t.Fatal(err)
	}
	for _, span := range []stats.Span{stats.Hour, stats.Day} {
		var sum stats.Counts
		err := stats.Read(store, stats.Query{Prefix: prefix, Span: span}, func(r stats.Row) error {
			sum.Add(&r.Counts)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		got := octopus.Counts{Pages: sum[stats.Pages], Failed: sum[stats.Failed], Known: sum[stats.Links]}
		if got.Pages != want.Pages || got.Failed != want.Failed || got.Known != want.Known {
			t.Errorf("%c: counted %+v, the frontier has %+v", span, got, want)
		}
		if sum[stats.Requests] != sum[stats.Pages]+sum[stats.Failed]+sum[stats.Retries] || sum[stats.New] != sum[stats.Pages] {
			t.Errorf("%c: the counters do not add up: %v", span, sum)
		}
	}
	return want
}
