package board_test

import (
	"errors"
	"strings"
	"testing"

	"octopus"
	"octopus/board"
	"octopus/canon"
)

func mustURL(t testing.TB, text string) octopus.URL {
	t.Helper()
	u, err := canon.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func mustCompile(t testing.TB, b octopus.Board) *board.Rules {
	t.Helper()
	r, err := board.Compile(b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Each scope with the same entries and the same URLs.
func TestScopes(t *testing.T) {
	urls := []string{
		"http://www.example.com/docs/index.html", "http://www.example.com/docs/a/b", "https://www.example.com/docs/x",
		"http://www.example.com/documents", "http://www.example.com/", "http://www.example.com:8080/docs/", "http://blog.example.com/",
		"http://example.org/", "http://127.0.0.1/x", "http://127.0.0.1/y", "http://www.example.com./docs/",
	}
	for scope, want := range map[octopus.Scope]string{
		octopus.ScopePage:   "+.......+..",
		octopus.ScopePrefix: "+++.....++.",
		octopus.ScopeHost:   "++++++..+++",
		"":                  "++++++..+++",
		octopus.ScopeDomain: "+++++++.+++",
		octopus.ScopeAny:    "+++++++++++",
	} {
		r := mustCompile(t, octopus.Board{
			Scope: scope, Depth: -1, Entry: []string{"http://www.example.com/docs/index.html?", "http://www.example.com/docs/index.html", "http://127.0.0.1/x"},
		})
		for i, text := range urls {
			d := r.Decide(mustURL(t, text), 5)
			if d.Accept != (want[i] == '+') {
				t.Errorf("scope %q, %s: %+v, want %c", scope, text, d, want[i])
			}
			if !d.Accept && d.Reason != octopus.ReasonScope || d.Rule == "" {
				t.Errorf("scope %q, %s: reason %q, rule %q", scope, text, d.Reason, d.Rule)
			}
		}
	}
}

func TestDecideOrder(t *testing.T) {
	r := mustCompile(t, octopus.Board{
		Entry: []string{"http://example.com/start.pdf"}, Depth: 2,
		Accept: []string{`\.html$`, `/list/`}, Reject: []string{`\.pdf$`, `[?&]print=`}, Article: []string{`/20\d\d/`},
	})
	for _, c := range []struct {
		url   string
		depth int
		want  board.Decision
	}{
		{"http://example.com/start.pdf", 0, board.Decision{Accept: true, Rule: "entry"}},
		{"http://example.com/start.pdf", 1, board.Decision{Reason: "scope", Rule: `reject "\\.pdf$"`}},
		{"http://example.com/a.html", 2, board.Decision{Accept: true, Rule: `accept "\\.html$"`}},
		{"http://example.com/a.html", 3, board.Decision{Reason: "depth", Rule: "deeper than 2"}},
		{"http://example.org/a.html", 3, board.Decision{Reason: "scope", Rule: "outside scope host (example.com)"}},
		{"http://example.com/list/?print=1", 1, board.Decision{Reason: "scope", Rule: `reject "[?&]print="`}},
		{"http://example.com/list/", 1, board.Decision{Accept: true, Rule: `accept "/list/"`}},
		{"http://example.com/2024/a.html", 1, board.Decision{Accept: true, Rule: `accept "\\.html$"`, Lane: octopus.Data, Class: `article "/20\\d\\d/"`}},
		{"http://example.com/other", 1, board.Decision{Reason: "scope", Rule: "no accept pattern matches"}},
	} {
		if got := r.Decide(mustURL(t, c.url), c.depth); got != c.want {
			t.Errorf("%s at %d: %+v, want %+v", c.url, c.depth, got, c.want)
		}
	}
}

func TestDepth(t *testing.T) {
	for depth, want := range map[int]string{0: "+..", 1: "++.", -1: "+++", -7: "+++"} {
		r := mustCompile(t, octopus.Board{Entry: []string{"http://example.com/"}, Depth: depth})
		for i := range want {
			if d := r.Decide(mustURL(t, "http://example.com/x"), i); d.Accept != (want[i] == '+') {
				t.Errorf("limit %d, depth %d: %+v", depth, i, d)
			}
		}
	}
}

func TestCompileErrors(t *testing.T) {
	for _, c := range []struct {
		board octopus.Board
		want  []string
	}{
		{octopus.Board{Name: "n", Accept: []string{"ok", `a(b`}}, []string{`board "n"`, `accept[1]`, `"a(b"`, "missing closing )"}},
		{octopus.Board{Reject: []string{`x[z-a]`}}, []string{`reject[0]`, "character 3", `"z-a"`}},
		{octopus.Board{Accept: []string{`abc(?!def)`}}, []string{"character 4", "no look-around", "reject pattern"}},
		{octopus.Board{Article: []string{`(?<=x)y`}}, []string{"article[0]", "character 1", "no look-around"}},
		{octopus.Board{Accept: []string{`(a)\1`}}, []string{"character 4", "back-references"}},
		{octopus.Board{Accept: []string{`ü\(?=[`}}, []string{"character 6", "missing closing ]"}},
		{octopus.Board{Name: "a\x00b"}, []string{"zero byte"}},
		{octopus.Board{Scope: "galaxy"}, []string{`"galaxy"`, "page, prefix, host, domain, any"}},
		{octopus.Board{Entry: []string{"http://a/", "mailto:x@y"}}, []string{"entry[1]", `"mailto:x@y"`, "not an http or https URL"}},
	} {
		r, err := board.Compile(c.board)
		if err == nil || r != nil {
			t.Errorf("%+v compiles", c.board)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q does not say %q", err, w)
			}
		}
	}
	_, err := board.Compile(octopus.Board{Reject: []string{"", "*"}})
	var pe *board.PatternError
	if !errors.As(err, &pe) || pe.Field != "reject" || pe.Index != 1 || pe.Pattern != "*" || pe.Offset != 0 {
		t.Errorf("%#v", err)
	}
}

func TestEntries(t *testing.T) {
	r := mustCompile(t, octopus.Board{Entry: []string{"HTTP://Example.com#x", "http://example.com/b"}})
	got := r.Entries()
	if len(got) != 2 || got[0] != mustURL(t, "http://example.com/") || got[1] != mustURL(t, "http://example.com/b") {
		t.Errorf("%+v", got)
	}
}

// What is refused costs no allocation: a page may bring thousands of links.
func TestRefusalDoesNotAllocate(t *testing.T) {
	r := mustCompile(t, octopus.Board{Entry: []string{"http://example.com/a/"}, Scope: octopus.ScopePrefix, Depth: 1, Reject: []string{`\.pdf$`}})
	for _, text := range []string{"http://example.org/", "http://example.com/a/b", "http://example.com/a/b.pdf"} {
		u, depth := mustURL(t, text), 1
		if text == "http://example.com/a/b" {
			depth = 2
		}
		if r.Decide(u, depth).Accept {
			t.Fatalf("%s is accepted", text)
		}
		if n := testing.AllocsPerRun(100, func() { r.Decide(u, depth) }); n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	for name, bd := range map[string]octopus.Board{
		"host":     {Entry: []string{"http://example.com/"}, Depth: 3},
		"patterns": {Entry: []string{"http://example.com/"}, Depth: 3, Accept: []string{`^http://example\.com/\d+/.*\.html$`}},
	} {
		b.Run(name, func(b *testing.B) {
			r, u := mustCompile(b, bd), mustURL(b, "http://example.com/2024/some/page.html")
			b.ReportAllocs()
			for b.Loop() {
				r.Decide(u, 1)
			}
		})
	}
}
