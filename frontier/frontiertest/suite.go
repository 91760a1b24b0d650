package frontiertest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"octopus"
)

// Promises say what an implementation promises beyond the contract.
type Promises struct {
	Durable  bool // what was acknowledged is there after closing and opening again
	Ordered  bool // shallower URLs of a host go first
	Blocking bool // Lease returns as soon as an Add makes something due
}

// Open returns a frontier on the state of one test: the first call a new one,
// each later one what the one before left; the suite closes that first, where it
// is an io.Closer. It has no host delay and no robots.txt, and its leases last
// long enough for a test.
type Open func(t *testing.T) octopus.Frontier

// Run holds an implementation to the contract of octopus.Frontier and to its
// promises. fresh returns the Open of an empty state.
func Run(t *testing.T, p Promises, fresh func(t *testing.T) Open) {
	for _, c := range []struct {
		name  string
		needs bool
		test  func(*subject)
	}{
		{"AddIsIdempotent", true, addIsIdempotent},
		{"OneURLTwiceInABatch", true, oneURLTwice},
		{"TooManyHops", true, tooManyHops},
		{"LeasedOnce", true, leasedOnce},
		{"DoneIsFinal", true, doneIsFinal},
		{"SecondDoneIsStale", true, secondDoneIsStale},
		{"DeferredComesBack", true, deferredComesBack},
		{"LinksOfAnOutcome", true, linksOfAnOutcome},
		{"LeaseEndsWithItsContext", true, leaseEnds},
		{"NothingToDo", true, nothingToDo},
		{"EveryURLOnce", true, everyURLOnce},
		{"ShallowFirst", p.Ordered, shallowFirst},
		{"LeaseWaitsForAdd", p.Blocking, leaseWaits},
		{"Durable", p.Durable, durable},
		{"DoneAfterReopening", p.Durable, doneAfterReopening},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !c.needs {
				t.Skip("not promised")
			}
			s := &subject{T: t, open: fresh(t)}
			s.Frontier = s.open(t)
			defer s.close()
			c.test(s)
		})
	}
}

// subject is the frontier under test.
type subject struct {
	*testing.T
	octopus.Frontier
	open Open
}

func (s *subject) close() {
	if c, ok := s.Frontier.(io.Closer); ok {
		if err := c.Close(); err != nil {
			s.Error(err)
		}
	}
}

func (s *subject) reopen() {
	s.close()
	s.Frontier = s.open(s.T)
}

// add offers links and checks the verdicts.
func (s *subject) add(want octopus.VerdictCode, links ...octopus.Link) {
	s.Helper()
	v, err := s.Add(context.Background(), links)
	if err != nil || len(v) != len(links) {
		s.Fatalf("Add: %d verdicts for %d links, error %v", len(v), len(links), err)
	}
	for i := range v {
		if v[i].Code != want {
			s.Fatalf("Add %s: %s, want %s", links[i].URL, v[i].Code, want)
		}
	}
}

// lease takes n leases; they must be there.
func (s *subject) lease(n int) (all []octopus.Lease) {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for len(all) < n {
		l, err := s.Lease(ctx, n-len(all))
		if err != nil {
			s.Fatalf("Lease: %v after %d of %d", err, len(all), n)
		}
		all = append(all, l...)
	}
	return all
}

// empty checks that there is nothing to lease.
func (s *subject) empty() {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if l, err := s.Lease(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		s.Fatalf("Lease: %v, %v, want nothing until the deadline", l, err)
	}
}

// fetched is the outcome of a request that went well.
func fetched(l octopus.Lease, links ...octopus.Link) octopus.Outcome {
	now := time.Now()
	return octopus.Outcome{Lease: l, Stage: octopus.Fetched | octopus.Parsed, Start: now, End: now, Status: 200, Links: links}
}

// done reports an outcome and checks the verdict.
func (s *subject) done(want octopus.VerdictCode, o octopus.Outcome) {
	s.Helper()
	v, err := s.Done(context.Background(), []octopus.Outcome{o})
	if err != nil || len(v) != 1 || v[0].Code != want {
		s.Fatalf("Done %s: %v, %v, want %s", o.Lease.Link.URL, v, err, want)
	}
}

func addIsIdempotent(s *subject) {
	s.add(octopus.Queued, Link("a.com/1", 1), Link("b.com/1", 1))
	s.add(octopus.Known, Link("b.com/1", 1), Link("a.com/1", 2))
	s.add(octopus.Known, Link("a.com/1", 0))
	s.lease(2)
	s.empty()
}

func oneURLTwice(s *subject) {
	v, err := s.Add(context.Background(), []octopus.Link{Link("a.com/1", 1), Link("a.com/1", 1)})
	if err != nil || v[0].Code != octopus.Queued || v[1].Code != octopus.Known {
		s.Fatal(v, err)
	}
}

func tooManyHops(s *subject) {
	l := Link("a.com/1", 1)
	l.Hop = octopus.MaxHops + 1
	v, err := s.Add(context.Background(), []octopus.Link{l})
	if err != nil || v[0] != (octopus.Verdict{Code: octopus.Rejected, Reason: octopus.ReasonHops}) {
		s.Fatal(v, err)
	}
	l.Hop--
	s.add(octopus.Queued, l)
}

func leasedOnce(s *subject) {
	s.add(octopus.Queued, Link("a.com/1", 0), Link("b.com/1", 0), Link("c.com/1", 0))
	seen := map[string]bool{}
	for _, l := range s.lease(3) {
		u := l.Link.URL
		if seen[u.Text] || l.Visit != 1 || l.Attempt != 0 || !l.Until.After(time.Now()) || u != URL(u.Text) {
			s.Errorf("lease %+v", l)
		}
		seen[u.Text] = true
	}
	s.empty()
}

