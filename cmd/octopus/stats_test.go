package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"octopus/node"
)

// TestStats crawls a site with one page of each kind, twice, and reads the
// counters in every format.
func TestStats(t *testing.T) {
	s, c := newLists(t), newCLI(t)
	for range 2 {
		c.run("crawl", s.URL+"/", "--allow-net", "127.0.0.0/8", "--host-delay", "0s", "--retries", "0", "-q").want(exitOK)
	}
	sum := func(field string, args ...string) (n int) {
		t.Helper()
		c.run(append([]string{"stats", "--json"}, args...)...).want(exitOK)
		for _, v := range c.lines() {
			n += int(v[field].(float64))
		}
		return n
	}
	for field, want := range map[string]int{"requests": 8, "pages": 6, "new": 6, "failed": 1, "links": 8, "parked": 1, "articles": 0, "retries": 0} {
		for _, by := range []string{"hour", "day"} {
			if got := sum(field, "--by", by, "--split", "board,class"); got != want {
				t.Errorf("%s by %s: %d, want %d", field, by, got, want)
			}
		}
	}
	for want, args := range map[int][]string{
		1: {"--class", "robots"},
		7: {"--board", "crawl", "--class", "nav", "--since", "2h"},
		8: {"--since", time.Now().UTC().Add(-24 * time.Hour).Format(time.DateOnly)},
		0: {"--board", "other"},
	} {
		if len(args) > 2 && args[3] == "nav" {
			want -= 5 // texts are no pages
		}
		if got := sum("requests", args...); got != want {
			t.Errorf("%v: %d requests, want %d", args, got, want)
		}
	}
	if got := sum("requests", "--until", "2h"); got != 0 {
		t.Errorf("%d requests two hours ago", got)
	}
	for _, tt := range []struct{ args, want string }{
		{"--json", `"errors":{"disconnect":1}`},
		{"--by day", "day (UTC)"},
		{"--by day", "errors 1: disconnect 1"},
		{"--split class", "robots"},
		{"--csv", "start,board,class,requests,bytes,pages"},
		{"--csv", ",error_disconnect,"},
		{"--until 2h", "nothing happened"},
	} {
		c.run(append([]string{"stats"}, strings.Fields(tt.args)...)...).want(exitOK)
		if !strings.Contains(c.stdout, tt.want) {
			t.Errorf("stats %s printed %q, want %q in it", tt.args, c.stdout, tt.want)
		}
	}
}

func TestStatsRefuses(t *testing.T) {
	c := newCLI(t)
	c.run("stats").want(exitFailure, "holds no crawl")
	c.run("stats", "--by", "week").want(exitUsage, `--by "week": use hour, day`)
	c.run("stats", "--class", "article").want(exitUsage, "nav, data, other, robots")
	c.run("stats", "--split", "host").want(exitUsage, "board, class")
	c.run("stats", "--since", "soon").want(exitUsage, "--since", "write 36h")
	c.run("stats", "--until", "soon").want(exitUsage, "--until")
	c.run("stats", "--json", "--csv").want(exitUsage, "choose one")

	n, err := node.Open(node.DefaultConfig(), node.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	c.run("stats").want(exitLocked, "db is in use by another process")
	if runtime.GOOS == "linux" {
		c.want(exitLocked, fmt.Sprintf("(process %d: ", os.Getpid()))
	}
}

// TestStatsLive asks a crawl that runs.
func TestStatsLive(t *testing.T) {
	p, c := newPaper(t, 3), newCLI(t)
	p.config(c, "article = ['/20\\d\\d/']\nrefresh = \"1h\"")
	signals := make(chan chan<- os.Signal, 1)
	crawl := &cli{t: t, notify: func(s chan<- os.Signal) func() { signals <- s; return func() {} }}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		crawl.run("crawl", "--watch")
	}()
	stop := <-signals // the node is open now
	for articles := 0.0; articles < 3; {
		if c.run("stats", "--by", "day", "--json"); c.code == exitLocked {
			continue // it does not listen yet
		}
		c.want(exitOK)
		articles = 0
		for _, v := range c.lines() {
			articles += v["articles"].(float64)
		}
	}
	c.run("stats", "--board", "news", "--split", "board,class").want(exitOK)
	live := c.stdout
	stop <- os.Interrupt
	<-ended
	if c.run("stats", "--board", "news", "--split", "board,class").want(exitOK); !strings.Contains(live, "news") || c.stdout == "" {
		t.Errorf("while the crawl ran: %s\nafter it: %s", live, c.stdout)
	}
}

// TestCalendarEnds crawls a site with a calendar that goes on for ever. Its
// pages differ in a date, so no two are the same; a crawl without limits ends
// all the same, because near-duplicates are nothing new.
func TestCalendarEnds(t *testing.T) {
	menu := strings.Repeat("<p>The hall is open from nine to five, and the river bank all day and night.", 8)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var day int
		if _, err := fmt.Sscanf(r.URL.Path, "/day/%d", &day); err != nil && r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		date := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, day).Format("2 January 2006")
		fmt.Fprintf(w, "<!doctype html><title>%s</title>%s<h1>Events of %s</h1><p>There are none.", date, menu, date)
		for i := 1; i <= 3; i++ {
			fmt.Fprintf(w, "<a href=/day/%d>later</a> ", day+i)
		}
	}))
	defer s.Close()
	c := newCLI(t)
	c.run("crawl", s.URL+"/", "--allow-net", "127.0.0.0/8", "--host-delay", "0s", "-q", "--summary", "json").want(exitOK)
	if !strings.Contains(c.stdout, `"end":"frontier empty"`) {
		t.Errorf("the crawl ended with %s", c.stdout)
	}
	c.run("stats", "--by", "day", "--json").want(exitOK)
	sum := map[string]float64{}
	for _, v := range c.lines() {
		for _, field := range []string{"pages", "near_duplicates", "duplicates", "parked"} {
			sum[field] += v[field].(float64)
		}
	}
	if sum["pages"] < 200 || sum["pages"] > 250 || sum["near_duplicates"] < 190 || sum["duplicates"] > 0 || sum["parked"] == 0 {
		t.Errorf("counted %v", sum)
	}
	if c.run("parked", "ls", "--reason", "trap").want(exitOK); !strings.Contains(c.stdout, "its pattern brought new content") {
		t.Errorf("parked: %s", c.stdout)
	}
	if c.run("why", s.URL+"/day/7").want(exitOK); !strings.Contains(c.stdout, "fingerprint") {
		t.Errorf("why: %s", c.stdout)
	}
}
