package parse_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"octopus"
	"octopus/parse"
)

// known is a parse.Classes that knows the same of all pages.
type known struct {
	parse.Expectation
	learned []string
}

func (k *known) Expect(octopus.Lease) parse.Expectation { return k.Expectation }
func (k *known) Learn(_ octopus.Lease, kind string)     { k.learned = append(k.learned, kind) }

func headlines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<li><a href=/story/%d>A headline that is long enough for a topic, number %d</a> <a href=/s>World</a></li>", i, i)
	}
	return "<ul>" + b.String() + "</ul>"
}

func sentences(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<p>This is sentence %d of the article, which goes on for quite a while, as sentences do. And here is number %d, with commas.</p>", 2*i, 2*i+1)
	}
	return b.String()
}

const sections = "<body><a href=/>Home</a><a href=/world/>World</a><a href=/sport/>Sport</a>"

// TestClassOfPage judges pages of a board by what is known of them, what they
// look like, and what is found in them.
func TestClassOfPage(t *testing.T) {
	none, auto := parse.Expectation{}, parse.Expectation{Extract: true}
	for _, c := range []struct {
		name, url, body string
		known           parse.Expectation
		kind, reason    string // beginning of the reason
		text            bool
		data            int // links for the data lane
		learned         int
	}{
		{"an article", "http://a.test/2024/05/06/of-this.html", "<title>Of this</title><article><h1>Of this</h1>" + sentences(12) + "</article>", auto, "data", "data with p 0.9", true, 0, 1},
		{"no board", "http://a.test/2024/05/06/of-this.html", "<h1>Of this</h1>" + sentences(12), none, "data", "", false, 0, 0},
		{"a list", "http://a.test/world/", sections + headlines(20), auto, "nav", "data with p 0.0", false, 20, 1},
		{"a list, no board", "http://a.test/world/", sections + headlines(20), none, "nav", "", false, 0, 0},
		{"related links of an article", "http://a.test/2024/05/06/of-this.html", "<h1>Of this</h1>" + sentences(30) + headlines(6), auto, "data", "data with p 0.", true, 0, 1},
		{"pattern says data", "http://a.test/x", sections + headlines(20), parse.Expectation{Kind: "data", Reason: `article "x"`, Certain: true, Extract: true}, "data", `article "x"`, true, 0, 0},
		{"pattern says nav", "http://a.test/2024/05/06/of-this.html", "<h1>Of this</h1>" + sentences(12), parse.Expectation{Kind: "nav", Reason: "no article pattern matches", Certain: true, Extract: true}, "nav", "no article", false, 0, 0},
		{"no block, and an article in it", "http://a.test/topics/", sections + strings.Repeat("<a href=/tag>tag</a> ", 20) + sentences(4), auto, "data", "relabelled: it has no large block", true, 0, 1},
		{"no block, and a few words about a shelf", "http://a.test/collections/", sections + strings.Repeat("<li><a href=/p><b>A thing</b></a> for $ 9.99 only, in three colours <a href=/cart>Add</a></li>", 40) + sentences(4), auto, "nav", "data with p 0.0", false, 0, 1},
		{"learned helps where the page tells little", "http://a.test/topics/9", sections + "<p>Short.</p>", parse.Expectation{Kind: "data", Reason: "learned: 9 of 9", Extract: true}, "", "", false, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := &known{Expectation: c.known}
			p, err := parse.New(parse.Options{Classes: k})
			if err != nil {
				t.Fatal(err)
			}
			rec, links, err := p.Parse(t.Context(), fetched(t, c.url, "text/html; charset=utf-8", c.body))
			if err != nil {
				t.Fatal(err)
			}
			data := 0
			for _, l := range links {
				if l.Lane == octopus.Data {
					data++
				}
			}
			if c.kind == "" {
				c.kind, c.reason, c.text = rec.Kind, rec.KindReason, rec.Text != ""
				t.Logf("%s: %s", rec.Kind, rec.KindReason)
			}
			if rec.Kind != c.kind || !strings.HasPrefix(rec.KindReason, c.reason) || (rec.KindReason == "") != (c.reason == "") {
				t.Errorf("%s because %q; want %s because %q", rec.Kind, rec.KindReason, c.kind, c.reason)
			}
			if (rec.Text != "") != c.text || (rec.Markdown != "") != c.text || data != c.data || len(k.learned) != c.learned {
				t.Errorf("text %d bytes, %d links for the data lane, learned %v", len(rec.Text), data, k.learned)
			}
		})
	}
}

