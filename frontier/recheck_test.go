package frontier_test

import (
	"context"
	"testing"
	"time"

	"octopus"
	"octopus/frontier"
	"octopus/frontier/frontiertest"
	"octopus/kv"
)

// TestRecheckOfLeased: a page that is being visited while its board is rechecked
// may bring an old answer; it is handed out again as soon as it is done.
func TestRecheckOfLeased(t *testing.T) {
	f, err := frontier.Open(frontier.Options{
		Store: kv.NewMemory(), Robots: "ignore", Politeness: frontier.Politeness{HostDelay: -1},
		Boards: func(string) frontier.BoardRules {
			return frontier.BoardRules{Periods: frontier.Periods{Refresh: time.Hour}}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	link := frontiertest.Link("a.test/", 0)
	link.Board = "news"
	if _, err := f.Add(t.Context(), []octopus.Link{link}); err != nil {
		t.Fatal(err)
	}
	for _, board := range []string{"other", "news"} {
		leases, err := f.Lease(t.Context(), 1)
		if err != nil || len(leases) != 1 {
			t.Fatalf("%v, %v", leases, err)
		}
		if n, err := f.Recheck(t.Context(), board, false); n != 0 || err != nil {
			t.Fatalf("recheck of %s: %d, %v", board, n, err)
		}
		done := []octopus.Outcome{{Lease: leases[0], Status: 200, End: time.Now()}}
		if _, err := f.Done(t.Context(), done); err != nil {
			t.Fatal(err)
		}
		if board == "news" {
			break
		}
		if n, err := f.Recheck(t.Context(), "news", true); n != 1 || err != nil { // it waits for its hour
			t.Fatalf("recheck: %d, %v", n, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	leases, err := f.Lease(ctx, 1)
	if err != nil || len(leases) != 1 || leases[0].Visit != 3 {
		t.Fatalf("%v, %v", leases, err)
	}
}
