package crawl_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"octopus"
	"octopus/crawl"
)

// memFrontier is the least frontier: a list, a set, no politeness.
type memFrontier struct {
	mu       sync.Mutex
	known    map[string]bool
	queue    []octopus.Link
	leased   int
	released int
	done     []octopus.Outcome
	wake     chan struct{}
	broken   error
}

func newFrontier(urls ...string) *memFrontier {
	f := &memFrontier{known: map[string]bool{}, wake: make(chan struct{}, 1)}
	for _, u := range urls {
		f.add(octopus.Link{URL: octopus.URL{Text: u}})
	}
	return f
}

func (f *memFrontier) add(l octopus.Link) {
	if !f.known[l.URL.Text] {
		f.known[l.URL.Text] = true
		f.queue = append(f.queue, l)
		select {
		case f.wake <- struct{}{}:
		default:
		}
	}
}

func (f *memFrontier) Add(context.Context, []octopus.Link) ([]octopus.Verdict, error) {
	return nil, errors.New("not used")
}

func (f *memFrontier) Lease(ctx context.Context, most int) ([]octopus.Lease, error) {
	for {
		f.mu.Lock()
		if f.broken != nil {
			defer f.mu.Unlock()
			return nil, f.broken
		}
		n := min(most, len(f.queue))
		var out []octopus.Lease
		for _, l := range f.queue[:n] {
			out = append(out, octopus.Lease{Link: l, Visit: 1})
		}
		f.queue = f.queue[n:]
		f.leased += n
		f.mu.Unlock()
		if n > 0 {
			return out, nil
		}
		select {
		case <-f.wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (f *memFrontier) Done(_ context.Context, outs []octopus.Outcome) ([]octopus.Verdict, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var vs []octopus.Verdict
	for _, o := range outs {
		f.leased--
		f.done = append(f.done, o)
		for _, l := range o.Links {
			f.add(l)
		}
		vs = append(vs, octopus.Verdict{Code: octopus.Accepted})
	}
	return vs, nil
}

func (f *memFrontier) Release(octopus.Outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.released++
}

func (f *memFrontier) empty() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.queue) == 0 && f.leased == 0
}

// tree is a site: page n links to 2n+1 and 2n+2, up to size pages.
type tree struct {
	size    int
	latency time.Duration
	now     atomic.Int64 // requests under way
	most    atomic.Int64
	status  func(n int) int
}

func (s *tree) Fetch(ctx context.Context, l octopus.Lease) *octopus.Page {
	if n := s.now.Add(1); n > s.most.Load() {
		s.most.Store(n)
	}
	defer s.now.Add(-1)
	p := &octopus.Page{Lease: l, Start: time.Now(), Status: 200}
	if s.status != nil {
		var n int
		fmt.Sscanf(l.Link.URL.Text, "http://t/%d", &n)
		p.Status = s.status(n)
	}
	select {
	case <-time.After(s.latency):
	case <-ctx.Done():
		p.Status, p.Err = 0, &octopus.Error{Op: "fetch", Kind: octopus.KindCanceled, Err: ctx.Err()}
	}
	p.End = time.Now()
	p.Body = []byte(l.Link.URL.Text)
	return p
}

func (s *tree) Parse(_ context.Context, p *octopus.Page) (*octopus.Record, []octopus.Link, error) {
	var n int
	fmt.Sscanf(p.URL().Text, "http://t/%d", &n)
	var links []octopus.Link
	for _, c := range []int{2*n + 1, 2*n + 2} {
		if c < s.size {
			links = append(links, octopus.Link{URL: octopus.URL{Text: fmt.Sprintf("http://t/%d", c)}})
		}
	}
	return &octopus.Record{URL: p.URL().Text, Status: p.Status}, links, nil
}

// store counts the pages it was given.
type store struct {
	mu   sync.Mutex
	urls map[string]int
	fail error
}

func (s *store) Put(_ context.Context, p *octopus.Page, rec *octopus.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rec.Digest != crawl.Digest(p.Body) {
		return errors.New("digest missing")
	}
	if s.urls == nil {
		s.urls = map[string]int{}
	}
	s.urls[p.URL().Text]++
	return s.fail
}

func (s *store) Get(context.Context, octopus.URL) (*octopus.Page, error) { return nil, nil }

func TestRunCrawlsAllOnceAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, site, pages := newFrontier("http://t/0"), &tree{size: 500, latency: time.Second}, &store{}
		e := crawl.New(crawl.Options{Frontier: f, Fetcher: site, Parser: site, Pages: pages, Concurrency: 8, Finished: f.empty})
		if err := e.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(pages.urls) != 500 || len(f.done) != 500 || f.released != 500 {
			t.Errorf("stored %d, done %d, released %d; want 500 each", len(pages.urls), len(f.done), f.released)
		}
		for u, n := range pages.urls {
			if n != 1 {
				t.Errorf("%s stored %d times", u, n)
			}
		}
		if site.most.Load() != 8 {
			t.Errorf("%d requests at once, want 8", site.most.Load())
		}
	})
}

