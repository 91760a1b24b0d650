package frontier_test

import (
	"fmt"
	"testing"
	"time"

	"octopus"
	"octopus/canon"
	"octopus/frontier"
	"octopus/kv"
)

// TestRefetch queues visited URLs again, with no validators; it leaves alone what
// waits, and what nobody knows. All holds after a restart too.
func TestRefetch(t *testing.T) {
	opt := plain(kv.NewMemory())
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	opt.Now = func() time.Time { return at }
	f, err := frontier.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	var keys []octopus.Key
	var links []octopus.Link
	for i := range 4 {
		u, err := canon.Parse(fmt.Sprintf("http://a.test/%d", i))
		if err != nil {
			t.Fatal(err)
		}
		keys, links = append(keys, u.Key), append(links, octopus.Link{URL: u, Depth: i})
	}
	stranger, _ := canon.Parse("http://b.test/")
	keys = append(keys, stranger.Key)
	if _, err := f.Add(t.Context(), links[:3]); err != nil {
		t.Fatal(err)
	}
	visit := func(n int) (leases []octopus.Lease) {
		t.Helper()
		for len(leases) < n {
			got, err := f.Lease(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			at = at.Add(time.Second)
			v, err := f.Done(t.Context(), []octopus.Outcome{{Lease: got[0], Stage: octopus.Fetched | octopus.Parsed, Status: 200, ETag: `"x"`, End: at}})
			if err != nil || v[0].Code != octopus.Accepted {
				t.Fatal(v, err)
			}
			leases = append(leases, got...)
		}
		return leases
	}
	visit(3)
	if _, err := f.Add(t.Context(), links[3:]); err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		n, err := f.Refetch(t.Context(), keys)
		if want := []int{3, 0}[round]; n != want || err != nil {
			t.Fatalf("round %d: %d, %v, want %d", round, n, err, want)
		}
		if got := f.Counts(); got.Queued != 4 || got.Known != 4 {
			t.Fatalf("round %d: %+v", round, got)
		}
		if round == 0 {
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if f, err = frontier.Open(opt); err != nil {
				t.Fatal(err)
			}
		}
	}
	defer f.Close()
	at = at.Add(time.Hour)
	for i, l := range visit(4) {
		if l.Link.URL.Text != links[i].URL.Text || l.Link.Depth != i || l.ETag != "" || l.Visit != []uint32{2, 2, 2, 1}[i] {
			t.Errorf("lease %d: %+v", i, l)
		}
	}
}
