package feed_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"octopus/parse/feed"
)

func TestRead(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		kind       feed.Kind
		cut        bool
		want       string
	}{
		{"prefixed sitemap", `<sm:urlset xmlns:sm="x"><sm:url><sm:loc>http://a/</sm:loc></sm:url></sm:urlset>`, feed.Sitemap, false, "http://a/@"},
		{"news sitemap", `<urlset><url><loc>/a</loc><news:news><news:title>t</news:title><news:publication_date>2024</news:publication_date></news:news><lastmod> 2024-01-02 </lastmod></url></urlset>`,
			feed.Sitemap, false, "/a@2024-01-02"},
		{"index", "\uFEFF<?xml version='1.0'?><!-- c > --><sitemapindex><sitemap><loc><![CDATA[/s.xml]]></loc></sitemap></sitemapindex>", feed.Index, false, "/s.xml@"},
		{"rss", `<!DOCTYPE rss><rss><channel><link>/no</link><atom:link href="/no"/><item><link>/a</link><pubDate>Mon</pubDate></item></channel></rss>`, feed.RSS, false, "/a@Mon"},
		{"rss 1.0", `<rdf:RDF><channel><link>/no</link></channel><item><link>/a</link><dc:date>2024</dc:date></item></rdf:RDF>`, feed.RSS, false, "/a@2024"},
		{"rss entities", `<rss><item><link>/a&nbsp;b&amp;c</link></item></rss>`, feed.RSS, false, "/a\u00a0b&c@"},
		{"atom", `<feed><link href="/no"/><entry><link rel="alternate" href="/a"/><link rel="enclosure" href="/no"/><published>1</published><updated>2</updated></entry></feed>`,
			feed.Atom, false, "/a@2"},
		{"json", `{"version":"https://jsonfeed.org/version/1","items":[{"url":"/a","date_published":"1"},{"id":"x"}]}`, feed.JSON, false, "/a@1"},
		{"broken json", `{"version":"https://jsonfeed.org/version/1","items":[{"url":"/a"`, feed.JSON, true, ""},
		{"broken off", `<urlset><url><loc>/a</loc></url><url><loc>/b</l`, feed.Sitemap, true, "/a@"},
		{"wrong nesting", `<urlset><url><loc>/a</url></loc><url><loc>/b</loc></url></urlset>`, feed.Sitemap, false, "/a@ /b@"},
		{"html", `<!DOCTYPE html><html><a href=/>`, feed.None, false, ""},
		{"nothing", ``, feed.None, false, ""},
	} {
		l := feed.Read([]byte(tt.body))
		var got []string
		for _, e := range l.Entries {
			got = append(got, e.URL+"@"+e.Modified)
		}
		if l.Kind != tt.kind || l.Cut != tt.cut || strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v cut %v %q; want %v cut %v %q", tt.name, l.Kind, l.Cut, got, tt.kind, tt.cut, tt.want)
		}
	}
}

func TestBounds(t *testing.T) {
	many := "<urlset>" + strings.Repeat("<url><loc>http://a.test/</loc></url>", feed.MaxEntries+5) + "</urlset>"
	if l := feed.Read([]byte(many)); len(l.Entries) != feed.MaxEntries || !l.Cut {
		t.Errorf("%d entries, cut %v", len(l.Entries), l.Cut)
	}
	long := "<urlset><url><loc>http://a.test/" + strings.Repeat("x", 1<<20) + "</loc></url><url><loc>/b</loc></url></urlset>"
	if l := feed.Read([]byte(long)); len(l.Entries) != 1 || l.Entries[0].URL != "/b" {
		t.Errorf("%d entries, want the short one", len(l.Entries))
	}
	start := time.Now()
	for name, body := range map[string]string{
		"deep":     "<urlset>" + strings.Repeat("<url>", 1<<20),
		"entities": `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><urlset><url><loc>&b;</loc></url></urlset>`,
	} {
		if l := feed.Read([]byte(body)); len(l.Entries) > 1 || name == "deep" && !l.Cut {
			t.Errorf("%s: %d entries, cut %v", name, len(l.Entries), l.Cut)
		}
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("hostile lists took %v", d)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`<?xml version="1.0"?><urlset><url><loc>http://a/</loc><lastmod>2024</lastmod></url></urlset>`))
	f.Add([]byte(`<rss><channel><item><link>a</link><guid isPermaLink="true">http://b</guid></item></channel></rss>`))
	f.Add([]byte(`{"version":"https://jsonfeed.org/version/1","items":[{"url":"/a"}]}`))
	f.Add([]byte("\x1f\x8b\x08\x00\x00"))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, l := range []feed.List{feed.Read(body), feed.Lines(body), feed.Read(feed.Gunzip(body))} {
			for _, e := range l.Entries {
				if e.URL == "" || !utf8.ValidString(e.URL) || e.URL != strings.TrimSpace(e.URL) {
					t.Fatalf("entry %+v", e)
				}
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	var s strings.Builder
	s.WriteString("<urlset>")
	for i := range 1000 {
		fmt.Fprintf(&s, "<url><loc>http://host.test/page/%d.html</loc><lastmod>2024-01-01</lastmod></url>\n", i)
	}
	s.WriteString("</urlset>")
	b.SetBytes(int64(s.Len()))
	for b.Loop() {
		feed.Read([]byte(s.String()))
	}
}

// Times are read as lists write them, and news sitemaps as what they are.
func TestTimes(t *testing.T) {
	want := time.Date(2026, 11, 21, 8, 30, 0, 0, time.UTC)
	for _, text := range []string{"2026-11-21T08:30:00Z", "2026-11-21T10:30:00+02:00", "Sat, 21 Nov 2026 08:30:00 GMT", "Sat, 21 Nov 2026 03:30:00 -0500", "2026-11-21T08:30Z", "2026-11-21 08:30:00"} {
		if got, ok := (feed.Entry{Modified: text}).Time(); !ok || !got.Equal(want) {
			t.Errorf("%s: %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "yesterday", "0001-01-01T00:00:00Z"} {
		if got, ok := (feed.Entry{Modified: text}).Time(); ok {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
	l := feed.Read([]byte(`<urlset><url><loc>/a</loc><news:news><news:publication><news:name>P</news:name></news:publication><news:publication_date>2026-11-21</news:publication_date></news:news></url><url><loc>/b</loc><lastmod>2026-11-20</lastmod></url></urlset>`))
	if len(l.Entries) != 2 || l.Entries[0] != (feed.Entry{URL: "/a", Modified: "2026-11-21", News: true}) || l.Entries[1] != (feed.Entry{URL: "/b", Modified: "2026-11-20"}) {
		t.Errorf("news sitemap: %+v", l.Entries)
	}
}
