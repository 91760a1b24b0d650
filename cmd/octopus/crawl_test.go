package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"octopus"
	"octopus/node"
)

// fetched is the summary of a crawl that went well.
func fetched() node.Summary {
	s := node.Summary{End: node.EndEmpty, Dir: "db", Out: []string{"-"}}
	s.Elapsed = 118 * time.Second
	s.Fetches, s.Pages, s.Bytes, s.Known = 3911, 3802, 118_000_000, 18340
	s.Class = [6]int64{9, 0, 3802, 74, 21, 5}
	s.Errors = map[string]int64{"timeout": 6, "dns": 3}
	s.Skipped = map[string]int64{"scope": 5611, "robots": 14, "depth": 0}
	s.Counts = octopus.Counts{Known: 3920, Done: 3897, Parked: 23, Failed: 9, Pages: 3802}
	return s
}

// failed is the summary of a crawl that brought nothing, for one kind of error.
func failed(kind octopus.Kind) node.Summary {
	s := node.Summary{End: node.EndEmpty, Dir: "db"}
	s.Fetches, s.Class[0] = 1, 1
	s.Errors = map[string]int64{kind.String(): 1}
	s.Last = node.Visit{URL: "http://10.0.0.7/", Error: "fetch: what happened"}
	return s
}

func skipped(reason string) node.Summary {
	s := node.Summary{End: node.EndEmpty}
	s.Skipped = map[string]int64{reason: 1}
	return s
}

func ended(end node.End) node.Summary {
	s := fetched()
	s.End = end
	return s
}

func TestCrawlExitCodes(t *testing.T) {
	resumed := node.Summary{End: node.EndEmpty, Dir: "db", Note: "nothing left to fetch in db"}
	resumed.Skipped = map[string]int64{"scope": 0}
	for name, c := range map[string]struct {
		sum  node.Summary
		err  error
		args string
		code int
		want string
	}{
		"finished":        {fetched(), nil, "", exitOK, "frontier empty"},
		"nothing left":    {resumed, nil, "", exitOK, "nothing left to fetch in db"},
		"failure":         {fetched(), errors.New("disk full"), "", exitFailure, "disk full"},
		"unknown host":    {failed(octopus.KindNoHost), nil, "", exitNothing, "no-host 1 (http://10.0.0.7/: fetch: what happened); check the host name"},
		"DNS":             {failed(octopus.KindDNS), nil, "", exitNothing, "--resolver"},
		"refused":         {failed(octopus.KindConnect), nil, "", exitNothing, "nothing fetched: connect 1"},
		"guard":           {failed(octopus.KindForbidden), nil, "", exitNothing, "--allow-net 10.0.0.7"},
		"robots":          {skipped("robots"), nil, "", exitNothing, "--robots ignore"},
		"page limit":      {ended(node.EndPages), nil, "", exitOK, "page limit"},
		"page limit, err": {ended(node.EndPages), nil, "--limit-is-error", exitLimit, "stopped by the page limit"},
		"time limit, err": {ended(node.EndTime), nil, "--limit-is-error", exitLimit, "stopped by the time limit"},
		"no limit met":    {fetched(), nil, "--limit-is-error", exitOK, ""},
	} {
		t.Run(name, func(t *testing.T) {
			cli := newCLI(t).use(&fake{sum: c.sum, err: c.err})
			cli.run(append([]string{"crawl", "http://a.test/"}, strings.Fields(c.args)...)...).want(c.code, c.want)
			if cli.stdout != "" {
				t.Errorf("standard output is for data, got %q", cli.stdout)
			}
		})
	}
}

func TestOpenErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		args string
		code int
		want string
	}{
		{fmt.Errorf("db: %w", node.ErrLocked), "", exitLocked, "db: in use by another process"},
		{errors.New("permission denied"), "", exitFailure, "permission denied"},
		{&node.ConfigError{Key: "fetcher.resolver", Text: "is no address"}, "", exitConfig, "fetcher.resolver: is no address"},
		{&node.ConfigError{Key: "fetcher.resolver", Text: "is no address"}, "--resolver=127.0.0.9", exitUsage, "--resolver is no address"},
	} {
		cli := newCLI(t)
		cli.open = func(node.Config, node.Options) (crawler, error) { return nil, c.err }
		cli.run(append([]string{"crawl", "http://a.test/"}, strings.Fields(c.args)...)...).want(c.code, c.want)
	}
}

