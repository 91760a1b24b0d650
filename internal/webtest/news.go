package webtest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// NewsOptions shape a news site.
type NewsOptions struct {
	Seed  uint64
	Start time.Time // of the days; a day and a half of older articles is there then
	Days  int       // how long articles go on to appear; default 7
	Daily int       // articles a day; default 40
}

// News is a news site that goes on: articles appear all day long on the front
// page, on the pages of their section and day, in a feed and in sitemaps. One in
// five is edited later, one in twenty taken away. It serves what is there at
// time.Now, which may be virtual, for the host news.test.
//
// All methods may be called by many goroutines at once.
type News struct {
	opt      NewsOptions
	text     *textbook
	articles []Article // by time of publication
	byPath   map[string]*Article

	mu  sync.Mutex
	log []Request // guarded by mu
}

// Article is one article and what becomes of it.
type Article struct {
	Path      string
	Title     string
	Author    string
	Section   string
	Published time.Time
	Edited    time.Time // zero: never
	Removed   time.Time // zero: never
	number    int
}

// newsOrigin begins all URLs of the site.
const newsOrigin = "http://news.test"

var sections = strings.Fields("world politics business science sport")

// Numbers of articles on the lists.
const (
	onFront   = 20
	onSection = 15
	inFeed    = 20
)

// NewNews returns a site. Everything follows from its options.
func NewNews(opt NewsOptions) *News {
	setDefault(&opt.Days, 7)
	setDefault(&opt.Daily, 40)
	n := &News{opt: opt, text: newTextbook(opt.Seed), byPath: map[string]*Article{}}
	const before = 36 * time.Hour
	span := before + time.Duration(opt.Days)*24*time.Hour
	r := newRng(opt.Seed, 'n')
	for i := range int(span.Hours() * float64(opt.Daily) / 24) {
		n.articles = append(n.articles, n.write(r, i, opt.Start.Add(time.Duration(r.float()*float64(span))-before)))
	}
	slices.SortFunc(n.articles, func(a, b Article) int { return a.Published.Compare(b.Published) })
	for i := range n.articles {
		n.byPath[n.articles[i].Path] = &n.articles[i]
	}
	return n
}

// write makes article i.
func (n *News) write(r *rng, i int, at time.Time) Article {
	word := func(list []string) string { return list[r.intn(len(list))] }
	at = at.UTC().Truncate(time.Second)
	adjective, noun, verb := word(adjectives), word(nouns), word(verbs)
	a := Article{
		Path:  fmt.Sprintf("/%s/the-%s-%s-%s-%d.html", at.Format("2006/01/02"), adjective, noun, verb, i),
		Title: fmt.Sprintf("The %s %s %s: story %d", adjective, noun, verb, i), Author: word(names) + " " + word(families),
		Section: word(sections), Published: at, number: i,
	}
	if r.intn(5) == 0 {
		a.Edited = at.Add(10*time.Minute + time.Duration(r.intn(600))*time.Minute)
	}
	if r.intn(20) == 0 {
		a.Removed = at.Add(10*time.Minute + time.Duration(r.intn(1440))*time.Minute)
	}
	return a
}

// Entry returns the URL of the front page.
func (n *News) Entry() string { return newsOrigin + "/" }

// there returns the articles that are there at now and that pick wants, newest
// first, at most so many.
func (n *News) there(now time.Time, most int, pick func(*Article) bool) (list []*Article) {
	end, _ := slices.BinarySearchFunc(n.articles, now, func(a Article, t time.Time) int { return cmp.Or(a.Published.Compare(t), -1) })
	for i := end - 1; i >= 0 && len(list) < most; i-- {
		if a := &n.articles[i]; (a.Removed.IsZero() || a.Removed.After(now)) && pick(a) {
			list = append(list, a)
		}
	}
	return list
}

func all(*Article) bool { return true }

// ServeHTTP answers a request, and logs it.
func (n *News) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	start := time.Now()
	status, mime, body := n.answer(req.URL.Path, start)
	w.Header().Set("Content-Type", mime)
	if status == http.StatusOK && !strings.HasPrefix(req.URL.Path, "/section/") { // those know no validators
		tag := fmt.Sprintf(`"%x"`, hashOf(body))
		w.Header().Set("ETag", tag)
		if req.Header.Get("If-None-Match") == tag {
			status, body = http.StatusNotModified, ""
		}
	}
	n.mu.Lock()
	n.log = append(n.log, Request{Start: start, End: time.Now(), Host: req.Host, Path: req.URL.Path, Status: status, UserAgent: req.UserAgent(), Length: len(body)})
	n.mu.Unlock()
	w.WriteHeader(status)
	w.Write([]byte(body)) // an error means that the client went away
}

// hashOf is FNV-1a.
func hashOf(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}

// answer returns what is at a path at now.
func (n *News) answer(path string, now time.Time) (status int, mime, body string) {
	const html = "text/html; charset=utf-8"
	if a := n.byPath[path]; a != nil {
		switch {
		case a.Published.After(now):
			return http.StatusNotFound, html, "<title>Not found</title>"
		case !a.Removed.IsZero() && !a.Removed.After(now):
			return http.StatusGone, html, "<title>Gone</title>"
		}
		return http.StatusOK, html, n.story(a, now)
	}
	if body = n.list(path, now); body == "" {
		return http.StatusNotFound, html, "<title>Not found</title>"
	}
	switch {
	case strings.HasSuffix(path, ".txt"):
		mime = "text/plain"
	case strings.HasSuffix(path, ".xml"):
		mime = "application/xml"
	default:
		mime = html
	}
	return http.StatusOK, mime, body
}

