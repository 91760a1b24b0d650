package redisfrontier_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"octopus"
	"octopus/frontier/frontiertest"
	"octopus/frontier/manners"
	"octopus/frontier/redisfrontier"
)

// verify reads all keys of the one bucket of a job, counts again and compares:
// every URL stands where its record says, and nowhere else; every host with
// something to do stands in ready or wake.
func verify(t *testing.T, c *redis.Client, now time.Time) {
	t.Helper()
	ctx := context.Background()
	const bucket = "{test:0}:"
	states := map[byte]int64{}
	queues := map[string]int64{} // by host
	for key, rec := range c.HGetAll(ctx, bucket+"url").Val() {
		states[rec[0]]++
		if rec[0] != 'q' {
			continue
		}
		queues[key[:8]]++
		if err := c.ZScore(ctx, bucket+"q:"+key[:8], rec[16:30]+key[8:]).Err(); err != nil {
			t.Fatalf("URL %x is queued, but not in its queue: %v", key, err)
		}
	}
	n := c.HGetAll(ctx, bucket+"n").Val()
	total := int64(0)
	for _, count := range states {
		total += count
	}
	robots := int64(0) // leases of robots.txt
	for _, m := range c.ZRange(ctx, bucket+"lease", 0, -1).Val() {
		if m[0] == 'r' {
			robots++
		}
	}
	for name, want := range map[string]int64{
		"known": total, "queued": states['q'] + states['L'] + states['l'], "leased": states['L'] + robots, "later": states['l'],
		"again": states['r'], "done": states['d'] + states['f'], "failed": states['f'], "parked": states['p'],
	} {
		if got, _ := strconv.ParseInt(n[name], 10, 64); got != want {
			t.Fatalf("counter %s is %d, there are %d", name, got, want)
		}
	}
	for table, want := range map[string]int64{"due": states['l'] + states['r'], "parked": states['p'], "bad": states['f'], "lease": states['L'] + robots} {
		if got := c.ZCard(ctx, bucket+table).Val(); got != want {
			t.Fatalf("table %s holds %d entries, the records say %d", table, got, want)
		}
	}
	for host, want := range queues {
		if got := c.ZCard(ctx, bucket+"q:"+host).Val(); got != want {
			t.Fatalf("the queue of host %x holds %d, the records say %d", host, got, want)
		}
		tx := c.TxPipeline() // a Release may be under way
		requests, ready, wake := tx.HGet(ctx, bucket+"h:"+host, "busy"), tx.ZScore(ctx, bucket+"ready", host), tx.ZScore(ctx, bucket+"wake", host)
		_, _ = tx.Exec(ctx) // each has its error
		busy, _ := requests.Int()
		inReady, inWake := ready.Err() == nil, wake.Err() == nil
		if inReady == inWake && (inReady || busy == 0) {
			t.Fatalf("host %x with %d URLs and %d requests under way: in ready %t, in wake %t, at %s", host, want, busy, inReady, inWake, now)
		}
	}
}

// TestRandom lets two processes do what comes to mind, and checks the books.
func TestRandom(t *testing.T) {
	seed := uint64(7)
	if text := os.Getenv("OCTOPUS_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
	}
	refresh := func(string) manners.BoardRules {
		return manners.BoardRules{Periods: manners.Periods{Refresh: 2 * time.Minute, Recrawl: 5 * time.Minute}}
	}
	for _, o := range []redisfrontier.Options{
		{Robots: "ignore", HostDelay: time.Second},
		{HostDelay: time.Second, ConnsPerHost: 3, SiteDelay: 2 * time.Second, Relink: frontiertest.Always, HostQuota: 40, Rules: manners.Rules{MaxRetries: 1}, LaneWeight: 2, Boards: refresh},
	} {
		t.Run(fmt.Sprint("conns=", o.ConnsPerHost), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			o.LeaseTime = time.Minute
			w := newWorld(t, o)
			both := [2]*world{w, {T: t, clock: w.clock, opt: w.opt, Frontier: open(t, w.opt)}}
			var held []octopus.Lease
			for step := range 1500 {
				p := both[rng.IntN(2)]
				switch rng.IntN(10) {
				case 0, 1, 2:
					var links []octopus.Link
					for range 1 + rng.IntN(4) {
						l := link(fmt.Sprintf("%c.%c.com/%d", 'a'+rng.IntN(3), 'x'+rng.IntN(3), rng.IntN(60)), rng.IntN(6))
						l.Lane = octopus.Lane(rng.IntN(2))
						links = append(links, l)
					}
					p.add(links...)
				case 3, 4, 5:
					ctx, cancel := context.WithTimeout(context.Background(), 2*time.Millisecond)
					if l, err := p.Lease(ctx, 1+rng.IntN(3)); err == nil {
						held = append(held, l...)
					}
					cancel()
				case 6, 7, 8:
					if len(held) == 0 {
						continue
					}
					i := rng.IntN(len(held))
					l := held[i]
					held = append(held[:i], held[i+1:]...)
					if rng.IntN(10) == 0 {
						continue // its worker died
					}
					out := octopus.Outcome{Lease: l, Stage: octopus.Fetched | octopus.Parsed, End: w.Now(), Lane: octopus.Lane(rng.IntN(2)),
						Status: []int{200, 200, 200, 404, 500, 503, 0}[rng.IntN(7)]}
					if out.Status == 0 {
						failed([]octopus.Kind{octopus.KindNoHost, octopus.KindConnect, octopus.KindCanceled, octopus.KindTooLarge}[rng.IntN(4)])(&out)
					}
					if rng.IntN(3) == 0 {
						p.Release(out)
					}
					if _, err := p.Done(context.Background(), []octopus.Outcome{out}); err != nil {
						t.Fatal(err)
					}
				case 9:
					w.advance(time.Duration(rng.IntN(20_000)) * time.Millisecond)
				}
				if step%50 == 0 {
					verify(t, w.opt.Client.(*redis.Client), w.Now())
				}
			}
			verify(t, w.opt.Client.(*redis.Client), w.Now())
			t.Logf("%+v", w.Counts())
		})
	}
}
