package parse_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"octopus/parse"
)

// story is a page with an article between the usual clutter.
func story() string {
	var b strings.Builder
	b.WriteString(`<html lang=en><head><title>Bridge reopens - The Daily</title><meta name=author content="Ann Author">
<script type="application/ld+json">{"@type":"NewsArticle","headline":"Bridge reopens","datePublished":"2024-05-06T07:08:09Z"}</script>
</head><body><nav><ul><li><a href=/>Home</a><li><a href=/sport>Sport</a></ul></nav><article><h1>Bridge reopens</h1>`)
	for i := range 8 {
		fmt.Fprintf(&b, "<p>Paragraph number %d tells how the old bridge over the river was repaired, who paid for the work, "+
			"and why it took the town <b>two</b> years longer than planned. See <a href=\"more/%d.html\">the report</a>.</p>\n", i, i)
	}
	b.WriteString(`<p><a href="javascript:alert(1)">Click</a> me, &lt;script&gt;alert(2)&lt;/script&gt; said nobody in this long paragraph of the article.</p>
</article><footer>Imprint, terms and all that</footer></body></html>`)
	return b.String()
}

func TestInspect(t *testing.T) {
	in, err := newParser(t, parse.Options{}).Inspect([]byte(story()), "http://daily.test/news/bridge.html", "")
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(in.Title, "|", in.Author, "|", in.Date, "|", in.Language, "|", in.Kind, "|", in.Charset)
	if want := "Bridge reopens|Ann Author|2024-05-06|en|data|windows-1252"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if !strings.Contains(in.Text, "Paragraph number 7") || strings.Contains(in.Text, "Imprint") || strings.Contains(in.Text, "Sport") {
		t.Errorf("text %q: want the article and nothing else", in.Text)
	}
	if len(in.Links) != 10 {
		t.Errorf("%d links, want 10: %v", len(in.Links), in.Links)
	}
	if !strings.Contains(in.Markdown, "](http://daily.test/news/more/7.html)") {
		t.Errorf("markdown lacks the absolute link:\n%s", in.Markdown)
	}
	if strings.Contains(in.Markdown, "javascript:") || strings.Contains(in.Markdown, "<script>") {
		t.Errorf("markdown carries a script:\n%s", in.Markdown)
	}
	js, err := json.Marshal(in)
	if err != nil || strings.Contains(string(js), "null") {
		t.Errorf("JSON %s, error %v: want lists, not null", js, err)
	}
}

func TestInspectWithoutURL(t *testing.T) {
	p := newParser(t, parse.Options{})
	in, err := p.Inspect([]byte(`<a href=/rel>r</a><a href=http://a.test/>a</a>`), "", "")
	if err != nil || len(in.Links) != 1 || in.Links[0] != "http://a.test/" {
		t.Errorf("links %v, error %v: want the absolute one", in.Links, err)
	}
	if in, err = p.Inspect([]byte(story()), "nonsense", ""); err == nil || in.Title == "" {
		t.Errorf("bad URL: error %v, title %q; want an error and all the same the title", err, in.Title)
	}
}

func TestTextOnlyWhereAsked(t *testing.T) {
	for _, opt := range []parse.Options{{}, {Text: true}, {Markdown: true}, {Text: true, Markdown: true}} {
		rec, _ := do(t, newParser(t, opt), fetched(t, "http://daily.test/a", "text/html", story()))
		if (rec.Text != "") != opt.Text || (rec.Markdown != "") != opt.Markdown {
			t.Errorf("%+v: %d bytes of text, %d of Markdown", opt, len(rec.Text), len(rec.Markdown))
		}
	}
}

// hostile are pages made to cost memory or time, of about n bytes each.
func hostile(n int) map[string]string {
	rep := func(s string) string { return strings.Repeat(s, n/len(s)+1) }
	return map[string]string{
		"unclosed formatting":  rep("<p><b><i><u>x"),
		"deep div":             rep("<div>") + "<a href=/found>x</a>",
		"490 deep, then p":     strings.Repeat("<div>", 490) + rep("<p>x"),
		"deep tables":          rep("<table><tr><td>"),
		"deep svg":             rep("<svg>"),
		"deep template":        rep("<template>"),
		"deep lists":           rep("<ul><li>"),
		"attributes":           "<a " + rep("a1=b ") + ">x",
		"attribute without =":  "<a " + rep("x ") + ">x",
		"long attribute":       "<a href=\"" + rep("x") + "\">x",
		"unclosed quote":       rep("<a href=\""),
		"unclosed comment":     rep("<!-- "),
		"dashes":               "<!--" + rep("-"),
		"less than":            rep("<"),
		"end tags":             rep("</"),
		"entities":             "<a href=\"" + rep("&amp;&#38;&x") + "\">",
		"script starts":        rep("<script><!--<script>"),
		"titles":               rep("<title>"),
		"links":                rep("<a href=/x>y</a>"),
		"different links":      numbered(n),
		"metas":                rep("<meta name=robots content=a,b,c>"),
		"refresh":              rep("<meta http-equiv=refresh content='0;url=x'>"),
		"rel words":            "<a href=x rel='" + rep("a ") + "'>",
		"zero bytes":           rep("\x00"),
		"high bytes":           rep("\xFF\xFE\x80"),
		"plain text":           rep("word and word. "),
		"paragraphs of spaces": rep("<p>          </p>"),
		"json-ld":              rep(`<script type="application/ld+json">{"@graph":[[[[`),
	}
}

