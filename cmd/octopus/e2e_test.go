package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"octopus"
	"octopus/node"
)

// site is a small web site on loopback: a start page and pages 1 to sitePages-1
// that link to the next ones, a redirect, a missing page and a forbidden one.
type site struct {
	*httptest.Server
	mu   sync.Mutex
	hits map[string]int    // guarded by mu: requests by path
	hook func(path string) // called at the start of each request
}

// sitePages is the number of pages with status 200.
const sitePages = 20

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{hits: map[string]int{}, hook: func(string) {}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// onRequest sets the hook: also while a crawler of an earlier server on this port
// still asks.
func (s *site) onRequest(hook func(path string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hook = hook
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.hits[r.URL.Path]++
	hook := s.hook
	s.mu.Unlock()
	hook(r.URL.Path)
	n := 0
	switch r.URL.Path {
	case "/robots.txt":
		fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
		return
	case "/old":
		http.Redirect(w, r, "/3", http.StatusMovedPermanently)
		return
	case "/":
	default:
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &n); err != nil || n >= sitePages {
			http.NotFound(w, r)
			return
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<title>Page %d</title><a href=/old>o</a><a href=/private/x>p</a><a href=/missing>m</a>", n)
	for _, next := range []int{2*n + 1, 2*n + 2} {
		if next < sitePages {
			fmt.Fprintf(w, "<p>On page %d of the site <a href=/%d>next</a></p>", n, next)
		}
	}
}

// count returns the requests for a path.
func (s *site) count(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hits[path]
}

// crawl runs `octopus crawl` on the site, without manners: it is ours.
func (s *site) crawl(c *cli, args ...string) *cli {
	c.t.Helper()
	return c.run(append([]string{"crawl", s.URL + "/", "--allow-net", "127.0.0.0/8", "--host-delay", "0s", "--conns-per-host", "4", "--summary", "json"}, args...)...)
}

// records reads a JSONL file.
func records(t *testing.T, file string) []octopus.Record {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return decodeRecords(t, string(text))
}

func decodeRecords(t *testing.T, text string) []octopus.Record {
	t.Helper()
	var all []octopus.Record
	for line := range strings.Lines(text) {
		var r octopus.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		all = append(all, r)
	}
	return all
}

// pagesOf returns the URLs with status 200, sorted; the test fails if one is
// there twice.
func pagesOf(t *testing.T, all []octopus.Record) []string {
	t.Helper()
	var urls []string
	for _, r := range all {
		if r.Status == http.StatusOK {
			urls = append(urls, r.URL)
		}
	}
	slices.Sort(urls)
	if n := len(slices.Compact(slices.Clone(urls))); n != len(urls) {
		t.Errorf("%d records of %d pages: %v", len(urls), n, urls)
	}
	return urls
}

func summaryOf(t *testing.T, text string) summaryJSON {
	t.Helper()
	var s summaryJSON
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatalf("summary %q: %v", text, err)
	}
	return s
}

// TestCrawl crawls the site, twice: the second time nothing is left.
func TestCrawl(t *testing.T) {
	s, c := newSite(t), newCLI(t)
	s.crawl(c, "-o", "a.jsonl", "-o", "b.jsonl").want(exitOK)
	sum := summaryOf(t, c.stdout)
	if sum.End != "frontier empty" || sum.Pages != sitePages || sum.Status["3xx"] != 1 || sum.Status["4xx"] != 1 || sum.URLs.Pages != sitePages {
		t.Errorf("summary: %s", c.stdout)
	}
	if s.count("/private/x") != 0 || s.count("/robots.txt") != 1 {
		t.Errorf("robots.txt asked for %d times, the page it forbids %d times", s.count("/robots.txt"), s.count("/private/x"))
	}
	a, b := records(t, "a.jsonl"), records(t, "b.jsonl")
	if len(pagesOf(t, a)) != sitePages || len(pagesOf(t, b)) != sitePages {
		t.Errorf("%d and %d pages in the outputs, want %d", len(pagesOf(t, a)), len(pagesOf(t, b)), sitePages)
	}
	s.crawl(c, "-o", "a.jsonl", "-o", "b.jsonl").want(exitOK)
	sum = summaryOf(t, c.stdout)
	if !strings.Contains(sum.Note, "nothing left") || sum.Pages != 0 || s.count("/") != 1 || len(records(t, "a.jsonl")) != len(a) {
		t.Errorf("second run: %s; start page fetched %d times", c.stdout, s.count("/"))
	}
	if c.run("crawl", "--depth", "1", "--allow-net", "127.0.0.0/8").want(exitOK, "note: --depth has no effect without a URL"); strings.Contains(c.err, "--scope") {
		t.Errorf("a note on a flag that was not given: %s", c.err)
	}
	s.crawl(c, "--fresh").want(exitOK)
	if sum = summaryOf(t, c.stdout); sum.Pages != sitePages || s.count("/") != 2 {
		t.Errorf("fresh run: %s; start page fetched %d times", c.stdout, s.count("/"))
	}
}

// TestCrawlToStdout: records on standard output, the summary elsewhere.
func TestCrawlToStdout(t *testing.T) {
	s, c := newSite(t), newCLI(t)
	s.crawl(c, "-o", "-", "--discard", "--progress", "none").want(exitOK)
	if got := pagesOf(t, decodeRecords(t, c.stdout)); len(got) != sitePages {
		t.Errorf("%d pages on standard output, want %d", len(got), sitePages)
	}
	if sum := summaryOf(t, c.err); sum.Dir != "" {
		t.Errorf("--discard, and a state directory: %s", c.err)
	}
	if entries, _ := os.ReadDir("."); len(entries) != 0 {
		t.Errorf("--discard left %v", entries)
	}
}

// TestMaxPages: the limit is exact, and the next run goes on from it.
func TestMaxPages(t *testing.T) {
	s, c := newSite(t), newCLI(t)
	for _, n := range []int{1, 7, 8, sitePages, sitePages + 5} {
		s.crawl(c, "-o", "p.jsonl", "-n", fmt.Sprint(n)).want(exitOK)
		if got := len(pagesOf(t, records(t, "p.jsonl"))); got != min(n, sitePages) {
			t.Errorf("-n %d: %d pages", n, got)
		}
	}
	s.crawl(c, "--dir", "other", "-n", "3", "--limit-is-error").want(exitLimit, "page limit")
}

// TestDepth: depth 2 of a binary tree has 7 pages, and page 3 has a redirect.
func TestDepth(t *testing.T) {
	s, c := newSite(t), newCLI(t)
	for depth, want := range map[int]int{0: 1, 1: 4, 2: 9} { // /old leads to page 3, whose links are one deeper
		s.crawl(c, "--fresh", "-o", fmt.Sprintf("%d.jsonl", depth), "-d", fmt.Sprint(depth)).want(exitOK)
		if got := pagesOf(t, records(t, fmt.Sprintf("%d.jsonl", depth))); len(got) != want {
			t.Errorf("depth %d: %d pages, want %d: %v", depth, len(got), want, got)
		}
	}
}

func TestNothingFetched(t *testing.T) {
	s, c := newSite(t), newCLI(t)
	c.run("crawl", s.URL, "--max-time", "300ms").want(exitNothing, "nothing fetched")
	s.crawl(c, "--scope", "page", "--dir", "robots").want(exitOK)
	c.run("crawl", s.URL+"/private/x", "--dir", "denied", "--allow-net", "127.0.0.1", "--host-delay", "0s").want(exitNothing, "nothing fetched")
}

// TestDirectoryErrors: locked, and not a directory.
func TestDirectoryErrors(t *testing.T) {
	s, c := newSite(t), newCLI(t)
	cfg := node.DefaultConfig()
	n, err := node.Open(cfg, node.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.crawl(c).want(exitLocked, "db is in use by another process")
	s.crawl(c, "--fresh").want(exitLocked, "in use")
	c.run("get", s.URL).want(exitLocked)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	c.file("file", "")
	s.crawl(c, "--dir", "file/db").want(exitFailure, "file: not a directory", "--dir")
	s.crawl(c, "-o", filepath.Join("none", "a.jsonl")).want(exitFailure, filepath.Join("none", "a.jsonl"))
	for _, folder := range []string{"md:file/x", "feed:file/x", "parquet:file/x"} {
		s.crawl(c, "-o", folder).want(exitFailure, "file/x: not a directory")
	}
	c.run("host", "ls", "--dir", "file/db").want(exitFailure, "not a directory")
	c.run("store", "stat", "--dir", "file/db").want(exitFailure, "not a directory")
	s.crawl(c, "-o", "a.jsonl", "-o", "jsonl:a.jsonl").want(exitUsage, "--output", "a.jsonl: given twice")
	s.crawl(c, "-o", "a.xml").want(exitUsage, "--output", `"a.xml" is no known form of output`)
}

// TestInterrupt sends a signal while requests are held back: what is under way
// is finished, and the next run brings the rest, no page twice.
func TestInterrupt(t *testing.T) {
	s, c := newSite(t), newCLI(t)
	signals, release := make(chan chan<- os.Signal, 1), make(chan struct{})
	var once sync.Once
	s.hook = func(path string) {
		if path == "/5" {
			once.Do(func() {
				to := <-signals
				to <- os.Interrupt
				<-release // until the crawler has said that it drains
			})
		}
	}
	c.notify = func(to chan<- os.Signal) func() { signals <- to; return func() {} }
	said := &watcher{text: "stopping:", seen: func() { close(release) }}
	a := newApp(strings.NewReader(""), said, said, nil)
	a.notify = c.notify
	args := []string{"crawl", s.URL + "/", "--allow-net", "127.0.0.0/8", "--host-delay", "0s", "-o", "p.jsonl"}
	if code := a.main(args); code != exitSIGINT {
		t.Fatalf("exit code %d: %s", code, said.out.String())
	}
	got := pagesOf(t, records(t, "p.jsonl"))
	if !slices.Contains(got, s.URL+"/5") || len(got) >= sitePages {
		t.Errorf("interrupted: %v", got)
	}
	c.notify = nil
	c.run(args...).want(exitOK)
	if got := pagesOf(t, records(t, "p.jsonl")); len(got) != sitePages {
		t.Errorf("after the second run: %v", got)
	}
	for n := 1; n < sitePages; n++ {
		if hits := s.count(fmt.Sprintf("/%d", n)); hits != 1 {
			t.Errorf("/%d was fetched %d times", n, hits)
		}
	}
}

// watcher keeps what is written and tells when a text was.
type watcher struct {
	mu   sync.Mutex
	out  strings.Builder
	text string
	seen func()
}

func (w *watcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out.Write(p)
	if w.seen != nil && strings.Contains(w.out.String(), w.text) {
		w.seen()
		w.seen = nil
	}
	return len(p), nil
}

// TestGet reads pages back, and says what is wrong where there is none.
func TestGet(t *testing.T) {
	s, c := newSite(t), newCLI(t)
	c.run("get", s.URL).want(exitFailure, "db holds no pages; name the directory of a crawl with --dir")
	s.crawl(c, "-n", "5").want(exitOK)
	if c.run("get", s.URL+"/").want(exitOK); !strings.HasPrefix(c.stdout, "<title>Page 0</title>") {
		t.Errorf("get: %q", c.stdout)
	}
	if body := c.stdout; c.run("get", s.URL+"/", "--html").want(exitOK).stdout != body {
		t.Errorf("get --html: %q", c.stdout)
	}
	if c.run("get", s.URL+"/", "--markdown").want(exitOK); !strings.Contains(c.stdout, "next") {
		t.Errorf("get --markdown: %q", c.stdout)
	}
	c.run("get", s.URL+"/", "--meta").want(exitOK)
	if got := objects(t, c.stdout)[0]; got["url"] != s.URL+"/" || got["status"] != 200.0 || got["size"].(float64) < 50 {
		t.Errorf("get --meta: %v", got)
	}
	c.run("get", s.URL+"/19").want(exitFailure, "no page in db", "octopus why")
	c.run("get", "--raw", "--html", s.URL).want(exitUsage)
	c.run("get").want(exitUsage)

	s.crawl(c, "--no-pages", "--dir", "bare").want(exitOK)
	c.run("get", s.URL+"/", "--dir", "bare").want(exitFailure, "bare holds no pages: its crawl keeps none (--no-pages)")
	c.run("get", s.URL+"/", "--dir", "none").want(exitFailure, "none holds no pages; name the directory of a crawl with --dir")
}

// TestDamagedFrontier: pages are read without the frontier, and whoever needs it
// is told what to do.
func TestDamagedFrontier(t *testing.T) {
	s, c := newSite(t), newCLI(t)
	s.crawl(c).want(exitOK)
	manifests, err := filepath.Glob("db/kv/MANIFEST-*")
	if err != nil || len(manifests) == 0 {
		t.Fatal(manifests, err)
	}
	for _, m := range manifests {
		c.file(m, "this is no manifest")
	}
	c.run("get", s.URL+"/7").want(exitOK)
	c.run("why", s.URL+"/7").want(exitVerify, "db/kv", "move it away")
	s.crawl(c).want(exitVerify, "db/kv", "move it away")
	if err := os.Rename("db/kv", "kv.damaged"); err != nil {
		t.Fatal(err)
	}
	s.crawl(c).want(exitOK)
	c.run("why", s.URL+"/7").want(exitOK)
	c.run("get", s.URL+"/7").want(exitOK)
}

// TestStore verifies, damages, and rebuilds.
func TestStore(t *testing.T) {
	s, c := newSite(t), newCLI(t)
	c.run("store", "verify").want(exitFailure, "db holds no pages")
	s.crawl(c).want(exitOK)
	if c.run("store", "verify").want(exitOK); !strings.Contains(c.stdout, ": 0 damaged") {
		t.Errorf("verify: %s", c.stdout)
	}
	c.run("store", "stat", "--json").want(exitOK)
	if got := objects(t, c.stdout)[0]; got["urls"].(float64) < sitePages || got["segments"] != 1.0 {
		t.Errorf("stat: %s", c.stdout)
	}
	files, err := filepath.Glob("db/pages/*.key")
	if err != nil || len(files) != 1 {
		t.Fatalf("key files %v, %v", files, err)
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	c.run("store", "rebuild").want(exitOK)
	if c.run("get", s.URL+"/7").want(exitOK); !strings.Contains(c.stdout, "Page 7") {
		t.Errorf("after rebuild: %s", c.stdout)
	}

	segments, err := filepath.Glob("db/pages/*.warc.gz")
	if err != nil || len(segments) != 1 {
		t.Fatalf("segments %v, %v", segments, err)
	}
	data, err := os.ReadFile(segments[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range 16 { // more than the head of a gzip member, some bytes of which say nothing
		data[len(data)/2+i] ^= 0xff
	}
	c.file(segments[0], string(data))
	c.run("store", "verify", "--json").want(exitVerify, "damaged", filepath.Base(segments[0]))
	if got := objects(t, c.stdout)[0]; len(got["errors"].([]any)) == 0 {
		t.Errorf("verify: %s", c.stdout)
	}
}

// TestWhy explains a page that was fetched, one that robots.txt forbids, and one
// nobody met.
func TestWhy(t *testing.T) {
	s, c := newSite(t), newCLI(t)
	c.run("why", s.URL).want(exitFailure, "db holds no crawl")
	s.crawl(c).want(exitOK)
	for path, want := range map[string][]string{
		"/3":         {"done", "board crawl", "stored"},
		"/private/x": {"parked", "robots"},
		"/unknown":   {"unknown"},
	} {
		c.run("why", s.URL+path).want(exitOK)
		for _, text := range want {
			if !strings.Contains(c.stdout, text) {
				t.Errorf("why %s lacks %q:\n%s", path, text, c.stdout)
			}
		}
		c.run("why", "--json", s.URL+path).want(exitOK)
		if got := objects(t, c.stdout)[0]; got["url"] != s.URL+path || got["state"] != want[0] || len(got["key"].(string)) != 32 {
			t.Errorf("why --json %s: %s", path, c.stdout)
		}
	}
}

// TestRebuildTellsWhatIsLost: a damaged record leaves the index, and not in
// silence; the next crawl fetches its page again, and nothing else.
func TestRebuildTellsWhatIsLost(t *testing.T) {
	s, c := newSite(t), newCLI(t)
	s.crawl(c).want(exitOK)
	segments, err := filepath.Glob("db/pages/*.warc.gz")
	if err != nil || len(segments) != 1 {
		t.Fatal(segments, err)
	}
	f, err := os.OpenFile(segments[0], os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	var meta struct{ Offset int64 }
	if err := json.Unmarshal([]byte(c.run("get", s.URL+"/3", "--meta").stdout), &meta); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(strings.Repeat("X", 25)), meta.Offset+20); err != nil {
		t.Fatal(err)
	}
	f.Close()
	c.run("store", "verify").want(exitVerify)
	c.run("store", "rebuild", "--json").want(exitVerify, "1 URL lost", "1 queued again", ".damaged")
	if got := objects(t, c.stdout)[0]; got["lost"] != 1.0 || got["queued"] != 1.0 || got["urls"].(float64) < sitePages-1 {
		t.Errorf("rebuild: %s", c.stdout)
	}
	c.run("store", "verify").want(exitOK)
	c.run("store", "rebuild").want(exitOK)
	c.run("get", s.URL+"/3").want(exitFailure)
	s.mu.Lock()
	clear(s.hits)
	s.mu.Unlock()
	s.crawl(c).want(exitOK)
	s.mu.Lock()
	if delete(s.hits, "/robots.txt"); len(s.hits) != 1 || s.hits["/3"] != 1 {
		t.Errorf("requests to bring /3 back: %v", s.hits)
	}
	s.mu.Unlock()
	if c.run("get", s.URL+"/3").want(exitOK); !strings.Contains(c.stdout, "Page 3") {
		t.Errorf("after the crawl: %s", c.stdout)
	}
}
