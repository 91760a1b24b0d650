package parse_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/simplifiedchinese"

	"octopus"
	"octopus/canon"
	"octopus/parse"
)

func mustURL(t testing.TB, text string) octopus.URL {
	t.Helper()
	u, err := canon.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func newParser(t testing.TB, opt parse.Options) *parse.Parser {
	t.Helper()
	p, err := parse.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fetched returns a page as the fetcher hands it over.
func fetched(t testing.TB, url, contentType, body string) *octopus.Page {
	t.Helper()
	h := http.Header{}
	if contentType != "" {
		h.Set("Content-Type", contentType)
	}
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return &octopus.Page{
		Lease: octopus.Lease{Visit: 1, Link: octopus.Link{URL: mustURL(t, url), Kind: octopus.Entry, Depth: 2}},
		Start: start, End: start.Add(250 * time.Millisecond),
		Status: 200, Header: h, Body: []byte(body),
	}
}

func do(t testing.TB, p *parse.Parser, page *octopus.Page) (*octopus.Record, []octopus.Link) {
	t.Helper()
	rec, links, err := p.Parse(context.Background(), page)
	if err != nil {
		t.Fatal(err)
	}
	return rec, links
}

func urls(links []octopus.Link) []string {
	var out []string
	for _, l := range links {
		out = append(out, l.URL.Text)
	}
	return out
}

const ordinary = `<!DOCTYPE html><html lang="en-GB"><head>
<title> A  Title &amp; more </title>
<META NAME="Description" CONTENT="What it is about"><meta name=author content="Ann Author">
<meta property="article:published_time" content="2024-05-06T07:08:09Z">
<meta name="robots" content="NoArchive">
<link rel="canonical" href="/canonical"><link rel=stylesheet href=s.css><link rel=next href="?page=2">
<base href="/dir/"></head><body>
<a href="one?a=1&amp;b=2#frag">1</a> <A HREF='one?a=1&b=2'>again</A>
<a href="#top">top</a> <a href="http://host.test/page">self</a> <a href="mailto:x@y">m</a>
<a href="javascript:void(0)">j</a> <a href=" two
">2</a> <map><area href="../three"></map> <iframe src="//other.test/four"></iframe>
<a rel="nofollow ugc" href="five">5</a>
<img src=a.png srcset="b.png 2x"><script src=x.js></script>
<script>document.write("<a href='/never'>")</script><!-- <a href="/comment"> --></body></html>`

func TestOrdinaryPage(t *testing.T) {
	p := newParser(t, parse.Options{})
	rec, links := do(t, p, fetched(t, "http://host.test/page", "text/html; charset=utf-8", ordinary))

	want := []string{
		"http://host.test/canonical", "http://host.test/dir/?page=2", "http://host.test/dir/one?a=1&b=2", "http://host.test/dir/two",
		"http://host.test/three", "http://other.test/four", "http://host.test/dir/five",
	}
	if got := urls(links); !slices.Equal(got, want) {
		t.Errorf("links\n got %q\nwant %q", got, want)
	}
	if !slices.Equal(rec.Links, want) {
		t.Errorf("record's links %q, want the same as offered", rec.Links)
	}
	for _, l := range links {
		if l.Depth != 3 || l.Hop != 0 || l.Kind != octopus.Anchor || l.Via != "http://host.test/page" {
			t.Errorf("link %+v: want depth 3, hop 0, kind L, via the page", l)
		}
	}
	got := fmt.Sprint(rec.Title, "|", rec.Description, "|", rec.Author, "|", rec.Published, "|", rec.Language, "|", rec.Canonical,
		"|", rec.Robots, "|", rec.Assets, "|", rec.MIME, "|", rec.Charset, "|", rec.FetchMS, "|", rec.Depth, "|", rec.Path, "|", rec.V)
	const wantRec = "A Title & more|What it is about|Ann Author|2024-05-06T07:08:09Z|en|http://host.test/canonical" +
		"|[noarchive]|3|text/html|utf-8|250|2|E|1"
	if got != wantRec {
		t.Errorf("record\n got %s\nwant %s", got, wantRec)
	}
	if rec.Text != "" || rec.Markdown != "" {
		t.Error("text was extracted though nobody asked")
	}
}

func TestSkipNofollow(t *testing.T) {
	p := newParser(t, parse.Options{SkipNofollow: true})
	_, links := do(t, p, fetched(t, "http://host.test/page", "text/html", ordinary))
	for _, u := range urls(links) {
		if strings.HasSuffix(u, "five") {
			t.Errorf("%s is rel=nofollow", u)
		}
	}
	if len(links) != 6 {
		t.Errorf("%d links, want the 6 others", len(links))
	}
}

func TestRedirect(t *testing.T) {
	p := newParser(t, parse.Options{})
	page := fetched(t, "http://host.test/old", "text/html", `<a href="/body">here</a>`)
	page.Status, page.Location, page.Lease.Link.Hop = 302, "../new#x", 4
	rec, links := do(t, p, page)
	if len(links) != 1 {
		t.Fatalf("links %v, want the target alone", urls(links))
	}
	l := links[0]
	if l.URL.Text != "http://host.test/new" || l.Depth != 2 || l.Hop != 5 || l.Kind != octopus.Redirect || l.Via != "http://host.test/old" {
		t.Errorf("link %+v", l)
	}
	if rec.FinalURL != "http://host.test/new" || !slices.Equal(rec.Links, []string{"http://host.test/new"}) {
		t.Errorf("final_url %q links %q", rec.FinalURL, rec.Links)
	}
	page.Location = "ftp://host.test/"
	if rec, links = do(t, p, page); len(links) != 0 || !strings.HasPrefix(rec.Error, "protocol: ") {
		t.Errorf("redirect to ftp: links %v error %q, want none and the reason", urls(links), rec.Error)
	}
}

func TestNoLinksFromErrors(t *testing.T) {
	p := newParser(t, parse.Options{})
	for _, status := range []int{304, 404, 500} {
		page := fetched(t, "http://host.test/", "text/html", ordinary)
		page.Status = status
		if rec, links := do(t, p, page); len(links) != 0 || rec.Status != status {
			t.Errorf("status %d: links %v", status, urls(links))
		}
	}
	page := fetched(t, "http://host.test/", "", "")
	page.Status, page.Err = 0, &octopus.Error{Op: "fetch", Kind: octopus.KindTimeout}
	if rec, _ := do(t, p, page); !strings.HasPrefix(rec.Error, "timeout: ") {
		t.Errorf("error %q, want its kind first", rec.Error)
	}
}

func TestRobotsDirectives(t *testing.T) {
	const link = `<body><a href="/x">x</a>`
	tests := []struct {
		name   string
		meta   string
		header []string
		links  int
		robots string
	}{
		{"nothing said", "", nil, 1, "[]"},
		{"meta nofollow", `<meta name="ROBOTS" content="index, NOFOLLOW">`, nil, 0, "[index nofollow]"},
		{"meta none", `<meta content=none name=robots>`, nil, 0, "[none]"},
		{"meta for us", `<meta name=Octopus content=nofollow>`, nil, 0, "[nofollow]"},
		{"meta for others", `<meta name=googlebot content=nofollow>`, nil, 1, "[]"},
		{"noindex only", `<meta name=robots content=noindex>`, nil, 1, "[noindex]"},
		{"header", "", []string{"noindex, nofollow"}, 0, "[noindex nofollow]"},
		{"header for us", "", []string{"octopus: nofollow"}, 0, "[nofollow]"},
		{"header for others", "", []string{"googlebot: nofollow, noindex"}, 1, "[]"},
		{"two headers", "", []string{"otherbot: none", "noarchive"}, 1, "[noarchive]"},
		{"others, then us", "", []string{"otherbot: none, octopus: noindex"}, 1, "[noindex]"},
		{"date", "", []string{"unavailable_after: 25 Jun 2030 15:00:00 PST"}, 1, "[unavailable_after: 25 jun 2030 15:00:00 pst]"},
		{"value", "", []string{"max-snippet: 20, nofollow"}, 0, "[max-snippet: 20 nofollow]"},
		{"union", `<meta name=robots content=noindex>`, []string{"nofollow"}, 0, "[nofollow noindex]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			page := fetched(t, "http://host.test/", "text/html", tt.meta+link)
			page.Header["X-Robots-Tag"] = tt.header
			rec, links := do(t, newParser(t, parse.Options{}), page)
			if len(links) != tt.links || fmt.Sprint(rec.Robots) != tt.robots {
				t.Errorf("%d links, robots %v; want %d, %s", len(links), rec.Robots, tt.links, tt.robots)
			}
			_, links = do(t, newParser(t, parse.Options{IgnoreRobots: true}), page)
			if len(links) != 1 {
				t.Errorf("%d links with IgnoreRobots, want 1", len(links))
			}
		})
	}
}

func TestRefreshAndFrames(t *testing.T) {
	p := newParser(t, parse.Options{})
	for body, want := range map[string]string{
		`<meta http-equiv="Refresh" content="0; URL='next.html'">`:               "http://host.test/d/next.html",
		`<meta http-equiv=refresh content="5;url=/a">`:                           "http://host.test/a",
		`<meta http-equiv=refresh content="3">`:                                  "",
		`<frameset><frame src=left.html></frameset>`:                             "http://host.test/d/left.html",
		`<noscript><a href="/plain">x</a></noscript>`:                            "http://host.test/plain",
		`<title>x</title><svg><title>y</title><a xlink:href="/in"></a></svg>`:    "http://host.test/in",
		`<a href="/a&copy=1">`:                                                   "http://host.test/a&copy=1",
		`<a href="/&eacute;">`:                                                   "http://host.test/%C3%A9",
		`<link rel="alternate" hreflang="de" href="/de">`:                        "http://host.test/de",
		`<link rel="alternate" type="application/json+oembed" href="/oembed">`:   "",
		`<link rel="alternate" type="application/rss+xml" href="/feed">`:         "http://host.test/feed",
		`<link rel="canonical" href="http://elsewhere.test/">`:                   "",
		`<link rel="shortcut icon" href="/i"><link rel=preload href=/p as=font>`: "",
	} {
		_, links := do(t, p, fetched(t, "http://host.test/d/page", "text/html", body))
		if got := strings.Join(urls(links), " "); got != want {
			t.Errorf("%s\n got %q\nwant %q", body, got, want)
		}
	}
}

func TestMaxLinks(t *testing.T) {
	p := newParser(t, parse.Options{MaxLinks: 10})
	var b strings.Builder
	for i := range 25 {
		fmt.Fprintf(&b, "<a href=/%d>", i)
	}
	_, links := do(t, p, fetched(t, "http://host.test/", "text/html", b.String()))
	if len(links) != 10 || links[9].URL.Text != "http://host.test/9" {
		t.Errorf("links %v, want the first ten", urls(links))
	}
	if p.Dropped() != 15 {
		t.Errorf("%d dropped, want 15", p.Dropped())
	}
}

func TestCharset(t *testing.T) {
	gbk, err := simplifiedchinese.GBK.NewEncoder().String("<title>新闻标题：中文网页</title><a href='/新'>链接</a>")
	if err != nil {
		t.Fatal(err)
	}
	p := newParser(t, parse.Options{})
	for _, contentType := range []string{"text/html; charset=gb2312", "text/html"} {
		body := gbk
		if contentType == "text/html" {
			body = "<meta charset=gbk>" + gbk
		}
		rec, links := do(t, p, fetched(t, "http://host.test/", contentType, body))
		if rec.Title != "新闻标题：中文网页" || rec.Charset != "gbk" || len(links) != 1 || links[0].URL.Text != "http://host.test/%E6%96%B0" {
			t.Errorf("%s: title %q charset %q links %v", contentType, rec.Title, rec.Charset, urls(links))
		}
	}
}

func TestSitemapsAndFeeds(t *testing.T) {
	const urlset = `<?xml version="1.0" encoding="GBK"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="i">
<url><loc> http://host.test/a?x=1&amp;y=2 </loc><image:image><image:loc>http://host.test/i.png</image:loc></image:image></url>
<url><loc>http://host.test/b</loc><lastmod>2024-01-01</lastmod></url></urlset>`
	const rss = `<rss version="2.0"><channel><link>http://host.test/</link><item><title>t</title><link>http://host.test/a</link>
<guid isPermaLink="false">77</guid></item><item><guid>http://host.test/b</guid></item></channel></rss>`
	const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://host.test/"/><entry><link rel="edit" href="/e"/><link href="/a"/></entry></feed>`
	const jsonFeed = `{"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1", "url": "http://host.test/a"}]}`
	const index = `<sitemapindex><sitemap><loc>http://host.test/s1.xml.gz</loc></sitemap></sitemapindex>`
	var packed bytes.Buffer
	zw := gzip.NewWriter(&packed)
	zw.Write([]byte(urlset))
	zw.Close()

	tests := []struct {
		name, url, contentType, body string
		depth, hop                   int
		want                         string
	}{
		{"urlset", "/sitemap.xml", "application/xml", urlset, 1, 0, "http://host.test/a?x=1&y=2 http://host.test/b"},
		{"urlset as html", "/sitemap.xml", "text/html", urlset, 1, 0, "http://host.test/a?x=1&y=2 http://host.test/b"},
		{"gz", "/sitemap.xml.gz", "application/x-gzip", packed.String(), 1, 0, "http://host.test/a?x=1&y=2 http://host.test/b"},
		{"gz as octets", "/s?f=1", "application/octet-stream", packed.String(), 1, 0, "http://host.test/a?x=1&y=2 http://host.test/b"},
		{"index", "/sitemap.xml", "text/xml", index, 0, 1, "http://host.test/s1.xml.gz"},
		{"lines", "/sitemap.txt", "text/plain", "http://host.test/a\r\nnothing\nhttp://host.test/b\n", 1, 0, "http://host.test/a http://host.test/b"},
		{"rss", "/feed", "application/rss+xml; charset=utf-8", rss, 1, 0, "http://host.test/a http://host.test/b"},
		{"atom", "/feed", "application/atom+xml", atom, 1, 0, "http://host.test/a"},
		{"json feed", "/feed.json", "application/json", jsonFeed, 1, 0, "http://host.test/a"},
		{"broken off", "/sitemap.xml", "application/xml", urlset[:strings.Index(urlset, "<lastmod")], 1, 0, "http://host.test/a?x=1&y=2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			page := fetched(t, "http://host.test"+tt.url, tt.contentType, tt.body)
			page.Lease.Link.Kind, page.Lease.Link.Depth = octopus.Sitemap, 0
			rec, links := do(t, newParser(t, parse.Options{}), page)
			if got := strings.Join(urls(links), " "); got != tt.want {
				t.Errorf("links\n got %q\nwant %q", got, tt.want)
			}
			for _, l := range links {
				if l.Kind != octopus.Sitemap || l.Depth != tt.depth || l.Hop != tt.hop {
					t.Errorf("link %+v: want kind S, depth %d, hop %d", l, tt.depth, tt.hop)
				}
			}
			if rec.Kind != "other" {
				t.Errorf("kind %q, want other", rec.Kind)
			}
		})
	}
}

