package frontier_test

import (
	"maps"
	"testing"

	"octopus"
	"octopus/canon"
	"octopus/frontier"
	"octopus/kv"
)

// TestParked counts what is set aside in this run, by reason.
func TestParked(t *testing.T) {
	opt := plain(kv.NewMemory())
	opt.HostQuota = 2
	want := func(f *frontier.Frontier, want map[string]int64) {
		t.Helper()
		if got := f.Parked(); !maps.Equal(got, want) {
			t.Errorf("parked %v, want %v", got, want)
		}
	}
	f, err := frontier.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	want(f, map[string]int64{})
	var links []octopus.Link
	for _, text := range []string{"http://a.test/x/x/x/x", "http://a.test/1", "http://a.test/2", "http://a.test/3"} {
		u, err := canon.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		links = append(links, octopus.Link{URL: u})
	}
	if _, err := f.Add(t.Context(), links); err != nil {
		t.Fatal(err)
	}
	want(f, map[string]int64{octopus.ReasonTrap: 1, octopus.ReasonQuota: 2})
	if _, err := f.Drop(t.Context(), frontier.Filter{}); err != nil {
		t.Fatal(err)
	}
	want(f, map[string]int64{octopus.ReasonTrap: 1, octopus.ReasonQuota: 2, frontier.ReasonDropped: 1})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if f, err = frontier.Open(opt); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want(f, map[string]int64{})
}