func doneIsFinal(s *subject) {
	s.add(octopus.Queued, Link("a.com/1", 0))
	s.done(octopus.Accepted, fetched(s.lease(1)[0]))
	s.add(octopus.Known, Link("a.com/1", 0))
	s.empty()
}

func secondDoneIsStale(s *subject) {
	s.add(octopus.Queued, Link("a.com/1", 0))
	l := s.lease(1)[0]
	s.done(octopus.Accepted, fetched(l))
	s.done(octopus.Stale, fetched(l, Link("a.com/2", 1)))
	s.empty() // the links of a stale outcome are not taken
}

func deferredComesBack(s *subject) {
	s.add(octopus.Queued, Link("a.com/1", 0))
	o := fetched(s.lease(1)[0])
	o.Deferred, o.Status = true, 0
	s.done(octopus.Accepted, o)
	l := s.lease(1)[0]
	if l.Visit != 1 || l.Attempt != 0 {
		s.Errorf("visit %d, attempt %d, want 1 and 0", l.Visit, l.Attempt)
	}
	s.done(octopus.Accepted, fetched(l))
	s.empty()
}

func linksOfAnOutcome(s *subject) {
	s.add(octopus.Queued, Link("a.com/1", 0))
	s.done(octopus.Accepted, fetched(s.lease(1)[0], Link("a.com/1", 1), Link("b.com/2", 1)))
	l := s.lease(1)[0]
	if l.Link.URL.Text != "http://b.com/2" || l.Link.Depth != 1 {
		s.Errorf("lease %+v", l)
	}
	s.empty()
}

func leaseEnds(s *subject) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Lease(ctx, 1); !errors.Is(err, context.Canceled) {
		s.Errorf("Lease: %v, want the error of its context", err)
	}
}

func nothingToDo(s *subject) {
	if v, err := s.Add(context.Background(), nil); err != nil || len(v) != 0 {
		s.Errorf("Add of nothing: %v, %v", v, err)
	}
	if v, err := s.Done(context.Background(), nil); err != nil || len(v) != 0 {
		s.Errorf("Done of nothing: %v, %v", v, err)
	}
}

// everyURLOnce crawls a web of 500 pages with eight workers.
func everyURLOnce(s *subject) {
	const pages = 500
	var mu sync.Mutex
	visits := map[string]int{}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	page := func(i int) octopus.Link { i %= pages; return Link(fmt.Sprintf("h%d.com/%d", i%7, i), 1) }
	s.add(octopus.Queued, page(1))
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for {
				leases, err := s.Lease(ctx, 3)
				if err != nil {
					return
				}
				for _, l := range leases {
					var i int
					fmt.Sscanf(l.Link.URL.Text[len("http://h0.com/"):], "%d", &i)
					if v, err := s.Done(context.Background(), []octopus.Outcome{fetched(l, page(2*i), page(2*i+1), page(i+1))}); err != nil || v[0].Code != octopus.Accepted {
						s.Errorf("Done: %v, %v", v, err)
					}
					mu.Lock()
					visits[l.Link.URL.Text]++
					if len(visits) == pages {
						cancel()
					}
					mu.Unlock()
				}
			}
		})
	}
	workers.Wait()
	for u, n := range visits {
		if n != 1 {
			s.Errorf("%s was visited %d times", u, n)
		}
	}
	if len(visits) != pages {
		s.Errorf("%d pages of %d were visited", len(visits), pages)
	}
}

func shallowFirst(s *subject) {
	s.add(octopus.Queued, Link("a.com/3", 3), Link("a.com/1", 1), Link("a.com/2", 2), Link("a.com/0", 0))
	s.add(octopus.Known, Link("a.com/3", 1)) // moves up
	for _, want := range []int{0, 1, 1, 2} {
		l := s.lease(1)[0]
		if l.Link.Depth != want {
			s.Errorf("%s of depth %d goes first, want depth %d", l.Link.URL, l.Link.Depth, want)
		}
		s.done(octopus.Accepted, fetched(l))
	}
}

func leaseWaits(s *subject) {
	got := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		l, err := s.Lease(ctx, 5)
		if err == nil && (len(l) != 1 || l[0].Link.URL.Text != "http://a.com/1") {
			err = fmt.Errorf("leases %v", l)
		}
		got <- err
	}()
	s.add(octopus.Queued, Link("a.com/1", 0))
	if err := <-got; err != nil {
		s.Error(err)
	}
}

func durable(s *subject) {
	s.add(octopus.Queued, Link("a.com/1", 0), Link("b.com/2", 3), Link("c.com/3", 0))
	for _, l := range s.lease(3) {
		if l.Link.URL.Text == "http://a.com/1" {
			s.done(octopus.Accepted, fetched(l, Link("d.com/4", 1)))
		}
	}
	s.reopen()
	s.add(octopus.Known, Link("a.com/1", 0), Link("b.com/2", 3), Link("c.com/3", 0), Link("d.com/4", 1))
	want := map[string]int{"http://b.com/2": 3, "http://c.com/3": 0, "http://d.com/4": 1}
	for _, l := range s.lease(3) {
		if d, ok := want[l.Link.URL.Text]; !ok || d != l.Link.Depth {
			s.Errorf("after reopening: lease of %s at depth %d", l.Link.URL, l.Link.Depth)
		}
		delete(want, l.Link.URL.Text)
	}
	s.empty()
}

func doneAfterReopening(s *subject) {
	s.add(octopus.Queued, Link("a.com/1", 0))
	l := s.lease(1)[0]
	s.reopen()
	s.done(octopus.Accepted, fetched(l))
	s.done(octopus.Stale, fetched(l))
	s.empty()
}
