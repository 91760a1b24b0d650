package webtest_test

import (
	"maps"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"octopus/internal/webtest"
)

// client asks one host of a web, without DNS, one request at a time.
type client struct {
	web  *webtest.Web
	t    *testing.T
	base string // scheme://host:port
	http *http.Client
}

// newClient makes a client of the entry's host at its address.
func newClient(t *testing.T, web *webtest.Web) *client {
	t.Helper()
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	c := &client{t: t, web: web, base: strings.TrimSuffix(web.Entries()[0], "/"),
		http: &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	_, host, _ := strings.Cut(c.base, "://")
	w := newWalker(t, web, 0) // resolves names
	tr.DialContext = w.client.Transport.(*http.Transport).DialContext
	if _, _, err := net.SplitHostPort(host); err != nil {
		t.Fatal(err)
	}
	return c
}

// get asks for paths, one after the other, and returns the last answer. The
// server logs a request after its answer: get waits for that.
func (c *client) get(paths ...string) *http.Response {
	c.t.Helper()
	var last *http.Response
	for _, p := range paths {
		before := len(c.web.Log())
		resp, err := c.http.Get(c.base + p)
		if err != nil {
			c.t.Fatal(err)
		}
		resp.Body.Close()
		for len(c.web.Log()) == before {
			runtime.Gosched()
		}
		last = resp
	}
	return last
}

// perfect returns the records of a perfect crawl.
func perfect(web *webtest.Web) []webtest.Found {
	var list []webtest.Found
	truth := web.Truth()
	for _, u := range slices.Sorted(maps.Keys(truth.Pages)) {
		p := truth.Pages[u]
		list = append(list, webtest.Found{URL: u, Status: p.Status, Digest: web.Digest(u), Title: p.Title, Kind: string(p.Kind)})
	}
	return list
}

func TestCheckOfRecords(t *testing.T) {
	web := start(t, webtest.Options{Seed: 1, Hosts: 1, Pages: 30, Features: webtest.Plain})
	for name, c := range map[string]struct {
		change func([]webtest.Found) []webtest.Found
		want   func(*webtest.Report) bool
		text   string
	}{
		"nothing":   {func(f []webtest.Found) []webtest.Found { return f }, func(r *webtest.Report) bool { return r.OK() && r.KindsRight == 30 }, ""},
		"one less":  {func(f []webtest.Found) []webtest.Found { return f[1:] }, func(r *webtest.Report) bool { return len(r.Missing) == 1 && r.Found == 29 }, "missing: http"},
		"one twice": {func(f []webtest.Found) []webtest.Found { return append(f, f[3]) }, func(r *webtest.Report) bool { return len(r.Twice) == 1 && r.Found == 30 }, "two records: http"},
		"one more": {func(f []webtest.Found) []webtest.Found {
			return append(f, webtest.Found{URL: "http://x.test/", Status: 200})
		}, func(r *webtest.Report) bool { return len(r.Unexpected) == 1 }, "unexpected: http://x.test/"},
		"skipped":    {func(f []webtest.Found) []webtest.Found { return append(f, webtest.Found{URL: "http://x.test/"}) }, (*webtest.Report).OK, ""},
		"wrong body": {func(f []webtest.Found) []webtest.Found { f[2].Digest = f[3].Digest; return f }, func(r *webtest.Report) bool { return len(r.WrongDigest) == 1 }, "wrong digest"},
		"bad title":  {func(f []webtest.Found) []webtest.Found { f[2].Title = "x"; return f }, func(r *webtest.Report) bool { return len(r.WrongTitle) == 1 }, "wrong title"},
		"error":      {func(f []webtest.Found) []webtest.Found { f[2].Status = 500; return f }, func(r *webtest.Report) bool { return len(r.WrongStatus) == 1 && r.Found == 29 }, "wrong status"},
	} {
		r := web.Check(slices.Values(c.change(perfect(web))), 0)
		if !c.want(r) || !strings.Contains(r.String(), c.text) || (c.text == "") != r.OK() {
			t.Errorf("%s: %+v\n%s", name, r, r)
		}
	}
}

func TestCheckOfTheLog(t *testing.T) {
	for name, c := range map[string]struct {
		paths []string
		delay time.Duration
		want  func(*webtest.Report) int
	}{
		"too fast":     {[]string{"/robots.txt", "/", "/topics/1/"}, time.Minute, func(r *webtest.Report) int { return len(r.TooFast) - 1 }},
		"no robots":    {[]string{"/"}, 0, func(r *webtest.Report) int { return len(r.NoRobots) }},
		"forbidden":    {[]string{"/robots.txt", "/private/report.html"}, 0, func(r *webtest.Report) int { return len(r.Forbidden) }},
		"by wildcard":  {[]string{"/robots.txt", "/x?sid=1"}, 0, func(r *webtest.Report) int { return len(r.Forbidden) }},
		"twice":        {[]string{"/robots.txt", "/", "/"}, 0, func(r *webtest.Report) int { return len(r.Refetched) }},
		"ghost":        {[]string{"/robots.txt", "/markup/ghost/1"}, 0, func(r *webtest.Report) int { return len(r.Unexpected) }},
		"asset":        {[]string{"/robots.txt", "/asset/site.css"}, 0, func(r *webtest.Report) int { return len(r.Unexpected) }},
		"too soon":     {[]string{"/robots.txt", "/busy/503.html", "/"}, 0, func(r *webtest.Report) int { return len(r.TooSoon) }},
		"failed first": {[]string{"/robots.txt", "/faults/500.html", "/faults/500.html"}, 0, func(r *webtest.Report) int { return 1 - len(r.Refetched) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web := start(t, webtest.Options{Seed: 1, Hosts: 1, Pages: 30})
			newClient(t, web).get(c.paths...)
			r := web.Check(slices.Values(perfect(web)), c.delay)
			if got := c.want(r); got != 1 || r.Requests != len(c.paths) {
				t.Errorf("counted %d, want 1, in %d requests:\n%s", got, r.Requests, r)
			}
		})
	}
}

// After Killed, what was said within the last second does not bind.
func TestKilledForgives(t *testing.T) {
	web := start(t, webtest.Options{Seed: 1, Hosts: 1, Pages: 30})
	c := newClient(t, web)
	c.get("/robots.txt", "/busy/503.html")
	web.Killed()
	c.get("/")
	if r := web.Check(slices.Values(perfect(web)), 0); len(r.TooSoon) != 0 {
		t.Errorf("%v", r.TooSoon)
	}
	web.Reset()
	if got := c.get("/busy/503.html").StatusCode; got != 503 || len(web.Log()) != 1 {
		t.Errorf("after Reset: status %d, %d requests in the log", got, len(web.Log()))
	}
}

// A request that the client gives up ends when the server notices.
func TestAborted(t *testing.T) {
	web := start(t, webtest.Options{Seed: 1, Hosts: 1, Pages: 5, Features: webtest.Plain, Latency: time.Minute})
	c := newClient(t, web)
	c.http.Timeout = 50 * time.Millisecond
	if resp, err := c.http.Get(c.base + "/"); err == nil {
		resp.Body.Close()
		t.Fatal("answered")
	}
	deadline := time.After(10 * time.Second)
	for len(web.Log()) == 0 {
		select {
		case <-deadline:
			t.Fatal("not noticed")
		case <-time.After(time.Millisecond):
		}
	}
	if q := web.Log()[0]; !q.Aborted || q.Status != 0 || q.End.Sub(q.Start) > 10*time.Second {
		t.Errorf("%+v", q)
	}
}
