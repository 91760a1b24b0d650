package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"octopus/node"
)

// newLists starts a site with a page, one that breaks off, one that robots.txt
// forbids and a few that a page limit leaves queued.
func newLists(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<a href=/broken>b</a><a href=/private>p</a>")
			for i := range 5 {
				fmt.Fprintf(w, "<a href=/q/%d>q</a>", i)
			}
		case "/broken":
			panic(http.ErrAbortHandler)
		default:
			fmt.Fprint(w, "text")
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// lines returns the JSON objects of standard output.
func (c *cli) lines() (all []map[string]any) {
	c.t.Helper()
	for line := range strings.Lines(c.stdout) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			c.t.Fatalf("%v in %q", err, line)
		}
		all = append(all, v)
	}
	return all
}

// urls returns the paths of the items printed.
func (c *cli) urls(base string) string {
	c.t.Helper()
	var all []string
	for _, v := range c.lines() {
		all = append(all, strings.TrimPrefix(v["url"].(string), base))
	}
	return strings.Join(all, " ")
}

// TestLists crawls a site that leaves a URL in every list, and works on them.
func TestLists(t *testing.T) {
	s, c := newLists(t), newCLI(t)
	crawl := func(args ...string) {
		t.Helper()
		c.run(append([]string{"crawl", s.URL + "/", "--allow-net", "127.0.0.0/8", "--host-delay", "0s", "--retries", "0", "-q"}, args...)...).want(exitOK)
	}
	want := func(urls string, args ...string) {
		t.Helper()
		c.run(append(args, "--json")...).want(exitOK)
		if got := c.urls(s.URL); got != urls {
			t.Errorf("octopus %s printed %q, want %q", strings.Join(args, " "), got, urls)
		}
	}
	crawl()
	want("/broken", "bad", "ls")
	if v := c.lines()[0]; v["reason"] == "" || v["detail"] == "" {
		t.Errorf("bad URL without a reason: %v", v)
	}
	want("/private", "parked", "ls", "--reason", "robots")
	want("/private", "parked", "ls", "--host", "127.0.0.1", "--board", "crawl", "--match", "priv.te$")
	want("", "parked", "ls", "--host", "other.test")
	want("", "parked", "ls", "--site", "other.test")
	want("", "parked", "ls", "--board", "other")
	want("", "parked", "ls", "--reason", "quota")

	c.run("bad", "retry", "--match", "nothing").want(exitOK)
	want("", "queue", "ls")
	c.run("bad", "retry", "--json").want(exitOK)
	if c.stdout != "{\"changed\":1}\n" {
		t.Errorf("bad retry printed %q", c.stdout)
	}
	want("/broken", "queue", "ls")
	want("", "bad", "ls")
	c.run("parked", "revive", "--site", "127.0.0.1").want(exitOK)
	want("/private", "queue", "ls", "--match", "private")

	c.run("queue", "drop").want(exitUsage, "--match")
	want("/broken", "queue", "drop", "--match", "broken", "--preview")
	want("/broken", "queue", "ls", "--match", "broken") // a preview changes nothing
	c.run("queue", "drop", "--match", "broken").want(exitOK)
	want("/broken", "parked", "ls", "--reason", "dropped")
	crawl()
	want("/private", "parked", "ls", "--reason", "robots") // asked again, forbidden again
}

func TestClearNav(t *testing.T) {
	s, c := newLists(t), newCLI(t)
	for range 2 {
		c.run("crawl", s.URL+"/", "--allow-net", "127.0.0.0/8", "--host-delay", "0s", "-n", "1", "-q").want(exitOK)
		c.run("queue", "ls", "--lane", "nav", "--json").want(exitOK)
		nav := len(c.lines())
		c.run("queue", "ls", "--lane", "data", "--json").want(exitOK)
		data := len(c.lines())
		if nav+data == 0 {
			t.Fatal("the page limit left nothing queued")
		}
		c.run("queue", "clear-nav", "--json").want(exitOK)
		if want := fmt.Sprintf("{\"changed\":%d}\n", nav); c.stdout != want {
			t.Errorf("clear-nav printed %q, want %q", c.stdout, want)
		}
		if c.run("queue", "ls", "--json").want(exitOK); len(c.lines()) != data {
			t.Errorf("%d URLs queued after clear-nav, want the %d data pages", len(c.lines()), data)
		}
		cleared := fmt.Sprintf("%d more were cleared from the queue", nav)
		c.run("parked", "ls", "--json").want(exitOK, cleared)
		c.run("parked", "revive").want(exitOK, cleared)
		if c.run("why", s.URL+"/q/1").want(exitOK); nav > 0 && !strings.Contains(c.stdout, "cleared") {
			t.Errorf("why says %s", c.stdout)
		}
		c.run("crawl", "--fresh", s.URL+"/", "--allow-net", "127.0.0.0/8", "--host-delay", "0s", "-n", "1", "-q").want(exitOK)
	}
	c.run("queue", "ls", "--lane", "fast").want(exitUsage, `--lane "fast"`)
}