func TestMediaTypes(t *testing.T) {
	p := newParser(t, parse.Options{})
	for _, tt := range []struct {
		contentType, body, media string
		links                    int
	}{
		{"", "<!DOCTYPE html><a href=/x>", "text/html", 1},
		{"text/html; charset=\"broken", "<a href=/x>", "text/html", 1},
		{"application/xhtml+xml", "<html><a href='/x'/></html>", "application/xhtml+xml", 1},
		{"application/xml", "<?xml version='1.0'?><html><a href='/x'/></html>", "application/xml", 1},
		{"application/pdf", "%PDF <a href=/x>", "application/pdf", 0},
		{"text/plain", "<a href=/x>", "text/plain", 0},
		{"", "\x89PNG\r\n\x1a\n", "image/png", 0},
		{"", "", "", 0},
	} {
		rec, links := do(t, p, fetched(t, "http://host.test/", tt.contentType, tt.body))
		if rec.MIME != tt.media || len(links) != tt.links {
			t.Errorf("%q %q: type %q with %d links, want %q with %d", tt.contentType, tt.body, rec.MIME, len(links), tt.media, tt.links)
		}
	}
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := newParser(t, parse.Options{}).Parse(ctx, fetched(t, "http://host.test/", "text/html", ordinary)); err == nil {
		t.Error("no error though the context had ended")
	}
}

func TestBadOptions(t *testing.T) {
	if _, err := parse.New(parse.Options{MaxLinks: -1}); err == nil || !strings.Contains(err.Error(), "MaxLinks") {
		t.Errorf("error %v, want one that names MaxLinks", err)
	}
}
