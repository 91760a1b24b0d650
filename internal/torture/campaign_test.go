package torture_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"octopus/internal/webtest"
)

const (
	hostDelay   = 50 * time.Millisecond
	concurrency = 16
	inFlight    = 4 * concurrency // pages that one crash may have fetched again
	maxBody     = 1 << 20
	patience    = 2 * time.Minute // longest time that a crawl may take without a crash
	shortest    = 50 * time.Millisecond
	longest     = 2 * time.Second
)

// crawl is one crawl of the web from its start, through crashes, to its end.
type crawl struct {
	t    *testing.T
	web  *webtest.Web
	dir  string // holds db/ and pages.jsonl
	env  []string
	args []string
	rng  *rand.Rand

	tolerant bool   // a crawl that breaks is noted in broken, not a failure
	broken   string // what broke it

	crashes  int
	recovery []time.Duration // from each start to its first request
	summary  summary
}

// summary is what --summary json prints, as far as it matters here.
type summary struct {
	End     string `json:"end"`
	Fetches int64  `json:"fetches"`
}

func newWeb(t *testing.T, opt webtest.Options) *webtest.Web {
	t.Helper()
	web := webtest.New(opt)
	if err := web.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { web.Close() })
	return web
}

func newCrawl(t *testing.T, web *webtest.Web, dir string, rng *rand.Rand) *crawl {
	web.Reset()
	c := &crawl{t: t, web: web, dir: dir, rng: rng}
	c.args = append([]string{"crawl"}, web.Entries()...)
	c.args = append(c.args, "--scope", "any", "--dir", filepath.Join(dir, "db"), "-o", c.jsonl(),
		"--resolver", web.ResolverAddr(), "--allow-net", "127.0.0.0/8", "--host-delay", hostDelay.String(), "--retry-wait", "200ms",
		"--concurrency", strconv.Itoa(concurrency), "--max-body", strconv.Itoa(maxBody), "--progress", "none", "--summary", "json")
	c.args = append(c.args, outputArgs(dir)...)
	return c
}

func (c *crawl) jsonl() string { return filepath.Join(c.dir, "pages.jsonl") }

// life is how long the process may live before it is ended.
func (c *crawl) life() time.Duration {
	return shortest + time.Duration(c.rng.Int64N(int64(longest-shortest)))
}

// start runs the command. If it has not ended by itself after life, crash is
// called to end it, and ended is false. A process that ends with an error fails
// the test, unless it is being crashed.
func (c *crawl) start(life time.Duration, crash func(*os.Process)) (ended bool) {
	c.t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(binary, c.args...)
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	begin, before := time.Now(), len(c.web.Log())
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	exit := make(chan error, 1)
	go func() { exit <- cmd.Wait() }()
	timer := time.NewTimer(life)
	defer timer.Stop()
	select {
	case err := <-exit:
		if err != nil {
			c.fail("%v after %v and %d crashes: %v\n%s", cmd.Args, time.Since(begin).Round(time.Millisecond), c.crashes, err, &errs)
		}
		if err := json.Unmarshal(out.Bytes(), &c.summary); err != nil {
			c.fail("summary %q: %v", out.String(), err)
		}
		return true
	case <-timer.C:
		crash(cmd.Process)
		cmd.Process.Kill()
		<-exit
		c.web.Killed()
		c.crashes++
	}
	if log := c.web.Log(); len(log) > before {
		c.recovery = append(c.recovery, firstStart(log[before:]).Sub(begin))
	}
	return false
}

func firstStart(log []webtest.Request) time.Time {
	return slices.MinFunc(log, func(a, b webtest.Request) int { return a.Start.Compare(b.Start) }).Start
}

// finish lets the crawl come to its end without a crash.
func (c *crawl) finish() {
	c.t.Helper()
	ended := c.start(patience, func(p *os.Process) {
		c.fail("the crawl does not end: no end %v after the last of %d crashes", patience, c.crashes)
	})
	if ended && c.summary.End != "frontier empty" {
		c.fail("the crawl ended because of %q", c.summary.End)
	}
}

// fail keeps the files where the -keep flag says so, and ends the test.
func (c *crawl) fail(format string, args ...any) {
	c.t.Helper()
	if c.tolerant {
		c.broken = fmt.Sprintf(format, args...)
		return
	}
	if *keep != "" {
		to := filepath.Join(*keep, fmt.Sprintf("%s-%d", c.t.Name(), time.Now().Unix()))
		if err := os.CopyFS(to, os.DirFS(c.dir)); err != nil {
			c.t.Error(err)
		}
		c.t.Logf("the files are in %s", to)
	}
	c.t.Fatalf(format, args...)
}

// percentile returns the p-th percentile of ds, which it sorts.
func percentile(ds []time.Duration, p int) time.Duration {
	if len(ds) == 0 {
		return 0
	}
	slices.Sort(ds)
	return ds[min(len(ds)*p/100, len(ds)-1)].Round(time.Millisecond)
}

// webOptions is the web of the campaigns: everything that the demo has, and a
// page longer than the body limit.
func webOptions() webtest.Options {
	return webtest.Options{Seed: *seed, Hosts: 12, Pages: 900, MaxBody: maxBody}
}
