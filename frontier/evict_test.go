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