func numbered(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "<a href=/%d>", i)
	}
	return b.String()
}

// TestHostile holds every page made to hurt to a time that no honest page of
// its size needs either, a hundred times over: what is not linear takes hours.
// The small size
// stays below the limits from which on no tree is built; the largest is for
// OCTOPUS_LONG.
func TestHostile(t *testing.T) {
	p := newParser(t, parse.Options{})
	full := newParser(t, parse.Options{Text: true, Markdown: true})
	sizes := []int{64 << 10, 256 << 10}
	if os.Getenv("OCTOPUS_LONG") != "" {
		sizes = append(sizes, 2<<20)
	}
	for _, size := range sizes {
		for name, body := range hostile(size) {
			t.Run(fmt.Sprint(name, " ", size), func(t *testing.T) {
				page := fetched(t, "http://host.test/", "text/html", body)
				start := time.Now()
				_, links := do(t, p, page)
				if d := time.Since(start); d > 20*time.Second {
					t.Errorf("links of %d bytes took %v", len(body), d)
				}
				if name == "deep div" && len(links) != 1 {
					t.Errorf("links %v: the one below all elements is lost", urls(links))
				}
				start = time.Now()
				rec, _ := do(t, full, page)
				if d := time.Since(start); d > 2*time.Minute {
					t.Errorf("text of %d bytes took %v", len(body), d)
				} else if d > time.Second {
					t.Logf("text in %v", d)
				}
				if !utf8.ValidString(rec.Text) || !utf8.ValidString(rec.Markdown) || !utf8.ValidString(rec.Title) {
					t.Error("result is not UTF-8")
				}
			})
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(ordinary), "text/html; charset=utf-8")
	f.Add([]byte(`<?xml version="1.0"?><urlset><url><loc>http://a.test/</loc></url></urlset>`), "application/xml")
	f.Add([]byte("<meta charset=utf-16><base href=//[><a href='\xff'>"), "text/html")
	f.Add([]byte("\x1f\x8b\x08\x00"), "application/gzip")
	p := newParser(f, parse.Options{MaxLinks: 50})
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		before := bytes.Clone(body)
		page := fetched(t, "http://host.test/dir/page?q", "", "")
		page.Header.Set("Content-Type", contentType)
		page.Body = body
		rec, links := do(t, p, page)
		if !bytes.Equal(body, before) {
			t.Fatal("the body was changed; it belongs to the fetcher")
		}
		if len(links) > 50 && rec.Kind != "other" || len(links) != len(rec.Links) {
			t.Fatalf("%d links, record has %d", len(links), len(rec.Links))
		}
		met := map[string]bool{"http://host.test/dir/page?q": true}
		for _, l := range links {
			if met[l.URL.Text] || l.URL.Site == "" || !utf8.ValidString(l.URL.Text) {
				t.Fatalf("link %+v: offered twice, to itself, or without a site", l.URL)
			}
			met[l.URL.Text] = true
		}
		for _, s := range []string{rec.Title, rec.Description, rec.Author, rec.MIME} {
			if !utf8.ValidString(s) {
				t.Fatalf("%q is not UTF-8", s)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	var s strings.Builder
	s.WriteString("<html><head><title>t</title></head><body>")
	for i := range 40 {
		fmt.Fprintf(&s, "<p class=\"para\">%s <a href=\"/section/%d/page-%d.html\">link</a>.</p>\n", strings.Repeat("lorem ipsum dolor sit amet, ", 16), i%7, i)
	}
	page := fetched(b, "http://host.test/section/0/page-0.html", "text/html; charset=utf-8", s.String())
	p := newParser(b, parse.Options{})
	b.SetBytes(int64(s.Len()))
	b.ReportAllocs()
	for b.Loop() {
		do(b, p, page)
	}
}

func BenchmarkInspect(b *testing.B) {
	p := newParser(b, parse.Options{})
	body := []byte(story())
	for b.Loop() {
		if _, err := p.Inspect(body, "http://daily.test/news/bridge.html", ""); err != nil {
			b.Fatal(err)
		}
	}
}
