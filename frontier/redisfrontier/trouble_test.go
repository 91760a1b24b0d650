package redisfrontier_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"octopus"
	"octopus/frontier/frontiertest"
	"octopus/frontier/redisfrontier"
	"octopus/internal/servers"
)

// troubles collects what OnError hears.
type troubles struct {
	mu   sync.Mutex
	list []string      // guarded by mu
	came chan struct{} // one token for each
}

func newTroubles() *troubles { return &troubles{came: make(chan struct{}, 100)} }

func (t *troubles) hear(err error) {
	t.mu.Lock()
	t.list = append(t.list, fmt.Sprint(err))
	t.mu.Unlock()
	t.came <- struct{}{}
}

func (t *troubles) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.list) == 0 {
		return ""
	}
	return t.list[len(t.list)-1]
}

// TestPausesAndResumes breaks Redis in several ways while a link is offered: the
// call waits, OnError says why and what to do, and all goes on by itself.
func TestPausesAndResumes(t *testing.T) {
	srv, c := start(t)
	heard := newTroubles()
	o := plain()
	o.URL, o.OnError, o.Buckets = srv.URL(), heard.hear, 1
	f := open(t, o)
	ctx := t.Context()
	bucket := "{test:0}:"
	for i, test := range []struct {
		name, want   string
		spoil, amend func()
	}{
		{"down", "does not answer", srv.Stop, func() { srv.Start(); c.Ping(ctx) }},
		{"out of memory", "raise its maxmemory", func() { c.ConfigSet(ctx, "maxmemory", "1") }, func() { c.ConfigSet(ctx, "maxmemory", "0") }},
		{"wrong type", "a key of this name holds something else",
			func() { c.Rename(ctx, bucket+"url", "aside"); c.Set(ctx, bucket+"url", "text", 0) },
			func() { c.Del(ctx, bucket+"url"); c.Rename(ctx, "aside", bucket+"url") }},
		{"replica", "name its master", func() { c.Do(ctx, "REPLICAOF", "127.0.0.1", "1") }, func() { c.Do(ctx, "REPLICAOF", "NO", "ONE") }},
	} {
		add(t, f, octopus.Queued, fmt.Sprintf("h%d.com/before", i))
		test.spoil()
		done := make(chan error, 1)
		url := fmt.Sprintf("h%d.com/1", i)
		go func() {
			_, err := f.Add(context.Background(), []octopus.Link{frontiertest.Link(url, 0)})
			done <- err
		}()
		<-heard.came
		if !strings.Contains(heard.last(), test.want) {
			t.Errorf("%s: %q, want %q", test.name, heard.last(), test.want)
		}
		if !strings.Contains(f.Waiting(), test.want) {
			t.Errorf("%s: waiting for %q", test.name, f.Waiting())
		}
		select {
		case err := <-done:
			t.Errorf("%s: Add returned %v", test.name, err)
		default:
		}
		test.amend()
		if err := <-done; err != nil {
			t.Errorf("%s: Add after it was mended: %v", test.name, err)
		}
		<-heard.came
		if heard.last() != "<nil>" {
			t.Errorf("%s: after it was mended OnError heard %q", test.name, heard.last())
		}
		add(t, f, octopus.Known, url)
	}
	c.ScriptFlush(ctx)
	add(t, f, octopus.Queued, "flushed.com/1")
}

func add(t *testing.T, f *redisfrontier.Frontier, want octopus.VerdictCode, url string) {
	t.Helper()
	v, err := f.Add(t.Context(), []octopus.Link{frontiertest.Link(url, 0)})
	if err != nil || v[0].Code != want {
		t.Errorf("Add %s: %v, %v, want %s", url, v, err, want)
	}
}

func TestCallsEndWithTheirContext(t *testing.T) {
	srv, _ := start(t)
	o := plain()
	o.URL = srv.URL()
	f := open(t, o)
	srv.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := f.Lease(ctx, 1); err == nil {
		t.Error("Lease without Redis returns no error when its context ends")
	}
	if _, err := f.Add(ctx, []octopus.Link{frontiertest.Link("a.com/1", 0)}); err == nil {
		t.Error("Add without Redis returns no error when its context ends")
	}
	waits := make(chan error, 1)
	go func() { _, err := f.Lease(context.Background(), 1); waits <- err }()
	f.Close()
	if err := <-waits; err == nil {
		t.Error("a waiting Lease survives Close")
	}
}

// TestWakesOthers has one process wait for what another adds, and for the end.
func TestWakesOthers(t *testing.T) {
	srv, _ := start(t)
	o := plain()
	o.URL = srv.URL()
	a, b := open(t, o), open(t, o)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for i := range 50 {
		got := make(chan octopus.Lease, 1)
		go func() {
			l, err := a.Lease(ctx, 1)
			if err != nil {
				t.Error(err)
				l = make([]octopus.Lease, 1)
			}
			got <- l[0]
		}()
		add(t, b, octopus.Queued, fmt.Sprintf("h%d.com/1", i))
		l := <-got
		drained := make(chan error, 1)
		go func() { drained <- b.Drained(ctx) }()
		if _, err := a.Done(ctx, []octopus.Outcome{{Lease: l, Stage: octopus.Parsed, Status: 200, End: time.Now()}}); err != nil {
			t.Fatal(err)
		}
		if err := <-drained; err != nil {
			t.Fatal(err)
		}
	}
}

