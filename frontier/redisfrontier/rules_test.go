package redisfrontier_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"octopus"
	"octopus/frontier/frontiertest"
	"octopus/frontier/redisfrontier"
	"octopus/seen"
	"octopus/seen/redisseen"
)

// clock is the time of a test.
type clock struct {
	mu  sync.Mutex
	now time.Time // guarded by mu
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// world is a frontier in a time of its own.
type world struct {
	*testing.T
	*redisfrontier.Frontier
	*clock
	opt redisfrontier.Options
}

func newWorld(t *testing.T, o redisfrontier.Options) *world {
	_, c := start(t)
	w := &world{T: t, clock: &clock{now: time.Date(2026, 5, 8, 0, 0, 0, 0, time.UTC)}, opt: o}
	w.opt.Client, w.opt.Job, w.opt.Buckets, w.opt.Now = c, "test", 1, w.Now
	w.Frontier = open(t, w.opt)
	return w
}

func (w *world) add(links ...octopus.Link) string {
	w.Helper()
	v, err := w.Add(context.Background(), links)
	if err != nil {
		w.Fatal(err)
	}
	var words []string
	for _, v := range v {
		words = append(words, strings.TrimSpace(v.Code.String()+" "+v.Reason))
	}
	return strings.Join(words, ", ")
}

// lease takes one lease; nil where none is handed out now.
func (w *world) lease() *octopus.Lease {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	l, err := w.Lease(ctx, 1)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	if err != nil || len(l) != 1 {
		w.Fatal(l, err)
	}
	return &l[0]
}

// want takes a lease of the URL.
func (w *world) want(url string) octopus.Lease {
	w.Helper()
	l := w.lease()
	if l == nil || l.Link.URL.Text != "http://"+url {
		w.Fatalf("lease %+v, want %s; %s", l, url, w.Waiting())
	}
	return *l
}

func (w *world) none() {
	w.Helper()
	if l := w.lease(); l != nil {
		w.Fatalf("lease of %s, want none", l.Link.URL)
	}
}

// done reports a status for a lease, changed by change.
func (w *world) done(l octopus.Lease, status int, change ...func(*octopus.Outcome)) {
	w.Helper()
	o := octopus.Outcome{Lease: l, Stage: octopus.Fetched | octopus.Parsed, Start: w.Now(), End: w.Now(), Status: status, Lane: l.Link.Lane}
	for _, f := range change {
		f(&o)
	}
	if v, err := w.Done(context.Background(), []octopus.Outcome{o}); err != nil || v[0].Code != octopus.Accepted {
		w.Fatal(v, err)
	}
}

func failed(k octopus.Kind) func(*octopus.Outcome) {
	return func(o *octopus.Outcome) { o.Err = &octopus.Error{Op: "fetch", Kind: k} }
}

func link(text string, depth int) octopus.Link { return frontiertest.Link(text, depth) }

func (w *world) explain(url string) octopus.Explanation {
	w.Helper()
	e, err := w.Explain(context.Background(), frontiertest.URL(url))
	if err != nil {
		w.Fatal(err)
	}
	return e
}

func TestOrder(t *testing.T) {
	w := newWorld(t, plain())
	data, heavy, urgent := link("a.com/data", 9), link("a.com/heavy", 1), link("a.com/urgent", 5)
	data.Lane, heavy.Weight, urgent.Precedence = octopus.Data, 7, 0
	late := link("a.com/late", 0)
	late.Precedence = 3
	w.add(late, link("a.com/1", 1), link("a.com/2", 1), heavy, data, urgent)
	for _, path := range []string{"data", "heavy", "1", "2", "urgent", "late"} {
		w.done(w.want("a.com/"+path), 200)
	}
	w.add(link("b.com/5", 5), link("c.com/2", 2), link("d.com/3", 3))
	for _, url := range []string{"c.com/2", "d.com/3", "b.com/5"} {
		w.want(url)
	}
}

func TestLaneWeight(t *testing.T) {
	o := plain()
	o.LaneWeight = 2
	w := newWorld(t, o)
	for i := range 5 {
		l := link(fmt.Sprintf("a.com/d%d", i), 1)
		l.Lane = octopus.Data
		w.add(l, link(fmt.Sprintf("a.com/n%d", i), 1))
	}
	for _, path := range strings.Fields("d0 d1 n0 d2 d3 n1 d4 n2") {
		w.done(w.want("a.com/"+path), 200)
	}
}

func TestRobots(t *testing.T) {
	o := redisfrontier.Options{}
	w := newWorld(t, o)
	w.add(link("a.com/open", 1), link("a.com/secret/1", 0), link("a.com:8080/x", 5))
	l := w.want("a.com/robots.txt")
	if l.Purpose != octopus.FetchRobots {
		t.Errorf("purpose %d", l.Purpose)
	}
	w.none()
	w.done(l, 200, func(o *octopus.Outcome) { o.Robots = []byte("User-agent: *\nDisallow: /secret/\nCrawl-delay: 5\n") })
	w.advance(4 * time.Second)
	w.none() // the gap it asks for holds from its own response
	w.advance(1100 * time.Millisecond)
	w.done(w.want("a.com/open"), 200)
	if e := w.explain("a.com/secret/1"); e.State != "parked" || e.Reason != "robots" || !strings.Contains(fmt.Sprint(e.Facts), "line 2: Disallow: /secret/") {
		t.Errorf("explanation %+v", e)
	}
	w.advance(6 * time.Second)
	other := &world{T: t, clock: w.clock, Frontier: open(t, w.opt)} // a second process
	robots := other.want("a.com:8080/robots.txt")                   // another authority; the first is known
	other.done(robots, 404)
	w.advance(6 * time.Second)
	w.done(w.want("a.com:8080/x"), 200)
	if c := w.Counts(); c != (octopus.Counts{Known: 3, Done: 2, Parked: 1, Pages: 2}) {
		t.Errorf("counts %+v", c)
	}
}

func TestRobotsUnreachable(t *testing.T) {
	w := newWorld(t, redisfrontier.Options{})
	w.add(link("a.com/1", 1))
	w.done(w.want("a.com/robots.txt"), 500)
	w.advance(4 * time.Minute)
	w.none()
	if e := w.explain("a.com/1"); !strings.Contains(e.Waiting, "robots.txt unreachable") {
		t.Errorf("waiting: %q", e.Waiting)
	}
	w.advance(time.Minute + time.Second)
	w.done(w.want("a.com/robots.txt"), 404)
	w.advance(2 * time.Second)
	w.done(w.want("a.com/1"), 200)
}

func TestRetries(t *testing.T) {
	o := plain()
	o.MaxRetries, o.RetryBase = 2, 10*time.Second
	var records []string
	o.Records = func(_ context.Context, list []*octopus.Record) error {
		for _, r := range list {
			records = append(records, r.URL)
		}
		return nil
	}
	w := newWorld(t, o)
	w.add(link("a.com/1", 1))
	for attempt := range 3 {
		l := w.want("a.com/1")
		if l.Attempt != attempt || l.Visit != 1 {
			t.Errorf("attempt %d of visit %d, want %d of 1", l.Attempt, l.Visit, attempt)
		}
		w.done(l, 500, func(o *octopus.Outcome) { o.Record = &octopus.Record{URL: "http://a.com/1"} })
		if c := w.Counts(); attempt < 2 && (c.Later != 1 || c.Queued != 1 || len(records) != 0) {
			t.Errorf("counts %+v, records %v", c, records)
		}
		w.advance(time.Hour)
	}
	w.none()
	if e := w.explain("a.com/1"); e.State != "failed" || e.Reason != octopus.ReasonFailed || len(records) != 1 {
		t.Errorf("explanation %+v, records %v", e, records)
	}
	if c := w.Counts(); c != (octopus.Counts{Known: 1, Done: 1, Failed: 1}) {
		t.Errorf("counts %+v", c)
	}
}

func TestRetryAfter(t *testing.T) {
	w := newWorld(t, plain())
	w.add(link("a.com/1", 1), link("a.com/2", 2))
	w.done(w.want("a.com/1"), 503, func(o *octopus.Outcome) { o.RetryAfter = 30 * time.Second })
	w.advance(29 * time.Second)
	w.none()
	w.advance(1100 * time.Millisecond)
	if l := w.want("a.com/1"); l.Attempt != 0 {
		t.Errorf("attempt %d counted", l.Attempt)
	}
}

func TestDeadHost(t *testing.T) {
	w := newWorld(t, plain())
	w.add(link("a.com/1", 0))
	for i := range 50 {
		w.add(link(fmt.Sprintf("a.com/x%d", i), 2))
	}
	for range 2 {
		l := w.want("a.com/1")
		w.done(l, 0, failed(octopus.KindNoHost))
		w.advance(31 * time.Second)
	}
	for range 100 { // each call parks for as long as its context lasts
		if w.none(); w.Counts().Parked == 50 {
			break
		}
	}
	if c := w.Counts(); c.Parked != 50 || c.Queued != 0 || c.Failed != 1 || c.Hosts != 0 {
		t.Errorf("counts %+v", c)
	}
	if got := w.add(link("a.com/new", 1)); got != "parked dead" {
		t.Errorf("a link to a dead host: %s", got)
	}
	if e := w.explain("a.com/x3"); e.Reason != octopus.ReasonDead || !strings.Contains(fmt.Sprint(e.Facts), "no such host, asked 2 times") {
		t.Errorf("explanation %+v", e)
	}
	w.advance(25 * time.Hour)
	if got := w.add(link("a.com/later", 1)); got != "queued" {
		t.Errorf("a link a day later: %s", got)
	}
}

func TestBreaker(t *testing.T) {
	o := plain()
	o.MaxRetries, o.RetryBase = 100, time.Second
	w := newWorld(t, o)
	w.add(link("a.com/1", 0))
	for range 5 {
		w.done(w.want("a.com/1"), 0, failed(octopus.KindConnect))
		w.advance(4 * time.Minute)
	}
	w.none()
	w.advance(2 * time.Minute)
	w.want("a.com/1")
}

func TestQuota(t *testing.T) {
	o := plain()
	o.HostQuota, o.SiteQuota = 2, 3
	w := newWorld(t, o)
	got := w.add(link("www.a.com/1", 1), link("www.a.com/2", 1), link("www.a.com/3", 1), link("img.a.com/1", 1), link("b.com/1", 1))
	if got != "queued, queued, parked quota, parked quota, queued" {
		t.Error(got)
	}
	if e := w.explain("www.a.com/3"); !strings.Contains(fmt.Sprint(e.Facts), "host quota of 2") {
		t.Errorf("explanation %+v", e)
	}
}

func TestLeaseReturns(t *testing.T) {
	o := plain()
	o.HostDelay = time.Second
	w := newWorld(t, o)
	w.add(link("a.com/1", 0), link("a.com/2", 1))
	lost := w.want("a.com/1")
	w.none()
	w.advance(2*time.Minute + time.Millisecond)
	w.none() // the host waits a gap, as if the request had ended now
	w.advance(time.Second)
	l := w.want("a.com/1")
	if l.ID == lost.ID || l.Visit != 1 || l.Attempt != 0 {
		t.Errorf("lease %+v", l)
	}
	w.done(lost, 200) // the first holder reports after all, and was first
	o2 := octopus.Outcome{Lease: l, Stage: octopus.Parsed, Status: 200, End: w.Now()}
	if v, err := w.Done(t.Context(), []octopus.Outcome{o2}); err != nil || v[0].Code != octopus.Stale {
		t.Errorf("the second holder: %v, %v, want stale", v, err)
	}
}

func TestRelease(t *testing.T) {
	o := plain()
	o.HostDelay = time.Second
	w := newWorld(t, o)
	w.add(link("a.com/1", 0), link("a.com/2", 1))
	l := w.want("a.com/1")
	end := w.Now()
	w.Release(octopus.Outcome{Lease: l, Status: 200, End: end})
	w.advance(1100 * time.Millisecond)
	second := w.want("a.com/2") // before the first is done
	w.done(l, 200, func(o *octopus.Outcome) { o.End = end })
	w.none() // the second request is under way: Done did not free the host again
	w.done(second, 200)
}

func TestSiteDelay(t *testing.T) {
	o := plain()
	o.SiteDelay = 10 * time.Second
	w := newWorld(t, o)
	other := &world{T: t, clock: w.clock, Frontier: open(t, w.opt)}
	w.add(link("www.a.com/1", 0), link("img.a.com/1", 1), link("b.com/1", 2))
	l := w.want("www.a.com/1")
	other.want("b.com/1")
	other.none()
	w.done(l, 200)
	w.advance(9 * time.Second)
	other.none()
	w.advance(1100 * time.Millisecond)
	other.want("img.a.com/1")
}

func TestIPDelay(t *testing.T) {
	o := plain()
	o.IPDelay = 10 * time.Second
	w := newWorld(t, o)
	ip := func(o *octopus.Outcome) { o.IP = netip.MustParseAddr("192.0.2.1") }
	for _, host := range []string{"a.com", "b.com"} { // both answer from one address
		w.add(link(host+"/1", 0))
		w.done(w.want(host+"/1"), 200, ip)
	}
	w.advance(11 * time.Second)
	w.add(link("a.com/2", 0), link("b.com/2", 1))
	l := w.want("a.com/2")
	w.none()
	w.advance(5 * time.Second)
	w.done(l, 200, ip)
	w.none()
	w.advance(5 * time.Second)
	w.none()
	w.advance(5100 * time.Millisecond)
	w.want("b.com/2")
}

func TestRelink(t *testing.T) {
	o := plain()
	o.Relink = frontiertest.Always
	w := newWorld(t, o)
	w.add(link("a.com/1", 3))
	w.done(w.want("a.com/1"), 200)
	w.add(link("a.com/1", 1))
	l := w.want("a.com/1")
	if l.Purpose != octopus.Relink || l.Link.Depth != 1 || l.Visit != 2 {
		t.Errorf("lease %+v", l)
	}
	w.done(l, 200, func(o *octopus.Outcome) { o.NoRequest = true })
	if c := w.Counts(); c.Pages != 1 || c.Done != 1 || c.Known != 1 {
		t.Errorf("counts %+v", c)
	}
	// Met by a shorter way while it is fetched: its links are read again.
	w.add(link("a.com/2", 5))
	l = w.want("a.com/2")
	w.add(link("a.com/2", 2))
	w.done(l, 200)
	if l := w.want("a.com/2"); l.Purpose != octopus.Relink || l.Link.Depth != 2 {
		t.Errorf("lease %+v", l)
	}
}

// TestTwoHoursOfWindows is the published experiment through the frontier: what
// the windows forget is fetched again.
func TestTwoHoursOfWindows(t *testing.T) {
	w := newWorld(t, plain())
	set, err := redisseen.Open(t.Context(), redisseen.Options{Client: w.opt.Client, Name: "dup", Kind: redisseen.Window,
		Granularity: seen.Hour, Windows: 2, Capacity: 1000, CallerTime: true})
	if err != nil {
		t.Fatal(err)
	}
	w.opt.Seen = set
	w.Frontier = open(t, w.opt)
	fetchAll := func(from, to int) (fetched int) {
		for i := from; i < to; i++ {
			w.add(link(fmt.Sprintf("a.com/%d", i), 1))
		}
		for l := w.lease(); l != nil; l = w.lease() {
			w.done(*l, 200)
			fetched++
		}
		return fetched
	}
	for i, step := range []struct {
		wait           time.Duration
		from, to, want int
	}{
		{0, 0, 100, 100},
		{time.Hour, 0, 200, 100},    // hour 2 never repeats hour 1
		{time.Hour, 0, 300, 200},    // hour 3 repeats 1, not 2
		{time.Hour, 0, 300, 100},    // hour 4 repeats 2, not 3 and what 3 repeated
		{72 * time.Hour, 0, 50, 50}, // all is forgotten
	} {
		w.advance(step.wait)
		if n := fetchAll(step.from, step.to); n != step.want {
			t.Errorf("step %d: %d fetched, want %d", i, n, step.want)
		}
	}
	if c := w.Counts(); c.Known != 300 || c.Done != 300 || c.Pages != 550 {
		t.Errorf("counts %+v", c)
	}
}

func TestPromisesInWords(t *testing.T) {
	for words, args := range map[string][]string{
		"nothing is kept": nil,
		"every change":    {"--appendonly", "yes", "--appendfsync", "always"},
		"the last second": {"--appendonly", "yes", "--appendfsync", "everysec"},
		"last snapshot":   {"--save", "60 1"},
	} {
		srv, _ := start(t, args...)
		o := plain()
		o.URL = srv.URL()
		f := open(t, o)
		e, err := f.Explain(t.Context(), frontiertest.URL("a.com/1"))
		if err != nil || e.State != "unknown" || !strings.Contains(fmt.Sprint(e.Facts), words) || !strings.Contains(f.Promises().String(), words) {
			t.Errorf("%v: %+v, %v, want %q", args, e, err, words)
		}
	}
}

func TestBadOptions(t *testing.T) {
	_, c := start(t)
	for want, o := range map[string]redisfrontier.Options{
		"without spaces":  {Client: c, Job: "a b"},
		"buckets":         {Client: c, Buckets: 5000},
		"redis://host":    {URL: "http://x"},
		"does not answer": {URL: "redis://127.0.0.1:1"},
	} {
		if _, err := redisfrontier.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want an error with %q", o, err, want)
		}
	}
	c.HSet(t.Context(), "{old}:job", "format", 9)
	if _, err := redisfrontier.Open(t.Context(), redisfrontier.Options{Client: c, Job: "old"}); err == nil || !strings.Contains(err.Error(), "format 9") {
		t.Errorf("keys of another format: %v", err)
	}
	long := link("a.com/"+strings.Repeat("x", 70_000), 0)
	o := plain()
	o.Client = c
	f := open(t, o)
	if v, err := f.Add(t.Context(), []octopus.Link{long, link("a.com/1", 0)}); err != nil || v[0].Code != octopus.Rejected || v[1].Code != octopus.Queued {
		t.Errorf("a link too long for a record: %v, %v", v, err)
	}
	if _, err := f.Add(t.Context(), []octopus.Link{{}}); err == nil {
		t.Error("a link without a URL is taken")
	}
}

