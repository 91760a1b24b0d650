package webtest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
)

// sitemaps: an index that robots.txt names, and pages that nothing else leads
// to.
func (l lab) sitemaps() {
	a, b, c := l.pages("/hidden/a/", 4), l.pages("/hidden/b/", 4), l.pages("/hidden/c/", 2)
	a = append(a, l.here("/"), l.here("/private/by-sitemap.html"))
	maps := []ref{l.here("/sitemap-a.xml"), l.here("/maps/sitemap-b.xml.gz"), l.here("/sitemap-c.txt")}
	l.page("/private/by-sitemap.html")

	var index, urls strings.Builder
	index.WriteString(`<?xml version="1.0" encoding="UTF-8"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for _, m := range maps {
		fmt.Fprintf(&index, "<sitemap><loc>%s%s</loc><lastmod>2026-11-01</lastmod></sitemap>\n", originMark, m.path)
	}
	index.WriteString("</sitemapindex>\n")
	for _, r := range c {
		fmt.Fprintf(&urls, "%s%s\n", originMark, r.path)
	}
	xml := func(raw string) *resource { return &resource{kind: Other, mime: "application/xml", raw: []byte(raw)} }
	first, packed, text, all := xml(urlset(a)), xml(urlset(b)), xml(urls.String()), xml(index.String())
	first.list, packed.list, text.list, all.maps = a, b, c, maps
	packed.mime, packed.packed = "application/gzip", true
	text.mime = "text/plain"
	l.add(maps[0].path, first)
	l.add(maps[1].path, packed)
	l.add(maps[2].path, text)
	l.add(sitemapPath, all)
}

func urlset(refs []ref) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
	for _, r := range refs {
		fmt.Fprintf(&b, "<url>\n<loc> %s%s </loc><changefreq>daily</changefreq></url>\n", originMark, r.path)
	}
	return b.String() + "</urlset>\n"
}

// feeds: RSS, Atom and JSON Feed, found by link elements, with articles that
// nothing else leads to.
func (l lab) feeds() {
	var links []link
	for _, f := range []struct{ path, mime, head, item, tail string }{
		{"/feeds/rss.xml", "application/rss+xml", `<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>`,
			"<item><title>New</title><link>%s</link></item>", "</channel></rss>"},
		{"/feeds/atom.xml", "application/atom+xml", `<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title>`,
			`<entry><title>New</title><link href="%s"/></entry>`, "</feed>"},
		{"/feeds/feed.json", "application/feed+json", `{"version":"https://jsonfeed.org/version/1.1","title":"News","items":[{"id":"0"}`,
			`,{"id":"%[1]s","url":"%[1]s","content_text":"New"}`, "]}"},
	} {
		items := l.pages(strings.TrimSuffix(f.path, f.path[strings.LastIndexByte(f.path, '.'):])+"/", 3)
		body := f.head
		for _, r := range items {
			body += fmt.Sprintf(f.item, originMark+r.path)
		}
		feed := l.add(f.path, &resource{kind: Other, mime: f.mime, raw: []byte(body + f.tail), list: items})
		links = append(links, link{to: feed, tag: tagFeed, text: f.mime})
	}
	l.enter(l.page("/feeds/index.html", links...))
}

// pack compresses a sitemap, always to the same bytes.
func pack(raw []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(raw) // to memory: cannot fail
	z.Close()
	return b.Bytes()
}