// An article that calls another version of itself canonical is a duplicate of
// that; a canonical elsewhere is a claim that is noted, and no more.
func TestVariant(t *testing.T) {
	for _, c := range []struct {
		url, canonical string
		kind           octopus.LinkKind
		original       bool
	}{
		{"http://a.test/2024/05/06/of-this.html?utm_source=x", "http://a.test/2024/05/06/of-this.html", octopus.Anchor, true},
		{"http://a.test/2024/05/06/amp/of-this.html", "http://www.a.test/2024/05/06/of-this.html", octopus.Anchor, true},
		{"http://amp.a.test/2024/05/06/of-this.amp.html", "http://a.test/2024/05/06/of-this.html", octopus.Anchor, true},
		{"http://a.test/2024/05/06/of-this.html", "http://a.test/2024/05/06/of-this.html", octopus.Anchor, false},
		{"http://a.test/2024/05/06/of-this.html", "http://a.test/", octopus.Anchor, false},
		{"http://a.test/2024/05/06/of-this.html?utm_source=x", "http://a.test/2024/05/06/of-this.html", octopus.Redirect, false},
	} {
		p, err := parse.New(parse.Options{Classes: &known{Expectation: parse.Expectation{Extract: true}}})
		if err != nil {
			t.Fatal(err)
		}
		page := fetched(t, c.url, "text/html; charset=utf-8", "<link rel=canonical href="+c.canonical+"><body><h1>Of this</h1>"+sentences(12))
		page.Lease.Link.Kind = c.kind
		rec, links, err := p.Parse(t.Context(), page)
		if err != nil {
			t.Fatal(err)
		}
		if (rec.DuplicateOf == c.canonical) != c.original || rec.DuplicateOf != "" && !c.original || rec.Canonical != c.canonical || rec.Text == "" {
			t.Errorf("%s with canonical %s, met as %c: duplicate of %q, canonical %q", c.url, c.canonical, c.kind, rec.DuplicateOf, rec.Canonical)
		}
		if c.original && (len(links) != 1 || links[0].Kind != octopus.Redirect || links[0].Depth != page.Lease.Link.Depth) {
			t.Errorf("%s: links %+v", c.url, links)
		}
	}
}

// What feeds list goes to the data lane of boards, with the time of its change.
func TestFeedLinks(t *testing.T) {
	p, err := parse.New(parse.Options{Classes: &known{Expectation: parse.Expectation{Extract: true}}})
	if err != nil {
		t.Fatal(err)
	}
	page := fetched(t, "http://a.test/feed", "application/rss+xml", "<rss><channel><item><link>/1</link><pubDate>Sat, 21 Nov 2026 08:30:00 GMT</pubDate></item>"+
		"<item><link>/2</link><pubDate>Sat, 21 Nov 2020 08:30:00 GMT</pubDate></item><item><link>/3</link><pubDate>Mon, 21 Nov 2033 08:30:00 GMT</pubDate></item></channel></rss>")
	at := time.Date(2026, 11, 21, 8, 30, 0, 0, time.UTC)
	page.Start = at.Add(time.Hour)
	_, links, err := p.Parse(t.Context(), page)
	if err != nil || len(links) != 3 {
		t.Fatal(links, err)
	}
	for i, l := range links {
		if want := i == 0; l.Lane != octopus.Data || l.Modified.Equal(at) != want || l.Modified.IsZero() == want {
			t.Errorf("%+v", l)
		}
	}
}
