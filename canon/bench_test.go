package canon_test

import (
	"testing"

	"octopus"
	"octopus/canon"
)

// links is what a page of a news site holds.
var links = []string{
	"https://www.example.com/2024/05/17/world/europe/some-long-headline-of-an-article.html",
	"/section/politics", "../images/", "?page=2", "#top", "mailto:editor@example.com",
	"https://www.facebook.com/sharer/sharer.php?u=x", "javascript:void(0)", "archive/2023/index.html?sort=asc",
	"//cdn.example.net/a/b/c.css",
}

func BenchmarkParseAbsolute(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := canon.Parse(links[0]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPage resolves the links of a page; the figure is per link.
func BenchmarkPage(b *testing.B) {
	base, err := canon.Parse("https://www.example.com/2024/05/17/index.html")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var page canon.Base
	for i := 0; b.Loop(); i++ {
		if i%200 == 0 {
			page.Reset(base)
		}
		page.Resolve(links[i%len(links)])
	}
}

// BenchmarkText is the canonical text alone, the key apart.
func BenchmarkText(b *testing.B) {
	for _, way := range []struct {
		name string
		text func(*canon.Base, string) (string, bool)
	}{
		{"fast", func(p *canon.Base, s string) (string, bool) { t, ok, _ := p.Fast(s); return t, ok }},
		{"standard", func(p *canon.Base, s string) (string, bool) { t, err := p.Standard(s); return t, err == nil }},
	} {
		b.Run(way.name, func(b *testing.B) {
			page := canon.NewBase(octopus.URL{})
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := way.text(page, links[0]); !ok {
					b.Fatal("not plain")
				}
			}
		})
	}
}

func BenchmarkSURT(b *testing.B) {
	u, err := canon.Parse(links[0])
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		canon.SURT(u)
	}
}
