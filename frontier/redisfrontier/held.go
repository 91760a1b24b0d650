package redisfrontier

import (
	"context"
	"time"

	"octopus"
)

// held are the leases that a process was given and has not reported on.
type held struct {
	leases map[octopus.LeaseID]octopus.Lease
	sweep  int // size at which those that ended are looked for
}

// hold notes leases that are handed out.
func (f *Frontier) hold(leases []octopus.Lease) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := &f.held
	if h.leases == nil {
		h.leases = map[octopus.LeaseID]octopus.Lease{}
	}
	if len(h.leases) >= h.sweep {
		now := f.now().Add(-f.offset)
		for id, l := range h.leases {
			if l.Until.Before(now) {
				delete(h.leases, id)
			}
		}
		h.sweep = 2*len(h.leases) + 1024
	}
	for _, l := range leases {
		h.leases[l.ID] = l
	}
}

// drop forgets a lease that was reported on.
func (f *Frontier) drop(id octopus.LeaseID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.held.leases, id)
}

// surrender gives back all leases that are held.
func (f *Frontier) surrender() {
	f.mu.Lock()
	leases := f.held.leases
	f.held.leases = nil
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(f.closed, 5*time.Second)
	defer cancel()
	for _, l := range leases {
		s, err := f.look(ctx, &octopus.Outcome{Lease: l, Deferred: true})
		if err != nil {
			return
		}
		if l.Purpose != octopus.FetchRobots && (s.rec == nil || s.rec.state != stateLeased || s.rec.lease != l.ID) {
			continue // it ended
		}
		if _, err := f.settle(ctx, s); err != nil {
			return
		}
	}
}
