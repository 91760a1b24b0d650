package redisfrontier_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"octopus"
	"octopus/frontier/frontiertest"
	"octopus/frontier/redisfrontier"
	"octopus/internal/servers"
)

// job is what a worker process is told, as JSON in OCTOPUS_TEST_WORKER.
type job struct {
	Redis, Web string
	Delay      time.Duration
	Lease      time.Duration
	HangAfter  int // leases after which it reports on nothing any more
}

func (j job) options() redisfrontier.Options {
	return redisfrontier.Options{URL: j.Redis, Job: "crawl", Robots: "ignore", LeaseTime: j.Lease, HostDelay: j.Delay,
		Entries: func() []octopus.Link { return []octopus.Link{frontiertest.Link("h0.com/0", 0)} }}
}

// TestMain makes the test program a worker where it is told to be one.
func TestMain(m *testing.M) {
	text := os.Getenv("OCTOPUS_TEST_WORKER")
	if text == "" {
		os.Exit(m.Run())
	}
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		panic(err)
	}
	if err := work(j); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// work crawls until nothing is left.
func work(j job) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	f, err := redisfrontier.Open(ctx, j.options())
	if err != nil {
		return err
	}
	defer f.Close()
	leasing, stop := context.WithCancel(ctx)
	go func() {
		if f.Drained(ctx) == nil {
			stop()
		}
	}()
	var group sync.WaitGroup
	var mu sync.Mutex
	taken := 0
	for range 4 {
		group.Go(func() {
			for {
				leases, err := f.Lease(leasing, 1)
				if err != nil {
					return
				}
				mu.Lock()
				taken += len(leases)
				hang := j.HangAfter > 0 && taken > j.HangAfter
				mu.Unlock()
				if hang {
					fmt.Println("hangs")
					<-ctx.Done()
				}
				for _, l := range leases {
					fetch(ctx, f, j.Web, l)
				}
			}
		})
	}
	group.Wait()
	return ctx.Err()
}

// fetch asks the web for a page and reports what it says.
func fetch(ctx context.Context, f *redisfrontier.Frontier, web string, l octopus.Lease) {
	o := octopus.Outcome{Lease: l, Stage: octopus.Fetched | octopus.Parsed, Start: time.Now()}
	resp, err := http.Get(web + "/" + strings.TrimPrefix(l.Link.URL.Text, "http://"))
	if err != nil {
		return // the test ended
	}
	var links []string
	_ = json.NewDecoder(resp.Body).Decode(&links)
	resp.Body.Close()
	o.End, o.Status = time.Now(), resp.StatusCode
	f.Release(o)
	for _, text := range links {
		o.Links = append(o.Links, frontiertest.Link(text, l.Link.Depth+1))
	}
	if _, err := f.Done(ctx, []octopus.Outcome{o}); err != nil {
		fmt.Fprintln(os.Stderr, "Done:", err)
	}
}

// web is a web of pages that link to each other, and its log.
type web struct {
	*httptest.Server
	pages, hosts int
	many         chan struct{} // closed when 60 pages have been asked for

	mu    sync.Mutex
	count map[string]int       // guarded by mu: requests by URL
	ends  map[string]time.Time // guarded by mu: end of the last response, by host
	least time.Duration        // guarded by mu: smallest gap between two requests to a host
	busy  map[string]bool      // guarded by mu: hosts with a request under way
	early []string             // guarded by mu: requests while another was under way
}

func newWeb(t *testing.T, pages, hosts int) *web {
	w := &web{pages: pages, hosts: hosts, many: make(chan struct{}), count: map[string]int{}, ends: map[string]time.Time{}, busy: map[string]bool{}, least: time.Hour}
	w.Server = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.Close)
	return w
}

func (w *web) page(i int) string { i %= w.pages; return fmt.Sprintf("h%d.com/%d", i%w.hosts, i) }

func (w *web) serve(out http.ResponseWriter, r *http.Request) {
	url := r.URL.Path[1:]
	host, rest, _ := strings.Cut(url, "/")
	var i int
	fmt.Sscanf(rest, "%d", &i)
	w.mu.Lock()
	if w.count[url]++; w.count[url] == 1 && len(w.count) == 60 {
		close(w.many)
	}
	if end, ok := w.ends[host]; ok {
		w.least = min(w.least, time.Since(end))
	}
	if w.busy[host] {
		w.early = append(w.early, url)
	}
	w.busy[host] = true
	w.mu.Unlock()
	_ = json.NewEncoder(out).Encode([]string{w.page(2*i + 1), w.page(2*i + 2), w.page(i + 1), "h0.com/0"})
	w.mu.Lock()
	w.ends[host] = time.Now()
	w.busy[host] = false
	w.mu.Unlock()
}