func TestEntries(t *testing.T) {
	for _, c := range []struct{ args, stdin, want, note string }{
		{"http://A.test", "", "http://a.test/", ""},
		{"a.test/x", "", "https://a.test/x", "note: a.test/x has no scheme, taking https://a.test/x"},
		{"localhost:8080", "", "http://localhost:8080/", "taking http://localhost:8080"},
		{"127.0.0.1:8080/x", "", "http://127.0.0.1:8080/x", ""},
		{"-", "\ufeffhttp://a.test/1\n", "http://a.test/1", ""}, // a byte order mark
		{"-", "# list\n\nhttp://a.test/1\r\n  http://b.test/2\n", "http://a.test/1 http://b.test/2", ""},
		{"http://a.test/ -", "http://b.test/", "http://a.test/ http://b.test/", ""},
	} {
		f := &fake{sum: fetched()}
		cli := newCLI(t).use(f)
		cli.stdin = c.stdin
		cli.run(append([]string{"crawl"}, strings.Fields(c.args)...)...).want(exitOK, c.note)
		if got := strings.Join(f.entries, " "); got != c.want {
			t.Errorf("crawl %s: entries %s, want %s", c.args, got, c.want)
		}
	}
}

// TestContact: who crawls more than one stranger's host can be reached.
func TestContact(t *testing.T) {
	const with = "--user-agent=bot/1 (+https://me.org/bot)"
	for _, c := range []struct {
		code int
		args []string
	}{
		{exitOK, []string{"https://a.com/"}},
		{exitOK, []string{"https://a.com/", "https://a.com/b"}},
		{exitUsage, []string{"https://a.com/", "https://b.com/"}},
		{exitUsage, []string{"https://a.com/", "--scope", "any"}},
		{exitUsage, []string{"https://a.com/", "--scope", "domain"}},
		{exitUsage, []string{"https://a.com/", "--scope", "domain", "--user-agent", "bot/1"}},
		{exitOK, []string{"https://a.com/", "--scope", "domain", with}},
		{exitOK, []string{"https://a.com/", "--scope", "any", "--user-agent", "bot/1 (me@here.org)"}},
		{exitOK, []string{"http://127.0.0.1/", "http://[::1]/", "http://localhost/", "http://x.test/", "--scope", "any"}},
		{exitOK, []string{"http://a.com/", "http://b.com/", "--resolver", "127.0.0.1:5353", "--allow-net", "127.0.0.0/8"}},
		{exitUsage, []string{"http://a.com/", "http://b.com/", "--resolver", "127.0.0.1:5353"}},
	} {
		cli := newCLI(t).use(&fake{sum: fetched()})
		want := ""
		if c.code == exitUsage {
			want = "needs a contact in --user-agent"
		}
		cli.run(append([]string{"crawl"}, c.args...)...).want(c.code, want)
	}
}