// TestQueueInspect shows what the outputs of a crawl leave behind.
func TestQueueInspect(t *testing.T) {
	s, c := newLists(t), newCLI(t)
	c.run("crawl", s.URL+"/", "--allow-net", "127.0.0.0/8", "--host-delay", "0s", "--retries", "0", "-q", "-o", "out.jsonl").want(exitOK)
	c.run("queue", "inspect", "--json").want(exitOK)
	var v outboxView
	if err := json.Unmarshal([]byte(c.stdout), &v); err != nil {
		t.Fatal(err)
	}
	if v.Tail == 0 || v.Records != v.Tail-v.Head || len(v.Sinks) != 1 || v.Sinks[0].Pending != 0 || v.Sinks[0].Next != v.Tail {
		t.Errorf("queue inspect printed %s", c.stdout)
	}
	if c.run("queue", "inspect").want(exitOK); !strings.Contains(c.stdout, "out.jsonl: next") {
		t.Errorf("queue inspect printed %q", c.stdout)
	}
}

func TestHosts(t *testing.T) {
	s, c := newLists(t), newCLI(t)
	c.run("crawl", s.URL+"/", "--allow-net", "127.0.0.0/8", "--host-delay", "0s", "--retries", "0", "-q").want(exitOK)
	show := func() hostView {
		t.Helper()
		c.run("host", "show", "127.0.0.1", "--json").want(exitOK)
		var v hostView
		if err := json.Unmarshal([]byte(c.stdout), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := show(); v.Host != "127.0.0.1" || v.Known != 8 || v.Parked != 1 || v.Failed != 1 || v.Address != "127.0.0.1" || v.Blocked != 0 {
		t.Errorf("host show printed %+v", v)
	}
	c.run("host", "block", s.URL+"/any", "--for", "1h").want(exitOK, "is blocked until")
	if v := show(); v.Blocked < 3500 || v.Blocked > 3600 || v.Why != "blocked by an operator" {
		t.Errorf("blocked host shows %+v", v)
	}
	if c.run("host", "ls", "--blocked", "--match", "127").want(exitOK); !strings.Contains(c.stdout, "blocked for 59m") && !strings.Contains(c.stdout, "blocked for 1h") {
		t.Errorf("host ls printed %q", c.stdout)
	}
	c.run("host", "unblock", "127.0.0.1").want(exitOK)
	if v := show(); v.Blocked != 0 {
		t.Errorf("host is still blocked: %+v", v)
	}
	if c.run("host", "ls", "--blocked").want(exitOK); c.stdout != "" {
		t.Errorf("host ls --blocked printed %q", c.stdout)
	}
	c.run("host", "show", "none.test").want(exitFailure, "no such host")
	c.run("host", "block", "127.0.0.1", "--for", "-1s").want(exitUsage, "--for")
	c.run("host", "block", "127.0.0.1", "--for", "soon").want(exitUsage, "is no duration")
	c.run("host", "show", "http://").want(exitUsage, "no host name")
}

// TestStateVerbsNeedTheDirectory holds every verb that opens a state directory
// to the same two errors.
func TestStateVerbsNeedTheDirectory(t *testing.T) {
	c := newCLI(t)
	verbs := [][]string{{"bad", "ls"}, {"bad", "retry"}, {"parked", "ls"}, {"parked", "revive"}, {"queue", "ls"}, {"queue", "drop", "--match", "x"},
		{"queue", "clear-nav"}, {"queue", "inspect"}, {"host", "ls"}, {"host", "show", "a.test"}, {"host", "block", "a.test"}, {"host", "unblock", "a.test"},
		{"host", "merge", "a.test", "--into", "b.test"}, {"host", "unmerge", "a.test"}}
	for _, v := range verbs {
		c.run(v...).want(exitFailure, "db holds no crawl; name its directory with --dir")
	}
	n, err := node.Open(node.DefaultConfig(), node.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	for _, v := range verbs {
		c.run(v...).want(exitLocked, "db is in use by another process")
	}
	c.run("parked", "ls", "--match", "(").want(exitLocked)
}

// TestMannersOfTheCrawl: what looks at a directory goes by the gaps and the
// robots.txt policy of the crawl that was there, not by the defaults.
func TestMannersOfTheCrawl(t *testing.T) {
	s, c := newLists(t), newCLI(t)
	gap := func() float64 {
		t.Helper()
		c.run("host", "show", "127.0.0.1", "--json").want(exitOK)
		return c.lines()[0]["gap_s"].(float64)
	}
	crawl := func(args ...string) {
		t.Helper()
		c.run(append([]string{"crawl", s.URL + "/", "--allow-net", "127.0.0.0/8", "-n", "1", "-q"}, args...)...).want(exitOK)
	}
	crawl("--host-delay", "0s")
	if g := gap(); g != 0 {
		t.Errorf("after a crawl without host delay the gap is %g s", g)
	}
	c.run("board", "add", "other", "http://other.test/").want(exitOK)
	crawl("--fresh", "--host-delay", "7s", "--robots", "ignore")
	c.run("host", "block", "127.0.0.1", "--for", "1s").want(exitOK)
	if g := gap(); g != 7 {
		t.Errorf("after a crawl with a host delay of 7 s the gap is %g s", g)
	}
	if c.run("why", s.URL+"/q/1").want(exitOK); !strings.Contains(c.stdout, "host delay 7s") || !strings.Contains(c.stdout, "robots.txt    ignored") {
		t.Errorf("why says %s", c.stdout)
	}
	c.file("octopus.toml", "fetcher.hostDelay = \"9s\"\n")
	if g := gap(); g != 9 {
		t.Errorf("with 9 s in the configuration the gap is %g s", g)
	}
}
