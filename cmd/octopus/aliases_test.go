package main

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"octopus"
	"octopus/canon"
	"octopus/frontier"
	"octopus/kv"
)

// TestAliases: hosts are one where the address and the entry page are.
func TestAliases(t *testing.T) {
	f, err := frontier.Open(frontier.Options{Store: kv.NewMemory(), Robots: "ignore", Politeness: frontier.Politeness{HostDelay: -1}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sites := map[string]struct{ ip, digest string }{
		"http://a.test/":       {"192.0.2.1", "sha1:A"},
		"https://www.a.test/":  {"192.0.2.1", "sha1:A"},
		"http://b.test/":       {"192.0.2.1", "sha1:B"}, // another site of the same machine
		"http://mirror.test/":  {"192.0.2.2", "sha1:A"}, // the same page elsewhere
		"http://c.test/":       {"192.0.2.2", ""},
		"http://d.test/inside": {"192.0.2.2", "sha1:A"}, // no entry page
	}
	var links []octopus.Link
	for text := range sites {
		u, err := canon.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		links = append(links, octopus.Link{URL: u, Kind: octopus.Entry})
	}
	if _, err := f.Add(t.Context(), links); err != nil {
		t.Fatal(err)
	}
	for f.Counts().Queued > 0 {
		leases, err := f.Lease(t.Context(), 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range leases {
			s := sites[l.Link.URL.Text]
			o := octopus.Outcome{Lease: l, Status: 200, End: time.Now(), IP: netip.MustParseAddr(s.ip), Digest: s.digest}
			if _, err := f.Done(t.Context(), []octopus.Outcome{o}); err != nil {
				t.Fatal(err)
			}
		}
	}
	all, err := aliases(t.Context(), f)
	if got, want := fmt.Sprint(all), "[{192.0.2.1 sha1:A [a.test www.a.test]}]"; got != want || err != nil {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}
