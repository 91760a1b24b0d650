package webtest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"octopus/canon"
	"octopus/internal/webtest"
	"octopus/robots"
)

// walker crawls with net/http and x/net/html only. It knows nothing of how the
// web is made; URLs are compared in canonical form.
type walker struct {
	t      *testing.T
	client *http.Client
	depth  int // 0: no limit
	agent  string

	answers map[string]*answer
	rules   map[string]*robots.Group // by origin
	best    map[string]cost
	todo    []string
	denied  map[string]bool
	dead    map[string]bool
}

type answer struct {
	status   int
	body     []byte
	title    string
	links    []string // followed one level deeper
	onward   []string // followed at the same depth, one hop more
	requests int
}

type cost struct{ depth, hop int }

func newWalker(t *testing.T, web *webtest.Web, depth int) *walker {
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, web.ResolverAddr())
	}}
	dialer := &net.Dialer{Resolver: resolver, Timeout: 5 * time.Second}
	tr := &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 2}
	t.Cleanup(tr.CloseIdleConnections)
	return &walker{t: t, depth: depth, agent: "octopus",
		client:  &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		answers: map[string]*answer{}, rules: map[string]*robots.Group{}, best: map[string]cost{}, denied: map[string]bool{}, dead: map[string]bool{}}
}

// walk visits everything within reach of the entries.
func (w *walker) walk(entries []string) {
	for _, e := range entries {
		w.offer(e, cost{})
	}
	for len(w.todo) > 0 {
		u := w.todo[0]
		w.todo = w.todo[1:]
		c := w.best[u]
		a := w.answers[u]
		if a == nil {
			a = w.ask(u)
			w.answers[u] = a
		}
		for _, l := range a.onward {
			w.offer(l, cost{c.depth, c.hop + 1})
		}
		for _, l := range a.links {
			w.offer(l, cost{c.depth + 1, 0})
		}
	}
}

func (w *walker) offer(u string, c cost) {
	if c.hop > 10 || w.depth > 0 && c.depth > w.depth || w.dead[u] {
		return
	}
	old, met := w.best[u]
	if met && !(c.depth < old.depth || c.depth == old.depth && c.hop < old.hop) {
		return
	}
	rules, alive := w.robots(u)
	if !alive {
		w.dead[u] = true
		return
	}
	if !rules.Check(robots.Normalize(u)).Allowed {
		w.denied[u] = true
		return
	}
	w.best[u] = c
	w.todo = append(w.todo, u)
}

// robots returns the rules for a URL; alive is false where its host does not
// answer.
func (w *walker) robots(u string) (rules *robots.Group, alive bool) {
	origin := u[:len("http://")+strings.IndexByte(u[len("http://"):], '/')]
	if g, known := w.rules[origin]; known {
		return g, g != nil
	}
	at, body := origin+"/robots.txt", []byte(nil)
	for range 8 {
		resp, b, err := w.get(at)
		if err != nil {
			w.rules[origin] = nil
			return nil, false
		}
		if resp.StatusCode == 302 {
			at = mustResolve(w.t, at, resp.Header.Get("Location"))
			continue
		}
		if resp.StatusCode == 200 {
			body = b
		}
		if resp.StatusCode < 500 {
			break
		}
	}
	file := robots.Parse(body)
	w.rules[origin] = file.For(w.agent)
	for _, s := range file.Sitemaps() {
		w.offer(s, cost{})
	}
	return w.rules[origin], true
}

func mustResolve(t *testing.T, base, ref string) string {
	b, err := canon.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	u, err := canon.Resolve(b, ref)
	if err != nil {
		return ""
	}
	return u.Text
}

func (w *walker) get(u string) (*http.Response, []byte, error) {
	req, err := http.NewRequest("GET", u, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.URL = &url.URL{Scheme: req.URL.Scheme, Host: req.URL.Host, Opaque: u[len("http://"+req.URL.Host):]} // as it is
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, body, err
}

// ask fetches a page, again as often as it fails, and reads its links.
func (w *walker) ask(u string) *answer {
	a := &answer{}
	for a.requests < 5 {
		a.requests++
		resp, body, err := w.get(u)
		if err != nil || resp.StatusCode == 429 || resp.StatusCode >= 500 {
			continue
		}
		a.status, a.body = resp.StatusCode, body
		w.read(u, resp, body, a)
		return a
	}
	w.t.Errorf("%s failed %d times", u, a.requests)
	return a
}

var (
	loc      = regexp.MustCompile(`<loc>\s*(.*?)\s*</loc>|<link>(.*?)</link>|<link href="(.*?)"|"url":"(.*?)"`)
	lineURLs = regexp.MustCompile(`(?m)^(http\S+)$`)
)

func (w *walker) read(u string, resp *http.Response, body []byte, a *answer) {
	add := func(list *[]string, base, href string) {
		if to := mustResolve(w.t, base, href); to != "" && to != u {
			*list = append(*list, to)
		}
	}
	if resp.StatusCode/100 == 3 {
		if to := resp.Header.Get("Location"); to != "" {
			add(&a.onward, u, to)
		}
		return
	}
	if resp.StatusCode != 200 {
		return
	}
	mime := resp.Header.Get("Content-Type")
	if mime == "" {
		mime = http.DetectContentType(body)
	}
	switch {
	case strings.Contains(mime, "html"):
		if x := resp.Header.Get("X-Robots-Tag"); x != "nofollow" {
			w.readHTML(u, mime, body, a, add)
		}
	case strings.HasSuffix(u, ".gz"):
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			w.t.Fatal(err)
		}
		body, _ = io.ReadAll(z)
		fallthrough
	case strings.Contains(mime, "xml"), strings.Contains(mime, "feed"):
		list := &a.links
		if bytes.Contains(body, []byte("<sitemapindex")) {
			list = &a.onward
		}
		for _, m := range loc.FindAllSubmatch(body, -1) {
			add(list, u, string(bytes.Join(m[1:], nil)))
		}
	case strings.Contains(u, "sitemap"):
		for _, m := range lineURLs.FindAllSubmatch(body, -1) {
			add(&a.links, u, string(m[1]))
		}
	}
}

// readHTML reads title and links off a tree.
func (w *walker) readHTML(u, mime string, body []byte, a *answer, add func(*[]string, string, string)) {
	r, err := charset.NewReader(bytes.NewReader(body), mime)
	if err != nil {
		w.t.Fatal(err)
	}
	doc, err := html.ParseWithOptions(r, html.ParseOptionEnableScripting(false))
	if err != nil {
		w.t.Fatal(err)
	}
	base, nofollow := u, false
	var links []string
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		at := map[string]string{}
		for _, x := range n.Attr {
			at[x.Key] = x.Val
		}
		switch n.Data {
		case "title":
			a.title = n.FirstChild.Data
		case "base":
			base = mustResolve(w.t, u, at["href"])
		case "a", "area":
			if href, ok := at["href"]; ok {
				links = append(links, href)
			}
		case "iframe", "frame":
			links = append(links, at["src"])
		case "link":
			if at["rel"] == "next" || at["rel"] == "alternate" {
				links = append(links, at["href"])
			}
		case "meta":
			name, content := at["name"], strings.ToLower(at["content"])
			if (name == "robots" || name == w.agent) && (strings.Contains(content, "nofollow") || content == "none") {
				nofollow = true
			}
			if at["http-equiv"] == "refresh" {
				_, to, _ := strings.Cut(at["content"], "url=")
				links = append(links, strings.Trim(to, "'"))
			}
		}
	}
	for _, l := range links {
		if !nofollow {
			add(&a.links, base, l)
		}
	}
}
