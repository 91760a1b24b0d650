package classify_test

import (
	"strings"
	"testing"

	"octopus/parse/classify"
	"octopus/parse/scan"
)

func TestPage(t *testing.T) {
	article := "<title>Why the old bridge over the river was closed for so long</title><meta property=og:type content=article><h1>Why the old bridge was closed</h1>" +
		strings.Repeat("<p>"+strings.Repeat("A sentence of some length, with a comma and a stop. ", 6)+"</p>", 12)
	list := "<title>News</title><ul>" + strings.Repeat("<li><h3><a href=/x><img src=i>A headline of some length here</a></h3>", 60) + "</ul><a href='?page=2'>2</a>"
	for _, tt := range []struct{ html, url, want, reason string }{
		{article, "http://a.test/2024/05/06/why-the-old-bridge-was-closed.html", classify.Data, "data with p "},
		{article, "", classify.Data, "data with p "},
		{list, "http://a.test/category/news/", classify.Nav, "data with p 0.0"},
		{list, "", classify.Nav, "data with p 0."},
	} {
		var p scan.Page
		p.Scan([]byte(tt.html))
		j := classify.Page(&p, tt.url)
		if j.Kind != tt.want || !strings.HasPrefix(j.Reason(), tt.reason) || strings.Count(j.Reason(), ";") != 3 {
			t.Errorf("%.30q %s: %s because %s, want %s", tt.html, tt.url, j.Kind, j.Reason(), tt.want)
		}
	}
}

func BenchmarkPage(b *testing.B) {
	var p scan.Page
	p.Scan([]byte(strings.Repeat("<p>some text <a href=/x/y/z>and a link</a>", 200)))
	for b.Loop() {
		classify.Page(&p, "http://a.test/2024/05/06/a-story.html")
	}
}