// visited returns how many pages were asked for, and how many requests were one
// too many.
func (w *web) visited() (pages, repeated int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.count {
		pages++
		repeated += n - 1
	}
	return pages, repeated
}

// startWorker runs a worker as a process of its own.
func startWorker(t *testing.T, j job) *exec.Cmd {
	t.Helper()
	cmd, _ := startTelling(t, j)
	return cmd
}

// startTelling does it, and returns what the worker says.
func startTelling(t *testing.T, j job) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	text, _ := json.Marshal(j)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "OCTOPUS_TEST_WORKER="+string(text))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, bufio.NewScanner(out)
}

func (j job) enter(t *testing.T) *redisfrontier.Frontier {
	f := open(t, j.options())
	if _, err := f.Add(t.Context(), j.options().Entries()); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestThreeProcesses(t *testing.T) {
	t.Parallel() // it waits more than it works
	srv, _ := start(t)
	w := newWeb(t, 300, 30)
	j := job{Redis: srv.URL(), Web: w.URL, Delay: 40 * time.Millisecond, Lease: time.Minute}
	f := j.enter(t)
	var workers []*exec.Cmd
	for range 3 {
		workers = append(workers, startWorker(t, j))
	}
	for _, cmd := range workers {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	pages, repeated := w.visited()
	if pages != 300 || repeated != 0 || len(w.early) > 0 || w.least < j.Delay {
		t.Errorf("%d of 300 pages, %d repeated, least gap %s of %s, too early: %v", pages, repeated, w.least, j.Delay, w.early)
	}
	c := f.Counts()
	if c.Known != 300 || c.Done != 300 || c.Pages != 300 || c.Queued != 0 || c.Leased != 0 || c.Hosts != 0 {
		t.Errorf("counts %+v", c)
	}
}

// TestKilledWorker kills one of three processes while it holds leases.
func TestKilledWorker(t *testing.T) {
	t.Parallel() // it waits more than it works
	srv, _ := start(t)
	w := newWeb(t, 300, 30)
	j := job{Redis: srv.URL(), Web: w.URL, Delay: 20 * time.Millisecond, Lease: 2 * time.Second}
	f := j.enter(t)
	hangs := j
	hangs.HangAfter = 10
	victim, said := startTelling(t, hangs)
	for range 4 { // each of its hands holds a lease, and reports on nothing
		if !said.Scan() {
			t.Fatal("the worker ended")
		}
	}
	if c := f.Counts(); c.Done < 8 || c.Leased < 4 {
		t.Errorf("counts %+v", c)
	}
	_ = victim.Process.Kill() // kill -9
	_ = victim.Wait()
	others := []*exec.Cmd{startWorker(t, j), startWorker(t, j)}
	for _, cmd := range others {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if pages, _ := w.visited(); pages != 300 || w.least < j.Delay || len(w.early) > 0 {
		t.Errorf("%d of 300 pages, least gap %s of %s, too early: %v", pages, w.least, j.Delay, w.early)
	}
	if c := f.Counts(); c.Done != 300 || c.Queued != 0 || c.Leased != 0 {
		t.Errorf("counts %+v", c)
	}
}

// TestRedisRestarts takes the server away in the middle, with and without its
// data: all pages are visited in the end.
func TestRedisRestarts(t *testing.T) {
	for name, c := range map[string]struct {
		args    []string
		restart func(*servers.RedisServer)
		repeats bool
	}{
		"empty":    {nil, (*servers.RedisServer).RestartEmpty, true},
		"aof":      {[]string{"--appendonly", "yes", "--appendfsync", "always"}, (*servers.RedisServer).Restart, false},
		"snapshot": {[]string{"--save", "3600 1000000"}, func(s *servers.RedisServer) { s.Stop(); s.Start() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, _ := start(t, c.args...)
			w := newWeb(t, 300, 30)
			j := job{Redis: srv.URL(), Web: w.URL, Delay: 20 * time.Millisecond, Lease: 2 * time.Second}
			f := j.enter(t)
			workers := []*exec.Cmd{startWorker(t, j), startWorker(t, j)}
			<-w.many
			c.restart(srv)
			for _, cmd := range workers {
				if err := cmd.Wait(); err != nil {
					t.Error(err)
				}
			}
			pages, repeated := w.visited()
			t.Logf("%d requests repeated", repeated)
			if pages != 300 || !c.repeats && repeated > 20 { // those under way may come again
				t.Errorf("%d of 300 pages, %d requests repeated", pages, repeated)
			}
			if c := f.Counts(); c.Queued != 0 {
				t.Errorf("counts %+v", c)
			}
		})
	}
}
