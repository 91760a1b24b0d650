package node_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"octopus"
	"octopus/canon"
	"octopus/container"
	"octopus/node"
)

const article = "The harbour was quiet that morning, and nobody expected the ferry to come back before noon. "

// scripted is a site whose entry has text, and leads to a page that is empty
// without its script, which leads to one that has text again.
type scripted struct {
	*httptest.Server
	mu   sync.Mutex
	hits map[string]int // guarded by mu
}

func newScripted(t *testing.T, elsewhere string) *scripted {
	pages := map[string]string{
		"/":           `<title>Entry</title><body><div id=app><p>` + strings.Repeat(article, 10) + `<a href=/app>to the application</a></div><script src=/app.js></script>`,
		"/app":        `<title>Shell</title><body><noscript>Please enable JavaScript.</noscript><div id=app></div><script src=/app.js></script>`,
		"/hidden":     `<title>Hidden</title><body><p>` + strings.Repeat(article, 10),
		"/robots.txt": "User-agent: *\nDisallow: /secret\n",
		"/app.js": `fetch("/secret.json").catch(() => 0); fetch("` + elsewhere + `/private").catch(() => 0)
			fetch("/data.json").then(r => r.text()).then(t => { document.title = "Made by a script"
			document.getElementById("app").innerHTML = "<h1>Ferry</h1><p>" + t + "</p><a href=/hidden>more</a>" })`,
		"/data.json":   strings.Repeat(article, 10),
		"/secret.json": "{}",
	}
	s := &scripted{hits: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.hits[r.URL.Path]++
		s.mu.Unlock()
		body, ok := pages[r.URL.Path]
		switch {
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		case strings.HasSuffix(r.URL.Path, ".js"):
			w.Header().Set("Content-Type", "text/javascript")
		case !strings.Contains(r.URL.Path, "."):
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
		}
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *scripted) hit(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hits[path]
}

func chromium(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("chromium"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("chromium is not installed; `make test` installs Debian's chromium")
		}
		t.Skip("chromium is not installed: apt-get install chromium")
	}
}

// records reads an output file.
func records(t *testing.T, path string) []octopus.Record {
	t.Helper()
	return jsonLines[octopus.Record](t, path)
}

// jsonLines reads a file of JSON lines.
func jsonLines[T any](t *testing.T, path string) (all []T) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var r T
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// TestRenderAuto crawls a site of which one page needs its script. What that
// page shows is crawled on; what the server sent is what is stored.
func TestRenderAuto(t *testing.T) {
	chromium(t)
	private := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a page reached a network that is not allowed") }))
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skipf("no second loopback address: %v", err)
	}
	private.Listener = l
	private.Start()
	defer private.Close()
	s := newScripted(t, private.URL)

	cfg := config(t)
	cfg.Fetcher.AllowNet = []string{"127.0.0.1/32"}
	cfg.Crawl.Render = "auto"
	cfg.Render.Timeout = node.Duration(50e9)
	out := filepath.Join(t.TempDir(), "out.jsonl")
	cfg.Output = []string{out}
	cfg.Fetcher.Log = filepath.Join(t.TempDir(), "log")
	run(t, cfg, node.Options{}, s.URL+"/")
	var parts []string
	for _, line := range jsonLines[node.FetchLine](t, cfg.Fetcher.Log) {
		if line.PartOf == "" {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s %d", strings.TrimPrefix(strings.TrimPrefix(line.URL, s.URL), private.URL), line.Status))
		if line.PartOf != s.URL+"/app" || line.End.Before(line.Start) || line.Status == 200 && line.Bytes == 0 {
			t.Errorf("fetch log: %+v", line)
		}
	}
	slices.Sort(parts)
	if want := []string{"/app.js 200", "/data.json 200", "/private 0"}; !slices.Equal(parts, want) {
		t.Errorf("fetch log has the parts %v, want %v", parts, want)
	}

	recs := map[string]octopus.Record{}
	for _, r := range records(t, out) {
		recs[strings.TrimPrefix(r.URL, s.URL)] = r
	}
	if r := recs["/app"]; !r.Rendered || r.Title != "Made by a script" || r.RenderError != "" || len(r.Links) != 1 {
		t.Errorf("the page that needs its script: %+v", r)
	}
	if r := recs["/"]; r.Rendered || r.Title != "Entry" {
		t.Errorf("the page with text: %+v", r)
	}
	if recs["/hidden"].Title != "Hidden" {
		t.Errorf("the page that only the script links to: %+v", recs["/hidden"])
	}
	for path, want := range map[string]int{"/": 1, "/app": 1, "/app.js": 1, "/data.json": 1, "/hidden": 1, "/secret.json": 0} {
		if got := s.hit(path); got != want {
			t.Errorf("%s: %d requests, want %d", path, got, want)
		}
	}

	c, err := container.Open(container.Options{Dir: filepath.Join(cfg.Dir, "pages")})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	u, _ := canon.Parse(s.URL + "/app")
	stored, err := c.Get(t.Context(), u)
	if err != nil || !strings.Contains(string(stored.Body), "Please enable JavaScript") {
		t.Errorf("stored is %q, %v; want what the server sent", stored.Body, err)
	}
}

