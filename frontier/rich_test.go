package frontier_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"octopus"
	"octopus/frontier"
	"octopus/frontier/frontiertest"
	"octopus/kv"
)

// end leases the next URL and reports a page.
func end(t *testing.T, f *frontier.Frontier, rec *octopus.Record) octopus.Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	leases, err := f.Lease(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	o := octopus.Outcome{Lease: leases[0], Status: 200, End: time.Now(), IP: netip.MustParseAddr("192.0.2.7"), Record: rec}
	if _, err := f.Done(ctx, []octopus.Outcome{o}); err != nil {
		t.Fatal(err)
	}
	return leases[0]
}

// TestRichRecord: what a page said of itself is kept, and told after a restart.
func TestRichRecord(t *testing.T) {
	for name, c := range map[string]struct {
		rec  octopus.Record
		want map[string]string
	}{
		"own summary": {
			octopus.Record{MIME: "text/html", Charset: "gbk", Kind: "data", Author: "Ann", Title: "T", Description: " A  summary\nof it. ", Text: "The text."},
			map[string]string{"type": "data, text/html", "charset": "gbk", "author": "Ann", "abstract": "A summary of it.", "title": "T",
				"URL by IP": "http://192.0.2.7/page", "time to live": "no end: its board has no period for it"},
		},
		"first sentences": {
			octopus.Record{Text: "One is here. Two\nis 3.14 long! " + strings.Repeat("And so on ", 40)},
			map[string]string{"abstract": "One is here. Two is 3.14 long!"},
		},
		"no sentence": {
			octopus.Record{Text: strings.Repeat("\u6587", 300)},
			map[string]string{"abstract": strings.Repeat("\u6587", 66)},
		},
		"nothing": {octopus.Record{}, map[string]string{"status": "200"}},
	} {
		t.Run(name, func(t *testing.T) {
			store := kv.NewMemory()
			for range 2 {
				f, err := frontier.Open(plain(store))
				if err != nil {
					t.Fatal(err)
				}
				link := frontiertest.Link("www.host.com/page", 0)
				if _, err := f.Add(t.Context(), []octopus.Link{link}); err != nil {
					t.Fatal(err)
				}
				if f.Counts().Queued > 0 {
					end(t, f, &c.rec)
				}
				x, err := f.Explain(t.Context(), link.URL)
				if err != nil {
					t.Fatal(err)
				}
				got := map[string]string{}
				for _, fact := range x.Facts {
					got[fact.Name] = fact.Value
				}
				for name, value := range c.want {
					if name == "URL by IP" {
						value = strings.Replace(link.URL.Text, link.URL.Host, "192.0.2.7", 1)
					}
					if got[name] != value {
						t.Errorf("%s is %q, want %q", name, got[name], value)
					}
				}
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestYieldIsDurable: a pattern that brought nothing new is still known to after
// a restart.
func TestYieldIsDurable(t *testing.T) {
	opt := plain(kv.NewMemory())
	opt.Traps.MinYield = 16
	opened := func() *frontier.Frontier {
		f, err := frontier.Open(opt)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := opened()
	var links []octopus.Link
	for i := range 20 {
		links = append(links, frontiertest.Link(fmt.Sprintf("www.host.com/day?n=%d", i), 0))
	}
	if _, err := f.Add(t.Context(), links); err != nil {
		t.Fatal(err)
	}
	for range 16 {
		end(t, f, &octopus.Record{DuplicateOf: "http://www.host.com/"})
	}
	f.Close()
	f = opened()
	defer f.Close()
	last := frontiertest.Link("www.host.com/other/page", 1)
	if _, err := f.Add(t.Context(), []octopus.Link{last}); err != nil {
		t.Fatal(err)
	}
	if l := end(t, f, nil); l.Link.URL.Text != last.URL.Text {
		t.Errorf("%s was leased after the restart, want only %s", l.Link.URL.Text, last.URL.Text)
	}
	if c := f.Counts(); c.Parked != 4 {
		t.Errorf("%d URLs are parked, want 4", c.Parked)
	}
}
