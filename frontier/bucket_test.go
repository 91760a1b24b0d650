package frontier_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"octopus"
	"octopus/frontier"
	"octopus/frontier/frontiertest"
	"octopus/kv"
)

// fleet crawls with one fetcher per bucket; a fetch takes a second. It returns
// how long the crawl took and the most fetchers that held one host at once.
func fleet(t *testing.T, b frontier.Buckets, links []octopus.Link) (took time.Duration, holders int) {
	opt := plain(kv.NewMemory())
	opt.Buckets, opt.ConnsPerHost = b, 2
	f, err := frontier.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var mu sync.Mutex
	held := map[string]map[int]int{} // host -> fetcher -> leases
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	start := time.Now()
	var fetchers sync.WaitGroup
	for n := range b.Count {
		v := f.Attach(fmt.Sprint("fetcher", n))
		fetchers.Go(func() {
			defer v.Detach()
			for {
				leases, err := v.Lease(ctx, 1)
				if err != nil {
					return
				}
				host := leases[0].Link.URL.Host
				mu.Lock()
				if held[host] == nil {
					held[host] = map[int]int{}
				}
				held[host][n]++
				holders = max(holders, len(held[host]))
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				if held[host][n]--; held[host][n] == 0 {
					delete(held[host], n)
				}
				mu.Unlock()
				if _, err := v.Done(context.Background(), []octopus.Outcome{{Lease: leases[0], Status: 200, End: time.Now()}}); err != nil {
					t.Error(err)
				}
				if f.Counts().Queued == 0 {
					cancel()
				}
			}
		})
	}
	if _, err := f.Add(ctx, links); err != nil {
		t.Fatal(err)
	}
	fetchers.Wait()
	if n := f.Counts().Done; n != int64(len(links)) {
		t.Errorf("%d of %d URLs are done", n, len(links))
	}
	return time.Since(start), holders
}

// twoGiants are two large hosts in one bucket, and nothing else.
func twoGiants(buckets int) (links []octopus.Link) {
	var giants []string
	for i := 0; len(giants) < 2; i++ {
		if name := fmt.Sprintf("giant%d.com", i); frontier.Home(name, buckets) == 0 {
			giants = append(giants, name)
		}
	}
	for i := range 300 {
		links = append(links, frontiertest.Link(fmt.Sprintf("%s/%d", giants[i%2], i), 1))
	}
	return links
}

// powerLaw are 3,000 URLs of 60 hosts, the largest with a fifth of them.
func powerLaw() (links []octopus.Link) {
	rng := rand.New(rand.NewPCG(1, 1))
	zipf := rand.NewZipf(rng, 1.2, 1, 59)
	for i := range 3000 {
		links = append(links, frontiertest.Link(fmt.Sprintf("h%d.com/%d", zipf.Uint64(), i), 1))
	}
	return links
}

// TestPickers: with a skewed load the advanced picker ends sooner than the hash,
// and no host is ever held by two fetchers.
func TestPickers(t *testing.T) {
	for name, c := range map[string]struct {
		links   []octopus.Link
		atLeast float64 // speed-up
	}{
		"two giants": {twoGiants(4), 1.8},
		"power law":  {powerLaw(), 1.1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hash, _ := fleet(t, frontier.Buckets{Count: 4, Limit: 40, Picker: "hash"}, c.links)
				advanced, holders := fleet(t, frontier.Buckets{Count: 4, Limit: 40, Picker: "advanced"}, c.links)
				t.Logf("%d URLs: hash %s, advanced %s", len(c.links), hash, advanced)
				if hash.Seconds() < c.atLeast*advanced.Seconds() {
					t.Errorf("hash takes %s, advanced %s; want it at least %.1f times as fast", hash, advanced, c.atLeast)
				}
				if holders != 1 {
					t.Errorf("%d fetchers held one host at once", holders)
				}
			})
		})
	}
}

// TestViews: buckets are dealt anew when a fetcher comes or goes.
func TestViews(t *testing.T) {
	opt := plain(kv.NewMemory())
	opt.Buckets.Count = 5
	f, err := frontier.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, b := f.Attach("a"), f.Attach("b")
	if got := fmt.Sprint(a.Buckets(), b.Buckets()); got != "[0 2 4] [1 3]" {
		t.Error(got)
	}
	a.Detach()
	if got := fmt.Sprint(a.Buckets(), b.Buckets()); got != "[] [0 1 2 3 4]" {
		t.Error(got)
	}
}
