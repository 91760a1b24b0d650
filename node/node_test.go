package node_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"octopus"
	"octopus/container"
	"octopus/node"
)

// site is a web of pages 0 to size-1 on loopback, page n linking to 2n+1 and
// 2n+2. It counts requests.
type site struct {
	*httptest.Server
	mu   sync.Mutex
	hits map[string]int
}

func newSite(t *testing.T, size int) *site {
	s := &site{hits: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.hits[r.URL.Path]++
		s.mu.Unlock()
		var n int
		if _, err := fmt.Sscanf(r.URL.Path, "/p%d", &n); err != nil || n >= size {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<title>Page %d</title>", n)
		for _, c := range []int{2*n + 1, 2*n + 2} {
			if c < size {
				fmt.Fprintf(w, "<a href=/p%d>next</a>", c)
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) entry() string { return s.URL + "/p0" }

// most returns the largest number of requests for one page.
func (s *site) most() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path, hits := range s.hits {
		if path != "/robots.txt" {
			n = max(n, hits)
		}
	}
	return n
}

func config(t *testing.T) node.Config {
	c := node.DefaultConfig()
	c.Dir = filepath.Join(t.TempDir(), "db")
	c.Fetcher.AllowNet = []string{"127.0.0.0/8"}
	c.Fetcher.HostDelay = 0
	c.Fetcher.ConnsPerHost = 4
	return c
}

// run opens a node, crawls and closes it.
func run(t *testing.T, cfg node.Config, opt node.Options, entries ...string) node.Summary {
	t.Helper()
	n, err := node.Open(cfg, opt)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := n.Run(t.Context(), entries)
	if err := errors.Join(err, n.Close()); err != nil {
		t.Fatal(err)
	}
	return sum
}

func lines(t *testing.T, path string) map[string]int {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for line := range strings.Lines(string(data)) {
		var r octopus.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%s: %v in %q", path, err, line)
		}
		got[r.URL]++
	}
	return got
}

func TestCrawlEndsAndResumesWithNothingLeft(t *testing.T) {
	s, cfg := newSite(t, 100), config(t)
	out := filepath.Join(t.TempDir(), "out.jsonl")
	cfg.Output = []string{out}
	sum := run(t, cfg, node.Options{}, s.entry())
	if sum.End != node.EndEmpty || sum.Pages != 100 || s.most() != 1 {
		t.Errorf("ended %q with %d pages, %d requests for one of them; want 100, each once", sum.End, sum.Pages, s.most())
	}
	again := run(t, cfg, node.Options{}, s.entry())
	if again.Fetches != 0 || !strings.Contains(again.Note, "nothing left") {
		t.Errorf("second run made %d requests, note %q", again.Fetches, again.Note)
	}
	got := lines(t, out)
	for u, n := range got {
		if n != 1 {
			t.Errorf("%s stands %d times in the output", u, n)
		}
	}
	if len(got) != 100 {
		t.Errorf("%d URLs in the output, want 100", len(got))
	}
}

func TestMaxPagesIsExactAndResumable(t *testing.T) {
	s, cfg := newSite(t, 100), config(t)
	cfg.Crawl.MaxPages = 30
	if sum := run(t, cfg, node.Options{}, s.entry()); sum.Pages != 30 || sum.End != node.EndPages {
		t.Errorf("%d pages, end %q; want 30 and the page limit", sum.Pages, sum.End)
	}
	if sum := run(t, cfg, node.Options{}, s.entry()); sum.Pages != 0 || sum.End != node.EndPages {
		t.Errorf("the same command again brought %d pages, end %q", sum.Pages, sum.End)
	}
	cfg.Crawl.MaxPages = 0
	if sum := run(t, cfg, node.Options{}, s.entry()); sum.Pages != 70 || s.most() != 1 {
		t.Errorf("%d pages after the limit was lifted, want 70; most requests for one: %d", sum.Pages, s.most())
	}
}

func TestFreshForgets(t *testing.T) {
	s, cfg := newSite(t, 20), config(t)
	run(t, cfg, node.Options{}, s.entry())
	if err := os.WriteFile(filepath.Join(cfg.Dir, "mine.txt"), []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	if sum := run(t, cfg, node.Options{Fresh: true}, s.entry()); sum.Pages != 20 {
		t.Errorf("%d pages after --fresh, want 20", sum.Pages)
	}
	if _, err := os.Stat(filepath.Join(cfg.Dir, "mine.txt")); err != nil {
		t.Errorf("a file that is not octopus' own is gone: %v", err)
	}
}

func TestPageAndExplain(t *testing.T) {
	s, cfg := newSite(t, 5), config(t)
	run(t, cfg, node.Options{}, s.entry())
	n, err := node.Open(cfg, node.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	page, err := n.Page(t.Context(), s.URL+"/p3")
	if err != nil || !strings.Contains(string(page.Body), "Page 3") {
		t.Errorf("stored page 3: %v %v", page, err)
	}
	if _, err := n.Page(t.Context(), s.URL+"/p99"); !errors.Is(err, container.ErrNotFound) {
		t.Errorf("a page that was never there: %v", err)
	}
	ex, err := n.Explain(t.Context(), s.URL+"/p3#top")
	if err != nil || ex.State != "done" {
		t.Errorf("explanation %+v, %v", ex, err)
	}
	if ex, err = n.Explain(t.Context(), "http://elsewhere.test/"); err != nil || ex.State != "unknown" {
		t.Errorf("explanation of a stranger %+v, %v", ex, err)
	}
}

func TestNoPagesAndDiscard(t *testing.T) {
	s := newSite(t, 50)
	cfg := config(t)
	cfg.Store.NoPages = true
	if sum := run(t, cfg, node.Options{}, s.entry()); sum.Pages != 50 {
		t.Errorf("%d pages without bodies, want 50", sum.Pages)
	}
	if _, err := os.Stat(filepath.Join(cfg.Dir, "pages")); !os.IsNotExist(err) {
		t.Errorf("NoPages made a page store: %v", err)
	}
	cfg = config(t)
	cfg.Store.Discard = true
	if sum := run(t, cfg, node.Options{}, s.entry()); sum.Pages != 50 {
		t.Errorf("%d pages discarded, want 50", sum.Pages)
	}
	if _, err := os.Stat(cfg.Dir); !os.IsNotExist(err) {
		t.Errorf("Discard made %s: %v", cfg.Dir, err)
	}
}

func TestOpenErrors(t *testing.T) {
	cfg := config(t)
	n, err := node.Open(cfg, node.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	for _, fresh := range []bool{false, true} {
		if _, err := node.Open(cfg, node.Options{Fresh: fresh}); !errors.Is(err, node.ErrLocked) {
			t.Errorf("fresh %v on a directory in use: %v", fresh, err)
		}
	}
	served := config(t)
	pages, err := container.Open(container.Options{Dir: filepath.Join(served.Dir, "pages")})
	if err != nil {
		t.Fatal(err)
	}
	defer pages.Close()
	if _, err := node.Open(served, node.Options{Fresh: true}); !errors.Is(err, node.ErrLocked) {
		t.Errorf("fresh on a directory whose pages are in use: %v", err)
	}
	bad := map[string]func(*node.Config){
		"output[0]":           func(c *node.Config) { c.Output = []string{"pages.xls"} },
		"crawl.scope":         func(c *node.Config) { c.Crawl.Scope = "planet" },
		"fetcher.allowNet":    func(c *node.Config) { c.Fetcher.AllowNet = []string{"ten"} },
		"fetcher.resolver[0]": func(c *node.Config) { c.Fetcher.Resolver = []string{"no port"} },
	}
	for key, change := range bad {
		c := config(t)
		change(&c)
		var conf *node.ConfigError
		if _, err := node.Open(c, node.Options{}); !errors.As(err, &conf) || conf.Key != key {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestCrawlIterator(t *testing.T) {
	s, cfg := newSite(t, 60), config(t)
	got := map[string]string{}
	for page, err := range node.Crawl(t.Context(), s.entry(), cfg) {
		if err != nil {
			t.Fatal(err)
		}
		got[page.URL] = page.Title
	}
	if len(got) != 60 || got[s.URL+"/p7"] != "Page 7" {
		t.Errorf("%d pages, page 7 is %q", len(got), got[s.URL+"/p7"])
	}
}

func TestCrawlIteratorLeftEarlyGoesOnLater(t *testing.T) {
	s, cfg := newSite(t, 60), config(t)
	n := 0
	for _, err := range node.Crawl(t.Context(), s.entry(), cfg) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 5 {
			break
		}
	}
	for _, err := range node.Crawl(t.Context(), s.entry(), cfg) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(s.hits) != 61 || s.most() != 1 { // and robots.txt
		t.Errorf("%d paths requested, one of them %d times; want 61, each once", len(s.hits), s.most())
	}
}

func TestCrawlIteratorYieldsTheErrorLast(t *testing.T) {
	cfg := config(t)
	var last error
	for _, err := range node.Crawl(t.Context(), "ftp://example.com/", cfg) {
		last = err
	}
	if last == nil {
		t.Error("no error for a URL that cannot be crawled")
	}
}

func TestDrainAndCancelKeepTheRest(t *testing.T) {
	for _, cut := range []bool{false, true} {
		s, cfg := newSite(t, 400), config(t)
		n, err := node.Open(cfg, node.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		stop := time.AfterFunc(20*time.Millisecond, func() {
			if cut {
				cancel()
			} else {
				n.Drain()
			}
		})
		first, err := n.Run(ctx, []string{s.entry()})
		stop.Stop()
		cancel()
		if err := errors.Join(err, n.Close()); err != nil {
			t.Fatal(err)
		}
		second := run(t, cfg, node.Options{}, s.entry())
		if first.Pages+second.Pages != 400 {
			t.Errorf("cut %v: %d and %d pages; want 400 together", cut, first.Pages, second.Pages)
		}
	}
}

func TestUnits(t *testing.T) {
	for text, want := range map[string]time.Duration{"90s": 90 * time.Second, "7d": 7 * 24 * time.Hour, "1d12h": 36 * time.Hour, "500ms": 500 * time.Millisecond} {
		var d node.Duration
		if err := d.UnmarshalText([]byte(text)); err != nil || time.Duration(d) != want {
			t.Errorf("%s is %v, %v; want %v", text, d, err, want)
		}
		var back node.Duration
		if err := back.UnmarshalText([]byte(d.String())); err != nil || back != d {
			t.Errorf("%v does not survive its own text: %v", d, err)
		}
	}
	for text, want := range map[string]node.Size{"10MB": 10e6, "512KiB": 512 << 10, "4096": 4096, "1.5GB": 15e8, "0": 0} {
		var s node.Size
		if err := s.UnmarshalText([]byte(text)); err != nil || s != want {
			t.Errorf("%s is %d, %v; want %d", text, s, err, want)
		}
		var back node.Size
		if err := back.UnmarshalText([]byte(s.String())); err != nil || back != s {
			t.Errorf("%v does not survive its own text: %v", s, err)
		}
	}
	for _, bad := range []string{"", "soon", "10 apples", "-5MB"} {
		var d node.Duration
		var s node.Size
		if d.UnmarshalText([]byte(bad)) == nil || s.UnmarshalText([]byte(bad)) == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestRefusedEntryEndsAndIsTriedAgain(t *testing.T) {
	s, cfg := newSite(t, 5), config(t)
	cfg.Fetcher.Retry.Max = 0
	cfg.Fetcher.AllowNet = nil
	if sum := run(t, cfg, node.Options{}, s.entry()); sum.End != node.EndEmpty || sum.Pages != 0 || sum.Errors["forbidden-address"] != 1 {
		t.Errorf("refused by the guard: %+v", sum)
	}
	s.Close()
	cfg.Fetcher.AllowNet = []string{"127.0.0.0/8"}
	if sum := run(t, cfg, node.Options{}, s.entry()); sum.End != node.EndEmpty || sum.Errors["connect"] != 1 {
		t.Errorf("refused by the host: %+v", sum)
	}
	// The server is back at the same address.
	back := httptest.NewUnstartedServer(s.Config.Handler)
	l, err := net.Listen("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Skipf("the port was taken meanwhile: %v", err)
	}
	back.Listener = l
	back.Start()
	defer back.Close()
	if sum := run(t, cfg, node.Options{}, s.entry()); sum.Pages != 5 {
		t.Errorf("after the host came back: %+v", sum)
	}
}
