package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"octopus"
	"octopus/internal/servers"
	"octopus/internal/webtest"
)

// worker is one octopus process of a shared crawl.
type worker struct {
	*exec.Cmd
	out string // its pages.jsonl
	log bytes.Buffer
}

// startWorker starts a crawl of web that shares the frontier in Redis.
func startWorker(t *testing.T, web *webtest.Web, redis *servers.RedisServer, more ...string) *worker {
	t.Helper()
	dir := t.TempDir()
	w := &worker{out: filepath.Join(dir, "pages.jsonl")}
	args := append([]string{"crawl", "--frontier", redis.URL() + "/3", "--job", "test", "--dir", filepath.Join(dir, "db"), "-o", w.out,
		"--scope", "any", "--resolver", web.ResolverAddr(), "--allow-net", "127.0.0.0/8", "--host-delay", demoDelay.String(),
		"--retry-wait", "250ms", "--timeout", "5s", "-c", "32", "--progress", "none"}, append(more, web.Entries()...)...)
	w.Cmd = exec.Command(os.Args[0], args...)
	w.Env = append(os.Environ(), asProgram+"=1")
	w.Stdout, w.Stderr = &w.log, &w.log
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Process.Kill() })
	return w
}

// end waits for the end of a worker that must succeed.
func (w *worker) end(t *testing.T) {
	t.Helper()
	if err := w.Wait(); err != nil {
		t.Errorf("a process ended with %v: %s", err, w.log.String())
	}
}

// foundBy returns the records of all workers; the last line of a killed one may
// be cut off.
func foundBy(t *testing.T, workers []*worker) (all []webtest.Found, each []int) {
	t.Helper()
	for _, w := range workers {
		text, err := os.ReadFile(w.out)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		whole := text[:bytes.LastIndexByte(text, '\n')+1]
		n := 0
		for _, r := range decodeRecords(t, string(whole)) {
			all = append(all, webtest.Found{URL: r.URL, Status: r.Status, Digest: r.Digest, Title: r.Title, Kind: r.Kind})
			n++
		}
		each = append(each, n)
	}
	return all, each
}

func startWeb(t *testing.T) *webtest.Web {
	t.Helper()
	web := webtest.New(webtest.Options{Hosts: 12, Pages: 400, Agent: "octopus", Scope: octopus.ScopeAny})
	if err := web.Start(); err != nil {
		unavailable(t, "the synthetic web: %v", err)
	}
	t.Cleanup(func() { web.Close() })
	return web
}

// TestSharedCrawl: three processes with one Redis are one crawl: every page
// found, none asked for twice, and every host's pause kept over all of them.
func TestSharedCrawl(t *testing.T) {
	redis, web := servers.Redis(t), startWeb(t)
	var workers []*worker
	for range 3 {
		workers = append(workers, startWorker(t, web, redis))
	}
	for _, w := range workers {
		w.end(t)
	}
	found, each := foundBy(t, workers)
	t.Logf("records by process: %v", each)
	if slices.Min(each) == 0 {
		t.Errorf("a process did nothing: %v", each)
	}
	if r := web.Check(slices.Values(found), demoDelay); !r.OK() {
		t.Error(r.Problems())
	}
	c := newCLI(t)
	dir := filepath.Dir(workers[0].out)
	c.run("bad", "ls", "--dir", filepath.Join(dir, "db")).want(exitFailure, "shared in Redis")
	c.run("host", "merge", "a.test", "--into", "b.test", "--dir", filepath.Join(dir, "db")).want(exitFailure, "shared in Redis; this verb works on one in the state directory")
	c.run("why", web.Entries()[0], "--dir", filepath.Join(dir, "db")).want(exitOK)
	if !strings.Contains(c.stdout, "job test, bucket") {
		t.Errorf("why says nothing of the shared frontier:\n%s", c.stdout)
	}
}

// TestSharedCrawlKilled kills one of three processes: the others fetch what it
// had under way, and the pauses hold.
func TestSharedCrawlKilled(t *testing.T) {
	redis, web := servers.Redis(t), startWeb(t)
	var workers []*worker
	for range 3 {
		workers = append(workers, startWorker(t, web, redis))
	}
	victim := workers[1]
	for deadline := time.Now().Add(20 * time.Second); len(web.Log()) < 150; {
		if time.Now().After(deadline) {
			t.Fatalf("%d requests only", len(web.Log()))
		}
		<-time.After(5 * time.Millisecond)
	}
	if err := victim.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := victim.Wait(); err == nil {
		t.Fatal("the process ended before it was killed")
	}
	web.Killed()
	workers[0].end(t)
	workers[2].end(t)
	// What the victim had put into its outbox goes out when its directory is
	// opened again.
	again := startWorkerAgain(t, victim)
	again.end(t)
	found, each := foundBy(t, workers)
	t.Logf("records by process: %v", each)
	r := web.Check(slices.Values(found), demoDelay)
	r.Twice, r.Refetched = nil, nil // at least once
	if !r.OK() {
		t.Error(r.Problems())
	}
}

