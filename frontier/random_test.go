package frontier_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"octopus"
	"octopus/frontier"
	"octopus/frontier/frontiertest"
	"octopus/kv"
)

// seeds returns how many seeds a random test runs: a few, or
// OCTOPUS_FRONTIER_SEEDS.
func seeds(t *testing.T, few int) int {
	if n, err := strconv.Atoi(os.Getenv("OCTOPUS_FRONTIER_SEEDS")); err == nil {
		return n
	}
	if testing.Short() {
		return min(few, 5)
	}
	return few
}

// TestRandomOperations offers, leases, reports and reopens at random, checks all
// counters against a full scan at every reopening, and that in the end every
// URL was visited exactly once.
func TestRandomOperations(t *testing.T) {
	for seed := range seeds(t, 30) {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newRun(t, uint64(seed)).all() })
		})
	}
}

// run is one random run.
type run struct {
	*testing.T
	rng     *rand.Rand
	store   kv.Store
	opt     frontier.Options
	f       *frontier.Frontier
	added   map[string]bool
	clears  bool              // lanes are cleared: known URLs may be queued again
	merges  bool              // hosts come to stand for others
	aliases map[string]string // host -> the one that stands for it
	visited map[string]int    // visits accepted as final
	out     []octopus.Lease
	ended   map[string]time.Time // host -> end of its last response
}

func newRun(t *testing.T, seed uint64) *run {
	r := &run{T: t, rng: rand.New(rand.NewPCG(seed, 7)), store: kv.NewMemory(), added: map[string]bool{}, visited: map[string]int{}, aliases: map[string]string{}, ended: map[string]time.Time{}}
	r.opt = randomOptions(r.rng)
	r.opt.Store = r.store
	r.clears, r.merges = seed%3 == 0, seed%4 == 1
	r.open()
	return r
}

// randomOptions draws options that must not change what is visited.
func randomOptions(rng *rand.Rand) frontier.Options {
	o := frontier.Options{Robots: "ignore", Rand: rand.New(rand.NewPCG(rng.Uint64(), 1))}
	o.QueueLimit = []int{0, 1, 3, 50}[rng.IntN(4)]
	o.HostLimit = []int{0, 1, 2, 5}[rng.IntN(4)]
	o.IndexBytes = []int64{0, -1, 8 * 16 * 4096}[rng.IntN(3)]
	o.ConnsPerHost = rng.IntN(3)
	o.SiteDelay = time.Duration(rng.IntN(2)) * time.Second
	o.CommitDelay = time.Duration(rng.IntN(2)) * time.Millisecond
	o.MaxRetries = 100
	if rng.IntN(2) == 0 {
		o.Relink = frontiertest.Always
	}
	o.RaiseLinked = rng.IntN(2) == 0
	return o
}

func (r *run) open() {
	f, err := frontier.Open(r.opt)
	if err != nil {
		r.Fatal(err)
	}
	r.f = f
	r.Cleanup(func() { f.Close() })
}

func (r *run) reopen() {
	if err := r.f.Close(); err != nil {
		r.Fatal(err)
	}
	if err := frontier.Verify(r.store, 0); err != nil {
		r.Fatal(err)
	}
	r.open()
}

func (r *run) all() {
	for range 400 {
		switch n := r.rng.IntN(100); {
		case n < 40:
			r.add()
		case n < 70:
			r.lease()
		case n < 95:
			r.done()
		case n < 96:
			r.reopen()
		case n < 97:
			r.clear()
		case n < 98:
			r.merge()
		default:
			time.Sleep(time.Duration(r.rng.IntN(200)) * time.Second)
		}
	}
	r.finish()
}

// clear empties a lane, in some runs.
func (r *run) clear() {
	if !r.clears {
		return
	}
	before := r.f.Counts()
	n, err := r.f.ClearLane(context.Background(), octopus.Lane(r.rng.IntN(2)))
	if err != nil {
		r.Fatal(err)
	}
	if after := r.f.Counts(); after.Parked-before.Parked != n || before.Queued-after.Queued != n {
		r.Fatalf("%d URLs cleared: counts %+v, then %+v", n, before, after)
	}
}

// merge has a host stand for another, in some runs.
func (r *run) merge() {
	alias, into := hostName(r.rng.IntN(12)), hostName(r.rng.IntN(12))
	if !r.merges || alias == into || r.aliases[into] != "" {
		return
	}
	if h, _, err := r.f.Host(context.Background(), frontiertest.URL(into)); err != nil || h.Known == 0 {
		return
	}
	before := r.f.Counts()
	n, err := r.f.Merge(context.Background(), frontiertest.URL(alias), frontiertest.URL(into))
	if err != nil {
		r.Fatal(err)
	}
	r.aliases[alias] = into
	if after := r.f.Counts(); !r.clears && after.Parked-before.Parked != int64(n) || after.Known-before.Known > int64(n) {
		r.Fatalf("%d URLs moved: counts %+v, then %+v", n, before, after)
	}
	for u := range r.added {
		r.added[r.final(u)] = true // of those that were not visited, queued now
	}
}