var (
	_ redisfrontier.Seen     = (*redisseen.Set)(nil)
	_ redisfrontier.LinkSeen = redisseen.ScrapySet{}
)

// TestScrapyProject takes a Scrapy-Redis project over: its start URLs, and the
// fingerprints of what it met.
func TestScrapyProject(t *testing.T) {
	w := newWorld(t, plain())
	c, ctx := w.opt.Client, t.Context()
	c.RPush(ctx, "spider:start_urls", "http://a.com/1", "http://a.com/2", `{"url": "http://a.com/3", "meta": {"k": 1}}`,
		`{"url": "http://a.com/2", "method": "post"}`, "no URL")
	for _, url := range []string{"http://a.com/2", "http://a.com/old?b=1&a=2"} {
		f, _ := redisseen.ScrapyFingerprint(redisseen.Scrapy26, "", url, nil)
		c.SAdd(ctx, "spider:dupefilter", fmt.Sprintf("%x", f))
	}
	set, err := redisseen.Open(ctx, redisseen.Options{Client: c, Name: "dup"})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := set.Import(ctx, time.Now(), "spider:dupefilter"); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	w.opt.Seen = redisseen.ScrapySet{Set: set, Version: redisseen.Scrapy26}
	w.Frontier = open(t, w.opt)
	n, err := w.ImportStartURLs(ctx, "spider:start_urls")
	if n != 3 || err == nil || !strings.Contains(err.Error(), `member "no URL"`) {
		t.Errorf("%d start URLs, %v, want 3 and a word on the bad one", n, err)
	}
	if got := w.add(link("a.com/old?a=2&b=1", 1), link("a.com/new", 1)); got != "known, queued" {
		t.Errorf("a URL that the spider met, and another: %s", got)
	}
	got := map[string]bool{}
	for l := w.lease(); l != nil; l = w.lease() {
		got[l.Link.Method+" "+l.Link.URL.Text] = true
		w.done(*l, 200)
	}
	if len(got) != 4 || !got["POST http://a.com/2"] || !got[" http://a.com/3"] {
		t.Errorf("requests %v", got)
	}
	for key, want := range map[string]string{"nothing": "no such key", "dup:plan": "it is a hash"} {
		if _, err := w.ImportStartURLs(ctx, key); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("import of %s: %v", key, err)
		}
	}
}
