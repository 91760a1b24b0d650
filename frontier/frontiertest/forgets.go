package frontiertest

import (
	"context"
	"sync"
	"testing"
	"time"

	"octopus"
)

// Seen is a seen set that forgets when it is told to. It serves the options of
// all frontiers.
type Seen struct {
	mu   sync.Mutex
	keys map[octopus.Key]bool // guarded by mu
}

// Add tells which keys are fresh, and keeps them.
func (s *Seen) Add(_ context.Context, _ time.Time, keys []octopus.Key, fresh []bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys == nil {
		s.keys = map[octopus.Key]bool{}
	}
	for i, k := range keys {
		fresh[i] = !s.keys[k]
		s.keys[k] = true
	}
	return nil
}

// Contains tells which keys are known.
func (s *Seen) Contains(_ context.Context, _ time.Time, keys []octopus.Key, known []bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, k := range keys {
		known[i] = s.keys[k]
	}
	return nil
}

// Forget drops every key.
func (s *Seen) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.keys)
}

// Forgets holds a frontier to what it does where its seen set forgets: the page
// is fetched again, whatever the depth it is met at now, and its links count
// anew. open returns an empty frontier that reads links again for a smaller
// depth.
func Forgets(t *testing.T, open func(t *testing.T, seen *Seen) octopus.Frontier) {
	for name, depth := range map[string]int{"deeper": 5, "same": 3, "nearer": 1} {
		t.Run(name, func(t *testing.T) {
			seen := &Seen{}
			s := &subject{T: t, Frontier: open(t, seen)}
			defer s.close()
			s.add(octopus.Queued, Link("a.com/1", 3))
			s.fetch("a.com/1", octopus.FetchPage, Link("a.com/2", 4))
			s.fetch("a.com/2", octopus.FetchPage)
			seen.Forget()
			s.add(octopus.Queued, Link("a.com/1", depth))
			s.fetch("a.com/1", octopus.FetchPage, Link("a.com/2", depth+1))
			s.fetch("a.com/2", octopus.FetchPage)
			s.add(octopus.Known, Link("a.com/1", 0)) // remembered: its links only
			s.fetch("a.com/1", octopus.Relink, Link("a.com/2", 1))
			s.fetch("a.com/2", octopus.Relink)
		})
	}
}

// fetch leases one URL and reports its page with links.
func (s *subject) fetch(url string, purpose octopus.Purpose, links ...octopus.Link) {
	s.Helper()
	l := s.lease(1)[0]
	if l.Link.URL.Key != URL(url).Key || l.Purpose != purpose {
		s.Fatalf("lease of %s, purpose %d; want %s, purpose %d", l.Link.URL, l.Purpose, url, purpose)
	}
	s.done(octopus.Accepted, fetched(l, links...))
}
