package article_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"octopus/parse/article"
)

// story is an article between clutter, with the given head and heading.
func story(head, heading string) []byte {
	var b strings.Builder
	b.WriteString("<html><head>" + head + "</head><body><nav class=menu><a href=/>Home</a> <a href=/s>Sport</a> <a href=/p>Politics</a></nav><article>" + heading)
	for i := range 8 {
		fmt.Fprintf(&b, "<p>Sentence number %d says that the old bridge over the river was repaired at last. It took the town two years longer than planned, "+
			"and nobody knows why, as <a href=\"r%d\">the report</a> admits.</p>\n", i, i)
	}
	b.WriteString("</article><aside class=related><a href=/1>Other news one</a> <a href=/2>Other news two</a></aside><footer>Imprint and terms</footer></body></html>")
	return []byte(b.String())
}

const tail = " - The Daily"

func TestMetadata(t *testing.T) {
	for _, tt := range []struct {
		name, head, heading              string
		title, author, date, description string
		titleFrom, dateFrom, authorFrom  string
	}{
		{
			name: "heading confirmed by the title", head: "<title>The bridge is open" + tail + "</title>", heading: "<h1>The bridge is open</h1>",
			title: "The bridge is open", titleFrom: "heading",
		},
		{
			name: "heading of the site", head: `<title>The bridge is open - The Daily</title><meta property=og:site_name content="The Daily">` +
				`<meta property=og:title content="The bridge is open - The Daily">`, heading: "<h1>The Daily</h1>",
			title: "The bridge is open", titleFrom: "og:title",
		},
		{
			name: "json-ld", head: `<title>The bridge is open</title><script type="application/ld+json">{"@graph":[{"@type":"Organization","name":"x"},
{"@type":["NewsArticle"],"author":[{"@type":"Person","name":"Ann Author"},{"name":"Bob Byline"}],"datePublished":"2024-05-06T00:30:00+02:00","description":"All &amp; more"}]}</script>`,
			title: "The bridge is open", author: "Ann Author; Bob Byline", authorFrom: "json-ld", date: "2024-05-06", dateFrom: "metadata", description: "All & more",
		},
		{
			name: "meta", head: `<title>The bridge is open</title><meta name=author content="Ann Author"><meta property="article:published_time" content="2023-01-02T03:04:05Z">
<meta name=description content="What it is about">`,
			title: "The bridge is open", author: "Ann Author", authorFrom: "meta", date: "2023-01-02", dateFrom: "metadata", description: "What it is about",
		},
		{
			name: "the site is no author while there is a person", head: `<title>The bridge is open</title><meta property=og:site_name content="The Daily"><meta name=author content="The Daily">` +
				`<script type="application/ld+json">{"@type":"Article","author":"Ann Author"}</script>`,
			title: "The bridge is open", author: "Ann Author", authorFrom: "json-ld",
		},
		{
			name: "broken json-ld", head: `<title>The bridge is open</title><script type="application/ld+json">{"@type":"Article",</script>`,
			title: "The bridge is open",
		},
	} {
		res := article.Extract(story(tt.head, tt.heading), article.Options{URL: "http://daily.test/a"})
		if res.Title != tt.title || res.Author != tt.author || res.Date != tt.date {
			t.Errorf("%s: title %q author %q date %q\nwant %q %q %q", tt.name, res.Title, res.Author, res.Date, tt.title, tt.author, tt.date)
		}
		for field, want := range map[string]string{"title": tt.titleFrom, "date": tt.dateFrom, "author": tt.authorFrom} {
			if want != "" && res.Sources[field] != want {
				t.Errorf("%s: %s comes from %q, want %q", tt.name, field, res.Sources[field], want)
			}
		}
		want := tt.description
		if want == "" {
			want = "Sentence number 0 says that the old bridge over the river was repaired at last. It took the town two years longer than planned, and nobody knows why, as the report admits."
		}
		if res.Description != want {
			t.Errorf("%s: description %q, want %q", tt.name, res.Description, want)
		}
	}
}

