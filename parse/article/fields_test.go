package article_test

import (
	"slices"
	"strings"
	"testing"

	"octopus/parse/article"
)

func TestAuthorIsCleaned(t *testing.T) {
	for byline, want := range map[string]string{
		"By Ann Author":                "Ann Author",
		"Von: Anna Autorin":            "Anna Autorin",
		"Auteur Anna Autrice":          "Anna Autrice",
		"'Ann Author'":                 "Ann Author",
		"Ann Author (Content Manager)": "Ann Author",
		"Ann Author• ":                 "Ann Author",
		"Ann Author | The Daily":       "Ann Author",
		"Ann Author- 2025/4/29":        "Ann Author",
		"Ann Author December":          "Ann Author",
		"作者：张三":                        "张三",
		"Byron Author":                 "Byron Author",
		"By":                           "",
		"August":                       "",
		"User":                         "",
		"https://daily.test/ann":       "",
		strings.Repeat("a sentence about nobody ", 10): "",
	} {
		res := article.Extract(story(`<title>The bridge is open</title><meta name=author content="`+byline+`">`, "<h1>The bridge is open</h1>"), article.Options{})
		if res.Author != want {
			t.Errorf("%q: %q, want %q", byline, res.Author, want)
		}
	}
}

func TestSeveralAuthors(t *testing.T) {
	res := article.Extract(story(`<meta name=citation_author content="Ann Author"><meta name=citation_author content="Bob Byline">`, "<h1>The bridge</h1>"), article.Options{})
	if res.Author != "Ann Author; Bob Byline" {
		t.Errorf("author %q", res.Author)
	}
}

func TestImageAndTags(t *testing.T) {
	ld := `<script type="application/ld+json">{"@type":"Article","image":[{"url":"/ld.png"}],"keywords":["Bridge","Town"]}</script>`
	for name, c := range map[string]struct{ head, body, image, tags string }{
		"meta":       {`<meta property=og:image content="/og.png"><meta property=article:tag content=Bridge><meta property=article:tag content=River>` + ld, "", "/og.png", "Bridge River"},
		"json-ld":    {ld, "", "/ld.png", "Bridge Town"},
		"keywords":   {`<meta name=keywords content="bridge, river，桥">`, "", "", "bridge river 桥"},
		"tag links":  {"", `<p>Filed under <a rel="tag nofollow" href=/t/1>Bridge</a> <a rel=tag href=/t/2>River</a></p>`, "", "Bridge River"},
		"in article": {"", `<img src=/icon.png width=16><img src="data:image/gif;base64,x" data-src=/lazy.jpg width=800>`, "/lazy.jpg", ""},
	} {
		// The pictures stand between paragraphs of the article.
		page := strings.Replace(string(story(c.head, "<h1>The bridge is open</h1>")), "<p>Sentence number 3", c.body+"<p>Sentence number 3", 1)
		res := article.Extract([]byte(page), article.Options{})
		if res.Image != c.image || !slices.Equal(res.Tags, strings.Fields(c.tags)) {
			t.Errorf("%s: image %q, tags %q; want %q, %q", name, res.Image, res.Tags, c.image, c.tags)
		}
	}
}