// TestPageWithTextStartsNoBrowser gives the crawl a browser that tells when it
// is started.
func TestPageWithTextStartsNoBrowser(t *testing.T) {
	dir := t.TempDir()
	mark, program := filepath.Join(dir, "started"), filepath.Join(dir, "browser")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch "+mark+"\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	started := func() bool { _, err := os.Stat(mark); return err == nil }
	cfg := config(t)
	cfg.Crawl.Render, cfg.Render.Browser = "auto", program

	plain := newSite(t, 7) // pages without scripts
	run(t, cfg, node.Options{}, plain.entry())
	s := newScripted(t, "http://127.0.0.1:1")
	run(t, cfg, node.Options{}, s.URL+"/hidden")
	if started() {
		t.Fatal("a browser was started for pages that have text")
	}
	// The same crawl meets the page that needs one: the failed start costs
	// nothing but what only the script shows.
	out := filepath.Join(dir, "out.jsonl")
	cfg.Output = []string{out}
	run(t, cfg, node.Options{}, s.URL+"/app")
	if !started() {
		t.Error("no browser was started for the page that needs one")
	}
	recs := records(t, out)
	if len(recs) != 1 || recs[0].Status != 200 || recs[0].Title != "Shell" || recs[0].RenderError == "" || recs[0].Rendered {
		t.Errorf("records %+v", recs)
	}
}

// TestRenderByBoard has a board of its own say what is rendered: an article that
// a script writes yields its text.
func TestRenderByBoard(t *testing.T) {
	chromium(t)
	s := newScripted(t, "http://127.0.0.1:1")
	cfg := config(t)
	b := node.DefaultBoard()
	b.Name, b.Entry, b.Scope, b.Render = "app", []string{s.URL + "/app"}, octopus.ScopePage, "auto"
	b.Article = []string{"/app$"}
	b.Refresh, b.Recrawl = node.Period{}, 0
	cfg.Boards = []node.BoardConfig{b}
	cfg.Render.Timeout = node.Duration(50e9)
	out := filepath.Join(t.TempDir(), "out.jsonl")
	cfg.Output = []string{out}
	run(t, cfg, node.Options{}, s.URL+"/hidden")
	recs := map[string]octopus.Record{}
	for _, r := range records(t, out) {
		recs[strings.TrimPrefix(r.URL, s.URL)] = r
	}
	if got := recs["/app"]; got.Kind != "data" || !strings.Contains(got.Text, strings.TrimSpace(article)) {
		t.Errorf("the article that a script writes: %+v", got)
	}
	if !recs["/app"].Rendered || recs["/hidden"].Rendered || recs["/hidden"].Title != "Hidden" {
		t.Errorf("rendered: /app of the board %v, /hidden of the command line %v", recs["/app"].Rendered, recs["/hidden"].Rendered)
	}
}

func TestRenderNeedsABrowser(t *testing.T) {
	cfg := config(t)
	cfg.Crawl.Render, cfg.Render.Browser = "always", "/no/such/browser"
	if n, err := node.Open(cfg, node.Options{}); err == nil || !strings.Contains(err.Error(), "browser") {
		if err == nil {
			n.Close()
		}
		t.Errorf("error %v", err)
	}
}