// final returns the URL that stands for one.
func (r *run) final(url string) string {
	u := frontiertest.URL(url)
	host := u.Host
	for r.aliases[host] != "" {
		host = r.aliases[host]
	}
	return strings.Replace(u.Text, u.Host, host, 1)
}

// inject offers all that was offered before again.
func (r *run) inject() {
	for u := range r.added {
		if _, err := r.f.Add(context.Background(), []octopus.Link{frontiertest.Link(u, 9)}); err != nil {
			r.Fatal(err)
		}
	}
}

// hostName is one of the twelve hosts there are.
func hostName(n int) string { return fmt.Sprintf("h%d.s%d.com", n%4, n/4%3) }

func (r *run) link() octopus.Link {
	l := frontiertest.Link(fmt.Sprintf("%s/%d", hostName(r.rng.IntN(12)), r.rng.IntN(150)), r.rng.IntN(5))
	l.Lane = octopus.Lane(r.rng.IntN(2))
	l.Weight = uint16(r.rng.IntN(3))
	return l
}

func (r *run) add() {
	links := make([]octopus.Link, 1+r.rng.IntN(30))
	for i := range links {
		links[i] = r.link()
	}
	v, err := r.f.Add(context.Background(), links)
	if err != nil {
		r.Fatal(err)
	}
	for i, l := range links {
		want, url := octopus.Queued, r.final(l.URL.Text)
		if r.added[url] {
			want = octopus.Known
		}
		if v[i].Code != want && !((r.clears || r.merges) && v[i].Code == octopus.Queued) {
			r.Fatalf("add %s: %s, want %s", l.URL, v[i].Code, want)
		}
		r.added[url] = true
	}
}

func (r *run) lease() bool {
	leases, err := r.f.Lease(now(), 1+r.rng.IntN(10))
	if errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if err != nil {
		r.Fatal(err)
	}
	for _, l := range leases {
		if l.Purpose == octopus.FetchPage && r.visited[l.Link.URL.Text] > 0 {
			r.Fatalf("%s is leased again", l.Link.URL)
		}
		if l.Purpose == octopus.FetchPage && time.Since(r.ended[l.Link.URL.Host]) < time.Second {
			r.Fatalf("%s is leased %s after the last response of its host", l.Link.URL, time.Since(r.ended[l.Link.URL.Host]))
		}
	}
	r.out = append(r.out, leases...)
	return true
}

func (r *run) done() {
	if len(r.out) == 0 {
		return
	}
	i := r.rng.IntN(len(r.out))
	l := r.out[i]
	r.out[i] = r.out[len(r.out)-1]
	r.out = r.out[:len(r.out)-1]
	o := octopus.Outcome{Lease: l, Stage: octopus.Fetched | octopus.Parsed, Status: 200, End: time.Now(), Lane: l.Link.Lane}
	if l.Purpose == octopus.Relink {
		o.NoRequest = true
	}
	switch r.rng.IntN(10) {
	case 0:
		o.Status = 500
	case 1:
		o.Deferred = true
	case 2:
		o.Links = []octopus.Link{r.link()}
	}
	r.report(o)
}

func (r *run) report(o octopus.Outcome) {
	v, err := r.f.Done(context.Background(), []octopus.Outcome{o})
	if err != nil {
		r.Fatal(err)
	}
	if v[0].Code != octopus.Accepted {
		return
	}
	for _, l := range o.Links {
		r.added[r.final(l.URL.Text)] = true
	}
	u := o.Lease.Link.URL
	if !o.NoRequest && !o.Deferred {
		r.ended[u.Host] = o.End
	}
	if o.Status == 200 && !o.Deferred && o.Lease.Purpose == octopus.FetchPage {
		r.visited[u.Text]++
	}
}

// finish visits what is left and compares.
func (r *run) finish() {
	r.inject()
	for idle := 0; r.f.Counts().Queued > 0; {
		if r.lease() {
			idle = 0
		} else if len(r.out) == 0 {
			if idle++; idle > 1000 {
				r.Fatalf("nothing moves: %s, %+v", r.f.Waiting(), r.f.Counts())
			}
			time.Sleep(time.Minute)
		}
		for len(r.out) > 0 {
			r.done()
		}
	}
	r.reopen()
	for u := range r.added {
		if r.visited[r.final(u)] != 1 || r.visited[u] > 1 {
			r.Errorf("%s was visited %d times, as %s %d times", u, r.visited[u], r.final(u), r.visited[r.final(u)])
		}
	}
	// A visited page whose links were to be read again may have been moved.
	if c, n := r.f.Counts(), int64(len(r.visited)); c.Known != c.Done+c.Parked || c.Done > n || !r.merges && c.Done < n {
		r.Errorf("%d URLs visited, counts %+v", n, c)
	}
	if err := r.f.Close(); err != nil {
		r.Fatal(err)
	}
}
