package frontier_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"octopus"
	"octopus/frontier"
	"octopus/frontier/frontiertest"
	"octopus/kv"
)

// TestLeaseWaitsForPolitenessOnly: 10,000 hosts, each with its own address and
// domain, a delay of 1 s and answers that take no time give 10,000 leases a
// second of virtual time, but for rounding, and every host's gap is kept.
func TestLeaseWaitsForPolitenessOnly(t *testing.T) {
	const hosts, perHost = 10_000, 5
	synctest.Test(t, func(t *testing.T) {
		f, err := frontier.Open(frontier.Options{Store: kv.NewMemory(), Robots: "ignore", QueueLimit: 30_000})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		ctx := context.Background()
		for h := range hosts {
			links := make([]octopus.Link, perHost)
			for i := range links {
				links[i] = frontiertest.Link(fmt.Sprintf("h%d.com/%d", h, i), 1)
			}
			if _, err := f.Add(ctx, links); err != nil {
				t.Fatal(err)
			}
		}
		last := map[string]time.Time{}
		start, n := time.Now(), 0
		for f.Counts().Queued > 0 {
			leases, err := f.Lease(ctx, 1000)
			if err != nil {
				t.Fatal(err)
			}
			now := time.Now()
			var outcomes []octopus.Outcome
			for _, l := range leases {
				host := l.Link.URL.Host
				if at, ok := last[host]; ok && now.Sub(at) < time.Second {
					t.Fatalf("%s asked again after %s", host, now.Sub(at))
				}
				last[host] = now
				outcomes = append(outcomes, octopus.Outcome{Lease: l, Status: 200, End: now})
			}
			if _, err := f.Done(ctx, outcomes); err != nil {
				t.Fatal(err)
			}
			n += len(leases)
		}
		rate := float64(n-hosts) / time.Since(start).Seconds() // the first of each host cost no wait
		t.Logf("%d leases in %s of virtual time: %.0f/s", n, time.Since(start), rate)
		if n != hosts*perHost || rate < 9500 {
			t.Errorf("%d leases, %.0f/s, want %d and 9500/s", n, rate, hosts*perHost)
		}
	})
}

// TestMonth: a month of a small news web in virtual time. Front pages come back
// on their period, which follows how often they change; articles are fetched
// once; a host that is over its quota has the rest parked.
func TestMonth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		periods := frontier.Periods{Refresh: 24 * time.Hour, Min: 6 * time.Hour, Max: 7 * 24 * time.Hour}
		store := kv.NewMemory()
		f, err := frontier.Open(frontier.Options{
			Store: store, Robots: "ignore", HostQuota: 500, Relink: frontiertest.Always,
			Boards: func(string) frontier.BoardRules { return frontier.BoardRules{Periods: periods} },
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		if _, err := f.Add(ctx, []octopus.Link{
			frontiertest.Link("busy.com/", 0), frontiertest.Link("quiet.com/", 0), frontiertest.Link("flood.com/", 0),
		}); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		month, cancel := context.WithDeadline(ctx, start.Add(30*24*time.Hour))
		defer cancel()
		visits := map[string]int{}
		for {
			leases, err := f.Lease(month, 10)
			if err != nil {
				break
			}
			for _, l := range leases {
				visits[l.Link.URL.Text]++
				if _, err := f.Done(ctx, []octopus.Outcome{news(l, time.Since(start))}); err != nil {
					t.Fatal(err)
				}
			}
		}
		busy, quiet := visits["http://busy.com/"], visits["http://quiet.com/"]
		if busy < 110 || busy > 122 { // every 24 h, 12 h, then 6 h
			t.Errorf("the busy front page was visited %d times", busy)
		}
		if quiet < 7 || quiet > 8 { // after 1, 1.5, 2.25 … up to 7 days
			t.Errorf("the quiet front page was visited %d times", quiet)
		}
		for u, n := range visits {
			if n > 1 && u[len(u)-1] != '/' {
				t.Errorf("the article %s was visited %d times", u, n)
			}
		}
		c := f.Counts()
		t.Logf("busy %d, quiet %d visits; %+v", busy, quiet, c)
		if c.Parked == 0 || c.Known != int64(len(visits))+c.Parked {
			t.Errorf("%d URLs visited, counts %+v", len(visits), c)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err := frontier.Verify(store, 0); err != nil {
			t.Error(err)
		}
	})
}

// news answers a request: front pages list the articles of the last day.
func news(l octopus.Lease, age time.Duration) octopus.Outcome {
	o := octopus.Outcome{Lease: l, Status: 200, End: time.Now(), Lane: octopus.Data}
	host, articles := l.Link.URL.Host, 0
	if l.Link.URL.Text != "http://"+host+"/" {
		return o
	}
	o.Lane = octopus.Nav
	switch host {
	case "busy.com":
		articles, o.Changed = 8, true
	case "flood.com":
		articles, o.Changed = 100, true
	case "quiet.com":
		o.Status = 304
		if l.Visit == 1 {
			o.Status = 200
		}
	}
	for i := range articles {
		k := frontiertest.Link(fmt.Sprintf("%s/%d/%d", host, int(age.Hours())/6, i), 1)
		k.Lane = octopus.Data
		o.Links = append(o.Links, k)
	}
	return o
}
