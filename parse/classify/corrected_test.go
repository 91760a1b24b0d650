package classify_test

import (
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"octopus"
	"octopus/canon"
	"octopus/parse"
	"octopus/parse/classify"
)

// boardPages expects nothing but that pages are extracted, as on a board without
// patterns that knows nothing yet.
type boardPages struct{}

func (boardPages) Expect(octopus.Lease) parse.Expectation { return parse.Expectation{Extract: true} }
func (boardPages) Learn(octopus.Lease, string)            {}

// TestCorrectedOnUnseenSites scores what records say of pages: the judgement by
// looks, corrected by what extraction finds. The looks are judged without the
// page's site; the extraction that corrects them knows these pages.
func TestCorrectedOnUnseenSites(t *testing.T) {
	if os.Getenv("OCTOPUS_LONG") == "" {
		t.Skip("OCTOPUS_LONG is not set")
	}
	p, err := parse.New(parse.Options{Classes: boardPages{}, NoFingerprint: true})
	if err != nil {
		t.Fatal(err)
	}
	var looks, all classify.Table
	sets := map[string]*classify.Table{}
	classify.Unseen(t, 2, func(set, url string, body []byte, data bool) {
		u, err := canon.Parse(url)
		if err != nil {
			return // a page without URL is none of a crawl
		}
		page := &octopus.Page{Lease: octopus.Lease{Link: octopus.Link{URL: u}}, Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: body}
		rec, _, err := p.Parse(t.Context(), page)
		if err != nil {
			t.Fatal(err)
		}
		says := rec.Kind == classify.Data
		looks.Add(data, says != strings.HasPrefix(rec.KindReason, "relabelled"))
		all.Add(data, says)
		if sets[set] == nil {
			sets[set] = &classify.Table{}
		}
		sets[set].Add(data, says)
	})
	for _, set := range slices.Sorted(maps.Keys(sets)) {
		t.Log(set, *sets[set])
	}
	t.Log("by looks alone", looks)
	t.Log("corrected", all)
	if all.Macro() < 0.9 {
		t.Errorf("macro F1 %.3f on unseen sites, want 0.9", all.Macro())
	}
}