func TestNoDigest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, none := range []bool{false, true} {
			f, site := newFrontier("http://t/0"), &tree{size: 3}
			e := crawl.New(crawl.Options{Frontier: f, Fetcher: site, Parser: site, NoDigest: none, Finished: f.empty})
			if err := e.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, o := range f.done {
				if (o.Digest == "") != none || o.Record.Digest != o.Digest {
					t.Errorf("NoDigest %v: digest %q, in the record %q", none, o.Digest, o.Record.Digest)
				}
			}
		}
	})
}

func TestMaxPagesIsExact(t *testing.T) {
	for _, before := range []int64{0, 3} {
		synctest.Test(t, func(t *testing.T) {
			f := newFrontier("http://t/0")
			// Every third page is a 404 and does not count.
			site := &tree{size: 500, latency: time.Second, status: func(n int) int { return []int{200, 200, 404}[n%3] }}
			e := crawl.New(crawl.Options{Frontier: f, Fetcher: site, Parser: site, Concurrency: 8, MaxPages: 20, PagesBefore: before, Finished: f.empty})
			if err := e.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			var ok int64
			for _, o := range f.done {
				if o.Status == 200 {
					ok++
				}
			}
			if ok != 20-before || f.leased != 0 {
				t.Errorf("%d pages with %d before, %d leases left; want 20 in all and none", ok, before, f.leased)
			}
		})
	}
}

func TestDrainFinishesWhatIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, site := newFrontier("http://t/0"), &tree{size: 1 << 20, latency: time.Second}
		e := crawl.New(crawl.Options{Frontier: f, Fetcher: site, Parser: site, Concurrency: 4})
		time.AfterFunc(10500*time.Millisecond, e.Drain)
		if err := e.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if f.leased != 0 {
			t.Errorf("%d leases neither done nor returned", f.leased)
		}
		for _, o := range f.done {
			if o.Deferred {
				t.Errorf("%s was cut, not drained", o.Lease.Link.URL)
			}
		}
	})
}

func TestCancelCutsAndDefers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f, site := newFrontier("http://t/0"), &tree{size: 1 << 20, latency: time.Second}
		e := crawl.New(crawl.Options{Frontier: f, Fetcher: site, Parser: site, Concurrency: 4})
		start := time.Now()
		time.AfterFunc(10500*time.Millisecond, cancel)
		if err := e.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 10500*time.Millisecond {
			t.Errorf("the cut took until %v", took)
		}
		deferred := 0
		for _, o := range f.done {
			if o.Deferred {
				deferred++
			}
		}
		if deferred != 4 || f.leased != 0 {
			t.Errorf("%d outcomes deferred, %d leases lost; want 4 and 0", deferred, f.leased)
		}
	})
}

func TestStoreFailureEndsTheCrawlAndKeepsTheURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		f, site := newFrontier("http://t/0"), &tree{size: 500}
		e := crawl.New(crawl.Options{Frontier: f, Fetcher: site, Parser: site, Pages: &store{fail: full}, Finished: f.empty})
		if err := e.Run(t.Context()); !errors.Is(err, full) {
			t.Fatalf("Run returned %v, want the store's error", err)
		}
		if len(f.done) != 1 || !f.done[0].Deferred {
			t.Errorf("outcomes %+v; want one, deferred", f.done)
		}
	})
}

func TestFrontierFailureEndsTheCrawl(t *testing.T) {
	f := newFrontier()
	f.broken = errors.New("corrupt")
	site := &tree{}
	if err := crawl.New(crawl.Options{Frontier: f, Fetcher: site, Parser: site}).Run(t.Context()); !errors.Is(err, f.broken) {
		t.Errorf("Run returned %v", err)
	}
}
