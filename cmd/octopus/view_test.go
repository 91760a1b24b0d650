package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"octopus"
	"octopus/node"
)

// busy is a status n seconds into a crawl that does 30 pages a second and finds
// 10 links a second.
func busy(n int) node.Status {
	st := node.Status{Elapsed: time.Duration(n) * time.Second, Fetches: int64(31 * n), Pages: int64(30 * n), Bytes: int64(n) * 1_000_000,
		InFlight: 16, Known: 18340, Class: [6]int64{2, 0, int64(30 * n), 31, 9, 2}, Skipped: map[string]int64{"scope": 500, "robots": 14},
		Last: node.Visit{URL: "http://a.test/world/a.html", Status: 200, Took: 84 * time.Millisecond, Title: "Title\x1b[31m 中文"}}
	st.Counts = octopus.Counts{Known: int64(3000 + 10*n), Queued: int64(3000 - 20*n), Later: 5, Leased: 16, Hosts: 7, Pages: int64(30 * n)}
	return st
}

func busyView(seconds int) *view {
	v := &view{head: "octopus  http://a.test/  scope=host"}
	for n := range seconds + 1 {
		v.update(busy(n))
	}
	return v
}

func TestBar(t *testing.T) {
	v := busyView(42)
	v.st.Waiting = "next a.test in 3.2s (Crawl-delay 10s)"
	const want = `octopus  http://a.test/  scope=host
 00:00:42  pages 1,260 / 3,420 found  █████░░░░░░░░░░░  36%  eta ~1m48s
 now 30/s  avg 30/s  2xx 1,260  3xx 31  4xx 9  5xx 2  err 2  42.0 MB
 queue 2,160  later 5  in flight 16   known again 18,340   skipped 514: scope 500, robots 14
 hosts 7   waiting: next a.test in 3.2s (Crawl-delay 10s)
 ████████████  last: 200 84ms http://a.test/world/a.html  “Title [31m 中文”`
	if got := strings.Join(v.bar(200), "\n"); got != want {
		t.Errorf("bar:\n%s\nwant:\n%s", got, want)
	}
	for _, columns := range []int{1, 20, 40, 79} {
		for _, line := range v.bar(columns) {
			if n := len([]rune(line)); n >= columns {
				t.Errorf("%d columns: line of %d: %s", columns, n, line)
			}
		}
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{{"abc", 3, "abc"}, {"abc", 2, "ab"}, {"中文x", 4, "中文"}, {"中文", 3, "中"}, {"e\u0301e", 1, "e\u0301"}, {"", 5, ""}} {
		if got := clip(c.text, c.columns); got != c.want {
			t.Errorf("clip(%q, %d) = %q, want %q", c.text, c.columns, got, c.want)
		}
	}
}

func TestPlain(t *testing.T) {
	v := busyView(42)
	const want = `t=42s pages=1260 found=3420 rate=30.0 2xx=1260 3xx=31 4xx=9 5xx=2 err=2 robots=14 queue=2160 later=5 inflight=16 hosts=7 bytes=42.0MB eta=~1m48s`
	if got := v.plain(); got != want {
		t.Errorf("plain:\n%s\nwant:\n%s", got, want)
	}
	v.st.Waiting = "0 of 7 hosts ready"
	if got := v.plain(); got != want+` waiting="0 of 7 hosts ready"` {
		t.Errorf("plain, waiting: %s", got)
	}
}

func TestObject(t *testing.T) {
	text, err := json.Marshal(busyView(42).object())
	const want = `{"type":"progress","elapsed_s":42,"pages":1260,"found":3420,"queued":2160,"later":5,"in_flight":16,"hosts":7,"rate":30,"eta_s":108,"bytes":42000000,` +
		`"status":{"1xx":0,"2xx":1260,"3xx":31,"4xx":9,"5xx":2},"errors":{},"skipped":{"robots":14,"scope":500},"waiting":""}`
	if err != nil || string(text) != want {
		t.Errorf("object: %v\n%s\nwant\n%s", err, text, want)
	}
	if v := (&view{}); v.object().ETA != nil || v.plain() == "" || len(v.bar(80)) != 6 {
		t.Error("a view without a status claims to know the time left, or does not render")
	}
}

func TestETA(t *testing.T) {
	for name, c := range map[string]struct {
		seconds  int
		maxPages int64
		maxTime  time.Duration
		want     time.Duration
	}{
		"one sample":  {0, 0, 0, 0},
		"crossing":    {100, 0, 0, 50 * time.Second},
		"page limit":  {10, 600, 0, 10 * time.Second},
		"time limit":  {10, 0, 15 * time.Second, 5 * time.Second},
		"never under": {149, 4471, 0, time.Second},
	} {
		v := busyView(c.seconds)
		if got := v.trend.eta(c.maxPages, c.maxTime, v.st); got != c.want {
			t.Errorf("%s: eta %s, want %s", name, got, c.want)
		}
	}
	growing := trend{}
	for n := range 10 {
		st := node.Status{Elapsed: time.Duration(n) * time.Second}
		st.Counts = octopus.Counts{Known: int64(100 * n), Queued: int64(90 * n)}
		growing.add(st)
	}
	if got := growing.eta(0, 0, node.Status{}); got != 0 {
		t.Errorf("found grows faster than done: eta %s, want none", got)
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234"} {
		if got := grouped(n); got != want {
			t.Errorf("grouped(%d) = %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1500: "1.5 kB", 41_800_000: "41.8 MB", 118_000_000: "118 MB", 3e12: "3.0 TB"} {
		if got := bytesText(n); got != want {
			t.Errorf("bytesText(%d) = %s, want %s", n, got, want)
		}
	}
}

// TestScreen: the block is erased before anything else is written, and at the
// end.
func TestScreen(t *testing.T) {
	var out bytes.Buffer
	s := &screen{w: &out}
	s.draw([]string{"a", "b"})
	s.Write([]byte("log\n"))
	s.Write([]byte("log\n"))
	s.draw([]string{"c"})
	s.draw([]string{"d"})
	s.clear()
	const up1, up2 = "\x1b[1A\r\x1b[J", "\x1b[2A\r\x1b[J"
	if want := "a\nb\n" + up2 + "log\nlog\n" + "c\n" + up1 + "d\n" + up1; out.String() != want {
		t.Errorf("got %q\nwant %q", out.String(), want)
	}
}

// TestProgressIntervals counts the lines of a crawl of 35 fake seconds.
func TestProgressIntervals(t *testing.T) {
	for args, want := range map[string]int{"--progress plain": 3, "--progress json --progress-interval 5s": 7, "--progress auto": 3, "--progress none": 0, "-q": 0} {
		cli := newCLI(t)
		synctest.Test(t, func(t *testing.T) {
			sum, start := fetched(), time.Now()
			f := &timed{fake: fake{sum: sum}, start: start}
			cli.open = func(node.Config, node.Options) (crawler, error) { return f, nil }
			cli.run(append([]string{"crawl", "http://a.test/"}, strings.Fields(args)...)...).want(exitOK)
		})
		if got := strings.Count(cli.err, "pages=") + strings.Count(cli.err, `"pages":`); got != want {
			t.Errorf("%s: %d lines, want %d:\n%s", args, got, want, cli.err)
		}
	}
}

// timed is a fake whose crawl takes 35 seconds.
type timed struct {
	fake
	start time.Time
}

func (f *timed) Run(context.Context, []string) (node.Summary, error) {
	<-time.After(35*time.Second + time.Millisecond)
	return f.sum, nil
}

func (f *timed) Status() node.Status { return busy(int(time.Since(f.start) / time.Second)) }