// TestIdleIsQuiet has two processes wait for an hour to pass: they ask Redis
// nothing meanwhile.
func TestIdleIsQuiet(t *testing.T) {
	srv, c := start(t)
	o := plain()
	o.URL, o.HostDelay = srv.URL(), time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	f, g := open(t, o), open(t, o)
	add(t, f, octopus.Queued, "a.com/1")
	add(t, f, octopus.Queued, "a.com/2")
	if _, err := f.Lease(ctx, 1); err != nil {
		t.Fatal(err)
	}
	for _, x := range []*redisfrontier.Frontier{f, g} {
		group.Go(func() { _, _ = x.Lease(ctx, 1) })
	}
	scripts := func() string {
		stats := c.Info(t.Context(), "commandstats").Val()
		_, rest, _ := strings.Cut(stats, "cmdstat_evalsha:")
		calls, _, _ := strings.Cut(rest, ",")
		return calls
	}
	last, quiet := "", 0
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range 100 {
		<-tick.C
		if now := scripts(); now != last {
			last, quiet = now, 0
		} else if quiet++; quiet == 10 {
			return // half a second without a call
		}
	}
	t.Errorf("two processes that wait go on asking: %s", last)
}

// TestCluster runs on a cluster of one node, which checks slots like any other.
func TestCluster(t *testing.T) {
	srv, c := start(t, "--cluster-enabled", "yes")
	if err := c.Do(t.Context(), "CLUSTER", "ADDSLOTSRANGE", 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	servers.Await(t, func() error {
		if info := c.ClusterInfo(t.Context()).Val(); !strings.Contains(info, "cluster_state:ok") {
			return fmt.Errorf("cluster info: %s", info)
		}
		return nil
	})
	w := newWeb(t, 100, 20)
	j := job{Redis: "redis+cluster://" + srv.Addr, Web: w.URL, Delay: time.Millisecond, Lease: time.Minute}
	f := j.enter(t)
	if err := work(j); err != nil {
		t.Fatal(err)
	}
	if c := f.Counts(); c.Done != 100 || c.Queued != 0 {
		t.Errorf("counts %+v", c)
	}
}

// TestMemoryOfAURL measures what a queued URL takes in Redis.
func TestMemoryOfAURL(t *testing.T) {
	_, c := start(t)
	o := plain()
	o.Client = c
	f := open(t, o)
	used := func() (n int64) {
		for _, line := range strings.Split(c.Info(t.Context(), "memory").Val(), "\r\n") {
			if v, ok := strings.CutPrefix(line, "used_memory:"); ok {
				fmt.Sscan(v, &n)
			}
		}
		return n
	}
	before := used()
	const n = 30_000
	for from := 0; from < n; from += 1000 {
		links := make([]octopus.Link, 1000)
		for i := range links {
			k := from + i
			links[i] = frontiertest.Link(fmt.Sprintf("www.site%d.example/news/2026/05/08/article-%d-of-the-day.html", k%300, k), 3)
			links[i].Via = fmt.Sprintf("http://www.site%d.example/news/", k%300)
		}
		if _, err := f.Add(t.Context(), links); err != nil {
			t.Fatal(err)
		}
	}
	each := float64(used()-before) / n
	t.Logf("%.0f bytes of Redis for each queued URL of about 67 characters", each)
	if each > 450 {
		t.Error("that is more than documented")
	}
}

// TestRecordsDeleted: somebody deletes the records of a bucket, or Redis evicts
// them. What stood in the queues is forgotten, and the crawl begins again from
// its entries; it ends.
func TestRecordsDeleted(t *testing.T) {
	_, c := start(t)
	o := plain()
	o.Client, o.Buckets, o.LeaseTime = c, 1, 50*time.Millisecond
	o.Entries = func() []octopus.Link { return []octopus.Link{link("a.com/entry", 0)} }
	f := open(t, o)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for i := range 200 {
		add(t, f, octopus.Queued, fmt.Sprintf("h%d.com/%d", i%3, i))
	}
	held, err := f.Lease(ctx, 3)
	if err != nil || len(held) != 3 {
		t.Fatal(held, err)
	}
	if err := c.Del(ctx, "{test:0}:url").Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Done(ctx, []octopus.Outcome{{Lease: held[0], Stage: octopus.Parsed, Status: 200, End: time.Now()}}); err != nil {
		t.Fatal(err) // the others are never reported
	}
	drained := make(chan error, 1)
	go func() { drained <- f.Drained(ctx) }()
	leases, err := f.Lease(ctx, 10)
	if err != nil || len(leases) != 1 || leases[0].Link.URL.Text != "http://a.com/entry" {
		t.Fatalf("after the loss: %+v, %v", leases, err)
	}
	if _, err := f.Done(ctx, []octopus.Outcome{{Lease: leases[0], Stage: octopus.Parsed, Status: 200, End: time.Now()}}); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = f.Lease(ctx, 1) }() // it meets the leases that ended
	if err := <-drained; err != nil {
		t.Error(err)
	}
	if n := f.Counts(); n.Queued != 0 || n.Done != 2 {
		t.Errorf("counts %+v", n)
	}
}
