package node

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"octopus"
	"octopus/board"
	"octopus/canon"
)

// BoardTest tells what boards made of one page: which rules decided what.
type BoardTest struct {
	URL    string      `json:"url"`
	Status int         `json:"status"`
	Error  string      `json:"error,omitempty"`
	Board  string      `json:"board"`
	Kind   string      `json:"kind"`   // nav, data or other
	Reason string      `json:"reason"` // why it is of that kind
	Title  string      `json:"title,omitempty"`
	Links  []LinksTest `json:"links"` // most first
}

// LinksTest counts the links of a page for which the same rule decided.
type LinksTest struct {
	Board   string   `json:"board,omitempty"` // that takes them; empty where none does
	Lane    string   `json:"lane,omitempty"`  // as far as their URLs tell
	Rule    string   `json:"rule"`            // that decided; of refused links one for each board
	Count   int      `json:"count"`
	Example string   `json:"example"`
	URLs    []string `json:"urls"`
}

// TestBoards fetches pages from a URL on as the boards of the configuration
// would have it, keeps nothing, and tells visit what decided. judged is what the
// boards say to the URL itself; where none accepts it, nothing is fetched.
func TestBoards(ctx context.Context, cfg Config, opt Options, url string, pages int, visit func(BoardTest)) (judged []board.Judgement, err error) {
	u, err := canon.Parse(url)
	if err != nil {
		return nil, err
	}
	cfg.Store.Discard, cfg.Output, cfg.Crawl.Watch = true, nil, false
	cfg.Crawl.MaxPages, cfg.Frontier = int64(pages), ""
	cfg.Fetcher.Retry.Max = 0 // somebody waits for the answer
	n, err := Open(cfg, opt)
	if err != nil {
		return nil, err
	}
	defer n.Close()
	gate, err := n.anyGate()
	if err != nil {
		return nil, err
	}
	judged = gate.Judge(u, 0)
	if !slices.ContainsFunc(judged, func(j board.Judgement) bool { return j.Accept }) {
		return judged, nil
	}
	n.only = &u
	var one sync.Mutex // visit is called for one page at a time
	n.observer.record = func(rec *octopus.Record) {
		now, err := n.anyGate() // the run's: it knows what redirects added
		if err != nil {
			return
		}
		t := testOf(now, rec)
		one.Lock()
		defer one.Unlock()
		visit(t)
	}
	_, err = n.Run(ctx, nil)
	return judged, err
}

// testOf judges the links of a page again, to tell the rules.
func testOf(gate *board.Gate, rec *octopus.Record) BoardTest {
	t := BoardTest{URL: rec.URL, Status: rec.Status, Error: cmp.Or(rec.Error, rec.Skip), Board: rec.Board, Kind: rec.Kind,
		Reason: rec.KindReason, Title: rec.Title, Links: []LinksTest{}}
	for _, text := range rec.Links {
		u, err := canon.Parse(text)
		if err != nil {
			continue
		}
		l := linkTest(gate.Judge(u, rec.Depth+1))
		i := slices.IndexFunc(t.Links, func(o LinksTest) bool { return o.Board == l.Board && o.Lane == l.Lane && o.Rule == l.Rule })
		if i < 0 {
			l.Example = text
			t.Links, i = append(t.Links, l), len(t.Links)
		}
		t.Links[i].Count++
		t.Links[i].URLs = append(t.Links[i].URLs, text)
	}
	slices.SortStableFunc(t.Links, func(a, b LinksTest) int { return cmp.Compare(b.Count, a.Count) })
	return t
}

// linkTest tells which board takes a link, or why none does.
func linkTest(judged []board.Judgement) LinksTest {
	var l LinksTest
	for i, j := range judged {
		if j.Accept {
			return LinksTest{Board: j.Board, Lane: j.Lane.String(), Rule: j.Why()}
		}
		if i > 0 {
			l.Rule += "; "
		}
		if len(judged) > 1 {
			l.Rule += j.Board + ": "
		}
		l.Rule += j.Rule
	}
	return l
}

// String tells the test in lines for people.
func (t BoardTest) String() string {
	s := fmt.Sprintf("%d  %-5s  %s\n", t.Status, cmp.Or(t.Kind, "-"), t.URL)
	if t.Error != "" {
		s += "     " + t.Error + "\n"
	}
	if t.Reason != "" {
		s += fmt.Sprintf("     %s because: %s\n", t.Kind, t.Reason)
	}
	for _, l := range t.Links {
		what := "refused"
		if l.Board != "" {
			what = "-> " + l.Board + ", " + l.Lane
		}
		s += fmt.Sprintf("     %4d  %-14s  %s   like %s\n", l.Count, what, l.Rule, l.Example)
	}
	return s
}
