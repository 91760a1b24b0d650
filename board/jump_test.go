package board_test

import (
	"errors"
	"strings"
	"testing"

	"octopus"
	"octopus/board"
)

func TestJumps(t *testing.T) {
	// As the source prints them: the question mark is not escaped.
	j, notes, err := board.CompileJumps([]string{"https://www.baidu.com/link?url=.+", `https://www\.bing\.com/link\?url=.+`, "/(go|out)/"})
	if err != nil {
		t.Fatal(err)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], `jumpingUrls[0]: "k?url=" makes the "k" optional; "https://www.baidu.com/link\\?url=.+" is matched as well`) {
		t.Errorf("notes %q", notes)
	}
	next := &recorder{}
	g := newGate(t, next, nil,
		octopus.Board{Name: "narrow", Entry: []string{"http://a.test/"}, Depth: 0},
		octopus.Board{Name: "wide", Entry: []string{"http://search.test/"}, Scope: octopus.ScopeAny, Depth: 2, Accept: []string{"^http://news.test/"}})
	g.SetJumps(j)
	for _, c := range []struct {
		url, from string
		depth     int
		want      string // board and kind, or the reason
	}{
		{"https://www.baidu.com/link?url=abc", "wide", 1, "wide J"},
		{"https://www.bing.com/link?url=abc", "wide", 2, "wide J"},
		{"https://www.bing.com/link?url=abc", "wide", 3, "depth"},
		{"https://www.bing.com/link?url=abc", "narrow", 1, "depth"},
		{"https://www.bing.com/link?url=abc", "", 1, "wide J"},
		{"https://www.bing.com/search?q=abc", "wide", 1, "scope"},
		{"http://news.test/go/1", "wide", 1, "wide J"},
		{"http://news.test/1", "wide", 1, "wide L"},
	} {
		next.outcomes, next.links = nil, nil
		_, err := g.Done(t.Context(), []octopus.Outcome{{
			Lease: octopus.Lease{Link: octopus.Link{URL: mustURL(t, "http://search.test/"), Board: c.from}},
			Links: []octopus.Link{{URL: mustURL(t, c.url), Kind: octopus.Anchor, Depth: c.depth}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if links := next.links; len(links) == 1 {
			got = links[0].Board + " " + string(rune(links[0].Kind))
		} else if c.want == "depth" || c.want == "scope" {
			got = c.want
		}
		if got != c.want {
			t.Errorf("%s of board %q at depth %d: %s, want %s", c.url, c.from, c.depth, got, c.want)
		}
	}
	if j := g.Judge(mustURL(t, "https://www.baidu.com/link?url=abc"), 1); len(j) != 1 || !j[0].Accept || !strings.Contains(j[0].Rule, "jumping link") {
		t.Errorf("Judge says %+v", j)
	}
	var bad *board.PatternError
	if _, _, err := board.CompileJumps([]string{"ok", "("}); !errors.As(err, &bad) || bad.Index != 1 {
		t.Errorf("a bad pattern: %v", err)
	}
}