// list returns what is no article; empty where there is nothing.
func (n *News) list(path string, now time.Time) string {
	switch path {
	case "/robots.txt":
		return "User-agent: *\nDisallow: /search\nSitemap: " + newsOrigin + "/sitemap.xml\n"
	case "/sitemap.xml":
		return `<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>` + newsOrigin + "/sitemap-news.xml</loc></sitemap></sitemapindex>"
	case "/sitemap-news.xml":
		return n.sitemap(now)
	case "/feed.xml":
		return n.feed(now)
	case "/":
		return n.front(now)
	}
	if name, ok := strings.CutPrefix(path, "/section/"); ok && slices.Contains(sections, name) {
		return n.page("News of "+name, n.there(now, onSection, func(a *Article) bool { return a.Section == name }), "")
	}
	if day, ok := strings.CutPrefix(path, "/archive/"); ok {
		at, err := time.Parse(time.DateOnly, day)
		if err == nil && slices.Contains(n.days(now), day) {
			return n.page("All news of "+day, n.there(now, len(n.articles), func(a *Article) bool { return a.Published.Truncate(24 * time.Hour).Equal(at) }), "")
		}
	}
	return ""
}

// days returns the days that have a page of their own at now.
func (n *News) days(now time.Time) (days []string) {
	for at := n.articles[0].Published.Truncate(24 * time.Hour); !at.After(now); at = at.Add(24 * time.Hour) {
		days = append(days, at.Format(time.DateOnly))
	}
	return days
}

func (n *News) front(now time.Time) string {
	var b strings.Builder
	b.WriteString("<h2>The days</h2><ul>\n")
	for _, day := range n.days(now) {
		fmt.Fprintf(&b, "<li><a href=\"/archive/%s\">%s</a></li>\n", day, day)
	}
	b.WriteString("</ul>\n")
	return n.page("The daily news", n.there(now, onFront, all), b.String())
}

// page writes a list of articles.
func (n *News) page(title string, list []*Article, more string) string {
	var b strings.Builder
	n.head(&b, title, "")
	b.WriteString("<ul class=\"headlines\">\n")
	for _, a := range list {
		fmt.Fprintf(&b, "<li><h3><a href=\"%s\">%s</a></h3></li>\n", a.Path, a.Title)
	}
	b.WriteString("</ul>\n" + more + "</body></html>\n")
	return b.String()
}

func (n *News) head(b *strings.Builder, title, meta string) {
	fmt.Fprintf(b, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title>%s\n", title, meta)
	b.WriteString("<link rel=\"alternate\" type=\"application/rss+xml\" href=\"/feed.xml\"></head><body>\n<nav><ul><li><a href=\"/\">Home</a></li>")
	for _, s := range sections {
		fmt.Fprintf(b, "<li><a href=\"/section/%s\">%s</a></li>", s, s)
	}
	fmt.Fprintf(b, "</ul></nav>\n<h1>%s</h1>\n", title)
}

// story writes an article, with links to three older ones.
func (n *News) story(a *Article, now time.Time) string {
	var b strings.Builder
	stamp := a.Published.Format(time.RFC3339)
	n.head(&b, a.Title, fmt.Sprintf("<meta property=\"og:type\" content=\"article\"><meta property=\"article:published_time\" content=\"%s\"><meta name=\"author\" content=\"%s\">", stamp, a.Author))
	fmt.Fprintf(&b, "<p class=\"byline\">By %s, <time datetime=\"%s\">%s</time></p>\n<article>\n", a.Author, stamp, a.Published.Format("2 January 2006, 15:04"))
	r := newRng(n.opt.Seed, uint64(a.number), 'p')
	for range 5 + r.intn(6) {
		fmt.Fprintf(&b, "<p>%s</p>\n", n.text.paragraphs[r.intn(len(n.text.paragraphs))])
	}
	if !a.Edited.IsZero() && !a.Edited.After(now) {
		b.WriteString("<p>This article was corrected after it was published.</p>\n")
	}
	b.WriteString("</article>\n<h2>More</h2><ul>\n")
	older := n.there(a.Published.Add(-time.Second), 3, func(o *Article) bool { return o.Section == a.Section && o.Removed.IsZero() })
	for _, o := range older {
		fmt.Fprintf(&b, "<li><a href=\"%s\">%s</a></li>\n", o.Path, o.Title)
	}
	b.WriteString("</ul></body></html>\n")
	return b.String()
}

func (n *News) feed(now time.Time) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><rss version="2.0"><channel><title>The daily news</title><link>` + newsOrigin + "/</link>\n")
	for _, a := range n.there(now, inFeed, all) {
		fmt.Fprintf(&b, "<item><title>%s</title><link>%s%s</link><pubDate>%s</pubDate></item>\n", a.Title, newsOrigin, a.Path, a.Published.Format(time.RFC1123Z))
	}
	return b.String() + "</channel></rss>\n"
}

// sitemap lists the articles of the last two days, as news sitemaps do.
func (n *News) sitemap(now time.Time) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
	for _, a := range n.there(now, len(n.articles), func(a *Article) bool { return now.Sub(a.Published) < 48*time.Hour }) {
		changed := a.Published
		if !a.Edited.IsZero() && !a.Edited.After(now) {
			changed = a.Edited
		}
		fmt.Fprintf(&b, "<url><loc>%s%s</loc><lastmod>%s</lastmod></url>\n", newsOrigin, a.Path, changed.Format(time.RFC3339))
	}
	return b.String() + "</urlset>\n"
}
