package render_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"octopus/fetch/render"
)

// small writes text enough to be done at once.
const small = `<body><p id=x></p><script>document.getElementById("x").textContent = "written by a script ".repeat(80)</script>`

// processes returns the processes that use a profile below dir.
func processes(t testing.TB, dir string) (pids []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Skip("no /proc here")
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if bytes.Contains(line, []byte("--user-data-dir="+dir)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// main returns the browser process among them: the others are of a type.
func mainOf(t testing.TB, dir string) int {
	t.Helper()
	for _, pid := range processes(t, dir) {
		line, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
		if !bytes.Contains(line, []byte("--type=")) && !bytes.Contains(line, []byte("crashpad")) {
			return pid
		}
	}
	t.Fatal("no browser runs")
	return 0
}

// gone waits until no process uses dir.
func gone(t testing.TB, dir string) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for tick := time.NewTicker(20 * time.Millisecond); ; <-tick.C {
		left := processes(t, dir)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("processes %v are left", left)
		}
	}
}

func TestBrowserThatDiesIsStartedAgain(t *testing.T) {
	t.Parallel()
	// The page holds a request back until the browser was killed; the second
	// attempt gets its answer.
	var once sync.Once
	asked := make(chan struct{})
	killed := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		once.Do(func() { close(asked); <-killed })
		w.Write([]byte(long))
	}))
	defer srv.Close()
	dir := t.TempDir()
	r := start(t, render.Options{Dir: dir})
	go func() {
		defer close(killed)
		<-asked
		_ = syscall.Kill(mainOf(t, dir), syscall.SIGKILL)
	}()
	got := html(t, r, srv.URL+"/", `<body><p></p><script>fetch("/data").then(r => r.text()).then(t => document.querySelector("p").textContent = t)</script>`)
	wants(t, got, "nobody expected the ferry")
	if r.Starts() != 2 {
		t.Errorf("%d browsers were started, want 2", r.Starts())
	}
}

func TestPageThatHangsCostsItsTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := start(t, render.Options{Dir: dir, Timeout: 4 * time.Second, Settle: time.Second})
	if _, err := r.Render(t.Context(), page("http://site.test/", `<body><script>for (;;) {}</script>`)); err == nil {
		t.Error("an endless loop rendered")
	}
	gone(t, dir) // the browser that hung is not kept
}

func TestBrowserThatGrowsIsKilled(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/statm"); err != nil {
		t.Skip("memory is measured on Linux only")
	}
	dir := t.TempDir()
	r := start(t, render.Options{Dir: dir, MaxMemory: 600 << 20, Settle: time.Minute})
	// A request that is never answered keeps the page from being done.
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer srv.Close()
	_, err := r.Render(t.Context(), page(srv.URL+"/", `<body><script>fetch("/never"); const a = []; setInterval(() => { const b = new Uint8Array(32 << 20); b.fill(7); a.push(b) }, 100)</script>`))
	if err == nil || !strings.Contains(err.Error(), "memory") {
		t.Errorf("error %v, want one about memory", err)
	}
	gone(t, dir)
}

func TestManyTabsAndBrowsersInTurn(t *testing.T) {
	t.Parallel()
	r := start(t, render.Options{Tabs: 3, PagesPerProcess: 4})
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			res, err := r.Render(t.Context(), page("http://site"+strconv.Itoa(i%3)+".test/", small))
			if err != nil || !strings.Contains(string(res.HTML), "written by a script") {
				t.Errorf("%v: %s", err, res.HTML)
			}
		})
	}
	wg.Wait()
	if r.Starts() != 2 {
		t.Errorf("%d browsers for 6 pages at 4 each, want 2", r.Starts())
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "browser")
	r := start(t, render.Options{Dir: dir})
	html(t, r, "http://site.test/", small)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	gone(t, dir)
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", dir, err)
	}
	if _, err := r.Render(t.Context(), page("http://site.test/", small)); err == nil {
		t.Error("a closed renderer renders")
	}
}

// TestBrowserDiesWithTheCrawler kills a process that has a browser, as kill -9
// does, and wants no process of it left.
func TestBrowserDiesWithTheCrawler(t *testing.T) {
	const dirVar = "OCTOPUS_TEST_BROWSER_DIR"
	if dir := os.Getenv(dirVar); dir != "" {
		r := start(t, render.Options{Dir: dir})
		html(t, r, "http://site.test/", small)
		os.Stdout.WriteString("rendered\n")
		select {} // until it is killed
	}
	browser(t)
	dir := filepath.Join(t.TempDir(), "browser")
	cmd := exec.Command(os.Args[0], "-test.run", "^TestBrowserDiesWithTheCrawler$")
	cmd.Env = append(os.Environ(), dirVar+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 9)
	if _, err := out.Read(line); err != nil || string(line) != "rendered\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	if len(processes(t, dir)) == 0 {
		t.Fatal("no browser runs")
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	gone(t, dir)
}

func TestNewSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, opt := range []render.Options{{}, {Dial: dial, Browser: "/no/such/browser"}, {Dial: dial, Tabs: 100}} {
		if _, err := render.New(opt); err == nil {
			t.Errorf("%+v is accepted", opt)
		}
	}
}