// The boards of the state directory count too: those added by hand, and that of
// a crawl that goes on.
func TestContactOfStored(t *testing.T) {
	board := func(name string, entries ...string) octopus.Board {
		return octopus.Board{Name: name, Scope: octopus.ScopeHost, Entry: entries}
	}
	wide, paused, last := board("a", "https://a.com/"), board("b", "https://b.com/"), board(node.CrawlBoard, "https://c.com/", "https://d.com/")
	wide.Scope, paused.Paused = octopus.ScopeDomain, true
	for _, c := range []struct {
		args   string
		boards []octopus.Board
		code   int
	}{
		{"", []octopus.Board{board("a", "https://a.com/")}, exitOK},
		{"", []octopus.Board{board("a", "https://a.com/"), paused}, exitOK},
		{"", []octopus.Board{board("a", "https://a.com/", "https://b.com/")}, exitUsage},
		{"", []octopus.Board{wide}, exitUsage},
		{"", []octopus.Board{last}, exitUsage},
		{"", []octopus.Board{board("a", "http://a.test/"), board("b", "http://b.test/")}, exitOK},
		{"https://e.com/", []octopus.Board{last}, exitOK},
		{"https://e.com/", []octopus.Board{board("a", "https://a.com/")}, exitUsage},
	} {
		f := &fake{sum: fetched(), boards: c.boards}
		cli := newCLI(t).use(f)
		want := ""
		if c.code == exitUsage {
			want = "needs a contact in --user-agent"
		}
		cli.run(append([]string{"crawl", "--watch"}, strings.Fields(c.args)...)...).want(c.code, want)
		if !f.closed {
			t.Errorf("crawl %s: the node is left open", c.args)
		}
	}
}

// TestSignals sends one signal, or two, while a crawl is under way.
func TestSignals(t *testing.T) {
	for _, c := range []struct {
		signals []os.Signal
		code    int
		want    string
	}{
		{[]os.Signal{os.Interrupt}, exitSIGINT, "stopping: 16 in flight, finishing them (Ctrl-C again to stop now"},
		{[]os.Signal{syscall.SIGTERM}, exitSIGTERM, "SIGTERM again"},
		{[]os.Signal{os.Interrupt, os.Interrupt}, exitSIGINT, "stopping now"},
		{[]os.Signal{syscall.SIGTERM, os.Interrupt}, exitSIGTERM, "stopping now"},
	} {
		sum := ended(node.EndStopped)
		sum.InFlight, sum.Counts.Queued = 16, 7
		f := &fake{sum: sum, run: func(ctx context.Context, f *fake) {
			<-f.drained
			if len(c.signals) > 1 {
				<-ctx.Done() // what is in flight takes for ever
				f.err = ctx.Err()
			}
		}}
		cli := newCLI(t).use(f)
		cli.notify = func(to chan<- os.Signal) func() {
			for _, s := range c.signals {
				to <- s
			}
			return func() {}
		}
		cli.run("crawl", "http://a.test/?x=1&y", "--fresh", "-n", "100").want(c.code, c.want,
			"7 left; go on with: octopus crawl 'http://a.test/?x=1&y' -n 100\n")
	}
}

func TestSummaryText(t *testing.T) {
	sum := fetched()
	sum.Out = []string{"pages.jsonl", "-"}
	cli := newCLI(t).use(&fake{sum: sum})
	cli.file("pages.jsonl", strings.Repeat("x", 41_000))
	cli.run("crawl", "http://a.test/").want(exitOK)
	const want = `done  frontier empty  1m58s   3,802 pages  32.2/s  118 MB
  2xx 3,802  3xx 74  4xx 21  5xx 5  errors 9 (timeout 6, dns 3)   skipped 5,625: scope 5,611, robots 14
  urls 3,920: done 3,897 (failed 9), queued 0, parked 23   known again 18,340
  pages.jsonl 41.0 kB   state db
  next: octopus why URL · octopus get URL --markdown
`
	if cli.err != want {
		t.Errorf("summary:\n%s\nwant:\n%s", cli.err, want)
	}
	cli.run("crawl", "http://a.test/", "--no-pages").want(exitOK, "  next: octopus why URL\n")
	cli.run("crawl", "http://a.test/", "-q").want(exitOK)
	if cli.err != "" || cli.stdout != "" {
		t.Errorf("-q prints %q and %q", cli.stdout, cli.err)
	}
}

// At the limit of pages the same command would end at once: the limit counts
// those of earlier runs.
func TestSummaryAtPageLimit(t *testing.T) {
	sum := ended(node.EndPages)
	sum.Counts.Queued = 7
	newCLI(t).use(&fake{sum: sum}).run("crawl", "http://a.test/", "-n", "100").want(exitOK, "  7 left; a larger --max-pages goes on")
}