func TestContent(t *testing.T) {
	page := bytes.ReplaceAll(story("<title>The bridge</title>", "<h1>The bridge</h1>"), []byte("<p>"), []byte("<p><a name=p>In short:</a> "))
	res := article.Extract(page, article.Options{URL: "http://daily.test/a/b", Markdown: true})
	if n := strings.Count(res.Text, "Sentence number"); n != 8 {
		t.Errorf("%d paragraphs of 8:\n%s", n, res.Text)
	}
	for _, clutter := range []string{"Sport", "Other news", "Imprint"} {
		if strings.Contains(res.Text, clutter) || strings.Contains(res.Markdown, clutter) {
			t.Errorf("%q is no part of the article:\n%s", clutter, res.Text)
		}
	}
	if !strings.Contains(res.Markdown, "[the report](http://daily.test/a/r3)") {
		t.Errorf("Markdown lacks the link:\n%s", res.Markdown)
	}
	if strings.Contains(res.Markdown, "]()") {
		t.Errorf("Markdown makes a link of a target:\n%s", res.Markdown)
	}
	if res.Language != "en" {
		t.Errorf("language %q, want en", res.Language)
	}
}

// TestNeverEmpty: where a human sees text, there is text.
func TestNeverEmpty(t *testing.T) {
	for _, page := range []string{
		"<p>Short.", "plain words without a tag", "<table><tr><td>a cell</table>", "<ul><li><a href=x>only a link</a></ul>",
		"<body><h1>Only a heading</h1>", "<div hidden>hidden words</div>", strings.Repeat("<div>", 600) + "deep words",
		"<body><p>今天天气很好。", "<frameset><noframes>x</noframes></frameset><p>words",
	} {
		res := article.Extract([]byte(page), article.Options{Markdown: true})
		if page[0] == '<' && strings.HasPrefix(page, "<frameset") {
			continue // the standard drops everything behind a frameset
		}
		if res.Text == "" || res.Markdown == "" {
			t.Errorf("%.60q: text %q, Markdown %q", page, res.Text, res.Markdown)
		}
	}
	if res := article.Extract(nil, article.Options{}); res.Text != "" {
		t.Errorf("an empty page has the text %q", res.Text)
	}
}

func TestPlain(t *testing.T) {
	got := article.Plain([]byte("<head><title>no</title></head><h1>One\n two</h1><p>three <b>f</b>our<br>five<script>no</script><style>no</style><td>six<td>seven&amp;\u200b8"))
	if want := "One two\nthree four\nfive\nsix\nseven&8"; got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestLimit(t *testing.T) {
	page := story("<title>The bridge</title>", "")
	res := article.Extract(page, article.Options{MaxTree: 100, Markdown: true})
	if !strings.Contains(res.Text, "Imprint") || res.Markdown != res.Text {
		t.Errorf("over the limit the plain text is the answer, got %q", res.Text)
	}
}

// The letters of a text tell its language, whatever Latin names it is full of.
func TestLanguageByScript(t *testing.T) {
	for sentence, want := range map[string]string{
		"本章介绍如何安装软件包，例如 apt-get install, dpkg。":                                   "zh",
		"この章ではパッケージの入れ方を apt で説明する。":                                              "ja",
		"이 장에서는 꾸러미를 apt 로 설치하는 방법을 설명합니다.":                                       "ko",
		"This chapter tells how packages are installed by apt, with one 章 in it.": "en",
	} {
		page := "<html><body><article><h1>x</h1>" + strings.Repeat("<p>"+sentence+"</p>", 12) + "</article></body></html>"
		if got := article.Extract([]byte(page), article.Options{}).Language; got != want {
			t.Errorf("language of %q is %q, want %q", sentence, got, want)
		}
	}
}

func FuzzExtract(f *testing.F) {
	f.Add(story("<title>The bridge</title>", "<h1>The bridge</h1>"))
	f.Add([]byte("<table><tr><td><ul><li>a<li><pre>b\nc</pre><img src=javascript:x><a href=data:x>d</a>"))
	f.Fuzz(func(t *testing.T, page []byte) {
		if !utf8.Valid(page) {
			return
		}
		res := article.Extract(page, article.Options{URL: "http://a.test/", Markdown: true})
		for _, s := range []string{res.Text, res.Markdown, res.Title, res.Author, res.Description} {
			if !utf8.ValidString(s) {
				t.Fatalf("%q is not UTF-8", s)
			}
		}
		if strings.Contains(res.Markdown, "](javascript:") || strings.Contains(res.Markdown, "](data:") {
			t.Fatalf("a script in the Markdown: %q", res.Markdown)
		}
	})
}

func BenchmarkExtract(b *testing.B) {
	page := story("<title>The bridge</title>", "<h1>The bridge</h1>")
	for b.Loop() {
		article.Extract(page, article.Options{})
	}
}
