package frontier

import (
	"context"
	"fmt"
	"testing"
	"time"

	"octopus"
	"octopus/frontier/frontiertest"
	"octopus/kv"
)

// TestManyHosts adds URLs of far more hosts than may be in memory, all of them
// due: memory is bounded, and every URL is handed out once.
func TestManyHosts(t *testing.T) {
	const hosts, limit, step = 12_000, 5000, 500
	f, err := Open(Options{Store: kv.NewMemory(), HostLimit: limit, Robots: "ignore", Politeness: Politeness{HostDelay: -1}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	bounded := func() {
		t.Helper()
		f.mu.Lock()
		defer f.mu.Unlock()
		if n := len(f.core.ring); n > limit+4*step {
			t.Fatalf("%d hosts are in memory, %d allowed", n, limit)
		}
	}
	for i := 0; i < hosts; i += step {
		var links []octopus.Link
		for j := range step {
			for _, page := range []string{"a", "b"} {
				links = append(links, frontiertest.Link(fmt.Sprintf("host%d.test/%s", i+j, page), 0))
			}
		}
		if _, err := f.Add(ctx, links); err != nil {
			t.Fatal(err)
		}
		bounded()
	}
	met := map[octopus.Key]bool{}
	for len(met) < 2*hosts {
		leases, err := f.Lease(ctx, step)
		if err != nil {
			t.Fatalf("%v after %d URLs of %d; %s", err, len(met), 2*hosts, f.Waiting())
		}
		var outcomes []octopus.Outcome
		for _, l := range leases {
			if met[l.Link.URL.Key] {
				t.Fatalf("%s came twice", l.Link.URL.Text)
			}
			met[l.Link.URL.Key] = true
			outcomes = append(outcomes, octopus.Outcome{Lease: l, Status: 200, End: time.Now()})
		}
		if _, err := f.Done(ctx, outcomes); err != nil {
			t.Fatal(err)
		}
		bounded()
	}
}

// TestRefillAfterMove: between the turn that asks for a refill and the reading of
// the queue, the only URL there moves in front of where the reading was to begin.
func TestRefillAfterMove(t *testing.T) {
	store := kv.NewMemory()
	start := func() *Frontier {
		f, err := Open(Options{Store: store, Robots: "ignore", Politeness: Politeness{HostDelay: -1}})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := start()
	if _, err := f.Add(t.Context(), []octopus.Link{frontiertest.Link("a.test/x", 5)}); err != nil {
		t.Fatal(err)
	}
	f.Close()
	f = start() // the host and its queue are in the store only
	defer f.Close()
	if _, err := f.serve(Turn{Cold: true}); err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	f.core.advance(f.opt.Now().Add(time.Minute))
	asked := f.core.refills(1, nil)
	f.mu.Unlock()
	if len(asked) != 1 {
		t.Fatalf("%d refills are asked for", len(asked))
	}
	if _, err := f.Add(t.Context(), []octopus.Link{frontiertest.Link("a.test/x", 1)}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.serve(Turn{Refills: asked}); err != nil {
		t.Fatal(err)
	}
	leases, err := f.Lease(t.Context(), 1)
	if err != nil || len(leases) != 1 || leases[0].Link.Depth != 1 {
		t.Fatalf("%v, %v", leases, err)
	}
}

// TestFrontIsBounded: URLs that go before those in memory take their place there; what
// is in memory does not grow with the number of URLs that wait.
func TestFrontIsBounded(t *testing.T) {
	const hosts, depths, limit = 30, 20, 50
	f, err := Open(Options{Store: kv.NewMemory(), QueueLimit: limit, Robots: "ignore", Politeness: Politeness{HostDelay: -1}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for depth := depths; depth > 0; depth-- {
		var links []octopus.Link
		for host := range hosts {
			links = append(links, frontiertest.Link(fmt.Sprintf("host%d.test/%d", host, depth), depth))
		}
		if _, err := f.Add(t.Context(), links); err != nil {
			t.Fatal(err)
		}
	}
	f.mu.Lock()
	n := f.core.inMemory
	f.mu.Unlock()
	if n > limit {
		t.Errorf("%d of %d URLs are in memory, %d allowed", n, hosts*depths, limit)
	}
	for done := 0; done < hosts*depths; {
		leases, err := f.Lease(t.Context(), limit)
		if err != nil {
			t.Fatal(err)
		}
		var outcomes []octopus.Outcome
		for _, l := range leases {
			outcomes = append(outcomes, octopus.Outcome{Lease: l, Status: 200, End: time.Now()})
		}
		if _, err := f.Done(t.Context(), outcomes); err != nil {
			t.Fatal(err)
		}
		done += len(leases)
	}
}