func TestSummaryJSON(t *testing.T) {
	for _, toStdout := range []bool{true, false} {
		args, f := []string{"crawl", "http://a.test/", "--summary", "json"}, &fake{sum: fetched()}
		if !toStdout {
			args = append(args, "-o", "-")
		}
		cli := newCLI(t).use(f).run(args...).want(exitOK)
		text, other := cli.stdout, cli.err
		if !toStdout {
			text, other = other, text
		}
		var got map[string]any
		if err := json.Unmarshal([]byte(text), &got); err != nil || other != "" {
			t.Fatalf("%v: %q and %q", err, text, other)
		}
		for field, want := range map[string]any{"v": 1.0, "type": "summary", "end": "frontier empty", "exit_code": 0.0, "elapsed_s": 118.0,
			"pages": 3802.0, "rate": 32.22, "bytes": 118e6, "fetches": 3911.0, "known_again": 18340.0, "dir": "db", "note": ""} {
			if got[field] != want {
				t.Errorf("%s is %v, want %v", field, got[field], want)
			}
		}
		for field, n := range map[string]int{"status": 5, "errors": 2, "skipped": 3, "urls": 7} {
			if m, _ := got[field].(map[string]any); len(m) != n {
				t.Errorf("%s is %v, want %d fields", field, got[field], n)
			}
		}
	}
}

func TestCrawlPassesSettings(t *testing.T) {
	f := &fake{sum: fetched()}
	cli := newCLI(t).use(f)
	cli.env = []string{"OCTOPUS_TEST_NOSYNC=1"}
	cli.run("crawl", "http://a.test/", "-d", "3", "-n", "10", "--scope", "prefix", "--reject", "a,b", "--reject", "c", "--discard",
		"--max-body", "1MB", "-o", "x.jsonl", "--fresh", "--retries", "0").want(exitOK)
	c := f.cfg
	if c.Crawl.Depth != 3 || c.Crawl.MaxPages != 10 || c.Crawl.Scope != octopus.ScopePrefix || !slices.Equal(c.Crawl.Reject, []string{"a,b", "c"}) ||
		!c.Store.Discard || c.Fetcher.MaxBody != 1e6 || !slices.Equal(c.Output, []string{"x.jsonl"}) || c.Fetcher.Retry.Max != 0 {
		t.Errorf("settings: %+v", c)
	}
	if !f.opt.Fresh || !c.Store.NoSync {
		t.Errorf("fresh %v, no sync %v, want both", f.opt.Fresh, c.Store.NoSync)
	}
}

// TestResumeWithoutURL: a directory that holds a crawl needs no URL.
func TestResumeWithoutURL(t *testing.T) {
	f := &fake{sum: fetched()}
	cli := newCLI(t).use(f)
	if err := os.MkdirAll("db/kv", 0o755); err != nil {
		t.Fatal(err)
	}
	cli.run("crawl").want(exitOK)
	cli.run("crawl", "--fresh").want(exitUsage, "name a URL")
	cli.run("crawl", "--dir", "other").want(exitUsage, "name a URL")
}

func TestLogFormat(t *testing.T) {
	for format, want := range map[string]string{"json": `"msg":"hello"`, "text": `msg=hello`, "auto": `"msg":"hello"`} {
		f := &fake{sum: fetched(), run: func(_ context.Context, f *fake) { f.opt.Log.Warn("hello"); f.opt.Log.Info("quiet") }}
		cli := newCLI(t).use(f).run("crawl", "http://a.test/", "--log-format", format).want(exitOK, want)
		if strings.Contains(cli.err, "quiet") {
			t.Errorf("info message at level warn: %s", cli.err)
		}
	}
}

// TestStdoutIsData: what the node writes to standard output is all there is.
func TestStdoutIsData(t *testing.T) {
	f := &fake{sum: fetched(), run: func(_ context.Context, f *fake) { io.WriteString(f.opt.Stdout, "{}\n") }}
	cli := newCLI(t).use(f).run("crawl", "a.test", "-o", "-").want(exitOK)
	if cli.stdout != "{}\n" {
		t.Errorf("standard output: %q", cli.stdout)
	}
}
