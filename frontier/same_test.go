package frontier_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"octopus"
	"octopus/frontier"
	"octopus/frontier/frontiertest"
	"octopus/kv"
	"octopus/kv/pebblekv"
)

// TestSameResults plays one random stream of operations to a frontier on the
// memory store and to one on Pebble, with other options: verdicts, leases and
// counters are the same.
func TestSameResults(t *testing.T) {
	for seed := range seeds(t, 20) {
		t.Run(strconv.Itoa(seed), func(t *testing.T) { sameResults(t, uint64(seed)) })
	}
}

// testClock is a time in nanoseconds.
type testClock struct{ atomic.Int64 }

func (c *testClock) now() time.Time { return time.Unix(0, c.Load()).UTC() }

// twin is one of the two.
type twin struct {
	opt frontier.Options
	f   *frontier.Frontier
	out []octopus.Lease
}

func sameResults(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 11))
	var clock testClock // the committer reads it, too
	clock.Store(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	db, err := pebblekv.Open("db", pebblekv.Options{FS: vfs.NewMem(), MemTableBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	opt := frontier.Options{Robots: "ignore", Now: clock.now, LaneWeight: rng.IntN(3)}
	if rng.IntN(2) == 0 {
		opt.Relink = frontiertest.Always
	}
	opt.ConnsPerHost = rng.IntN(3)
	opt.SiteDelay = time.Duration(rng.IntN(2)) * time.Second
	opt.HostQuota = int64(rng.IntN(2) * 50)
	twins := [2]*twin{{opt: opt}, {opt: opt}}
	twins[0].opt.Store, twins[1].opt.Store = kv.NewMemory(), db
	twins[1].opt.IndexBytes = []int64{0, -1, 8 * 16 * 4096}[rng.IntN(3)]
	if rng.IntN(2) == 0 { // links are counted by the index
		twins[0].opt.RaiseLinked, twins[1].opt.RaiseLinked, twins[1].opt.IndexBytes = true, true, 0
	}
	twins[0].opt.CacheRecords, twins[1].opt.CacheRecords = -1, rng.IntN(3)*16
	twins[1].opt.CommitDelay = time.Duration(rng.IntN(2)) * time.Microsecond
	for _, w := range twins {
		w.open(t, seed)
	}
	for step := range 300 {
		do := randomStep(rng, &clock)
		a, b := do(t, twins[0], seed), do(t, twins[1], seed)
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("step %d:\nmemory %v\npebble %v", step, a, b)
		}
		if a, b := twins[0].f.Counts(), twins[1].f.Counts(); a != b {
			t.Fatalf("step %d: counts\nmemory %+v\npebble %+v", step, a, b)
		}
	}
	for _, w := range twins {
		w.f.Close()
		if err := frontier.Verify(w.opt.Store, 0); err != nil {
			t.Error(err)
		}
	}
}

func (w *twin) open(t *testing.T, seed uint64) {
	w.opt.Rand = rand.New(rand.NewPCG(seed, 12))
	f, err := frontier.Open(w.opt)
	if err != nil {
		t.Fatal(err)
	}
	w.f = f
	w.out = nil
}

// randomStep draws an operation; what it returns does it to a twin and says what
// came of it.
func randomStep(rng *rand.Rand, clock *testClock) func(*testing.T, *twin, uint64) any {
	n, pick := rng.IntN(100), rng.IntN(1000)
	r := &run{rng: rng}
	links := make([]octopus.Link, 1+rng.IntN(20))
	for i := range links {
		links[i] = r.link()
	}
	switch {
	case n < 35:
		return func(t *testing.T, w *twin, _ uint64) any {
			v, err := w.f.Add(context.Background(), links)
			return fmt.Sprint(v, err)
		}
	case n < 65:
		return func(t *testing.T, w *twin, _ uint64) any {
			l, _ := w.f.Lease(now(), 1+pick%10)
			w.out = append(w.out, l...)
			return fmt.Sprint(l)
		}
	case n < 67:
		host, into := hostName(pick), hostName(pick/12)
		return func(t *testing.T, w *twin, _ uint64) any {
			if pick%3 == 0 {
				return fmt.Sprint(w.f.Unmerge(context.Background(), frontiertest.URL(host)))
			}
			n, err := w.f.Merge(context.Background(), frontiertest.URL(host), frontiertest.URL(into))
			return fmt.Sprint(n, err)
		}
	case n < 92:
		status := []int{200, 200, 200, 200, 304, 404, 500, 503}[pick%8]
		return func(t *testing.T, w *twin, _ uint64) any {
			if len(w.out) == 0 {
				return nil
			}
			i := pick % len(w.out)
			l := w.out[i]
			w.out = append(w.out[:i:i], w.out[i+1:]...)
			o := octopus.Outcome{Lease: l, Status: status, End: clock.now(), Lane: octopus.Lane(pick % 2), Links: links[:1], NoRequest: l.Purpose == octopus.Relink}
			v, err := w.f.Done(context.Background(), []octopus.Outcome{o})
			return fmt.Sprint(v, err)
		}
	case n < 97:
		clock.Add(int64(time.Duration(pick) * time.Second / 4))
		return func(*testing.T, *twin, uint64) any { return nil }
	}
	return func(t *testing.T, w *twin, seed uint64) any {
		if err := w.f.Close(); err != nil {
			t.Fatal(err)
		}
		w.open(t, seed)
		return nil
	}
}