// startWorkerAgain runs the command line of a killed process once more.
func startWorkerAgain(t *testing.T, was *worker) *worker {
	t.Helper()
	w := &worker{out: was.out, Cmd: exec.Command(was.Path, was.Args[1:]...)}
	w.Env = was.Env
	w.Stdout, w.Stderr = &w.log, &w.log
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestSharedCrawlForgets: a seen set in Redis that expires has every page
// fetched again by another process; the other sets have none.
func TestSharedCrawlForgets(t *testing.T) {
	server, s, c := servers.Redis(t), newSite(t), newCLI(t)
	crawl := func(kind, dir string) summaryJSON {
		t.Helper()
		s.crawl(c, "--frontier", server.URL(), "--job", kind, "--dir", dir, "--seen", kind, "--seen-expiry", "1h", "--seen-windows", "2").want(exitOK)
		return summaryOf(t, c.stdout)
	}
	for _, kind := range []string{"exact", "bloom", "window", "expiring"} {
		if first := crawl(kind, kind+"1"); first.Pages != sitePages || first.End != "frontier empty" {
			t.Errorf("%s: %+v", kind, first)
		}
		want := int64(0)
		if kind == "expiring" {
			expire(t, server.URL(), "expiring:seen")
			want = sitePages
		}
		if again := crawl(kind, kind+"2"); again.Pages != want {
			t.Errorf("%s: %d pages again, want %d", kind, again.Pages, want)
		}
		c.run("seen", "info", "--dir", kind+"1").want(exitOK)
		if !strings.Contains(c.stdout, "kind        "+kind) {
			t.Errorf("seen info: %s", c.stdout)
		}
	}
	c.run("crawl", s.URL, "--frontier", "redis://127.0.0.1:1").want(exitFailure, "127.0.0.1:1")
	c.run("crawl", s.URL, "--frontier", "mysql://x").want(exitUsage, "--frontier", "redis://")
	c.run("crawl", s.URL, "--frontier", server.URL(), "--job", "a b").want(exitUsage, "--job")
	c.run("crawl", s.URL, "--dir", "exact1", "--frontier", server.URL()+"/7").want(exitUsage, "--frontier cannot change")
}

// TestSharedScope: the redirect of an entry widens the scope for every process,
// and one that names no entry helps with those of the others.
func TestSharedScope(t *testing.T) {
	server, s, c := servers.Redis(t), newSite(t), newCLI(t)
	door := httptest.NewServer(http.RedirectHandler(s.URL+"/", http.StatusMovedPermanently))
	defer door.Close()
	entry := strings.Replace(door.URL, "127.0.0.1", "localhost", 1)
	crawl := func(dir string, args ...string) int64 {
		t.Helper()
		c.run(append([]string{"crawl", "--frontier", server.URL(), "--dir", dir, "--scope", "host", "--allow-net", "127.0.0.0/8", "--allow-net", "::1/128",
			"--host-delay", "0s", "--conns-per-host", "4", "--summary", "json"}, args...)...).want(exitOK)
		return summaryOf(t, c.stdout).Pages
	}
	first := crawl("a", entry, "--max-pages", "1")
	if first == 0 || first == sitePages {
		t.Fatalf("the first process was to fetch some pages: %d", first)
	}
	if second := crawl("b"); first+second != sitePages {
		t.Errorf("%d pages of the first process and %d of the second, want %d together", first, second, sitePages)
	}
}

// expire lets the time of every entry of an expiring set pass: it moves each
// into the past (docs/formats/redis.md).
func expire(t *testing.T, url, key string) {
	t.Helper()
	opt, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(opt)
	defer client.Close()
	entries, err := client.HKeys(t.Context(), key).Result()
	if err != nil || len(entries) < sitePages {
		t.Fatalf("%d entries in %s, error %v", len(entries), key, err)
	}
	for _, e := range entries {
		if err := client.HSet(t.Context(), key, e, make([]byte, 6)).Err(); err != nil {
			t.Fatal(err)
		}
	}
}
