package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// paper is a news site on loopback: a front page and sections that list the
// articles published so far.
type paper struct {
	*httptest.Server
	mu       sync.Mutex
	articles int            // guarded by mu: published so far
	hits     map[string]int // guarded by mu: requests by path
}

func newPaper(t *testing.T, articles int) *paper {
	p := &paper{articles: articles, hits: map[string]int{}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *paper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hits[r.URL.Path]++
	var n int
	switch _, err := fmt.Sscanf(r.URL.Path, "/2026/%d.html", &n); {
	case err == nil && n <= p.articles:
		fmt.Fprintf(w, "<title>Article %d</title><h1>Article %d</h1>%s", n, n, strings.Repeat(fmt.Sprintf("<p>Sentence of article %d, which tells something at length, and goes on.</p>", n), 12))
	case r.URL.Path == "/" || r.URL.Path == "/world/":
		fmt.Fprint(w, "<title>Paper</title><a href=/>front</a><a href=/world/>world</a><a href=/about/>about</a>")
		for i := p.articles; i > 0; i-- {
			fmt.Fprintf(w, "<h3><a href=/2026/%d.html>What article %d has to say about things</a></h3>", i, i)
		}
	case r.URL.Path == "/about/":
		fmt.Fprint(w, "<title>About</title>nothing")
	default:
		http.NotFound(w, r)
	}
}

func (p *paper) count(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hits[path]
}

// config writes a file with a board, without manners: the site is ours.
func (p *paper) config(c *cli, keys string) {
	c.file("octopus.toml", fmt.Sprintf("fetcher.hostDelay = \"0s\"\nfetcher.allowNet = [\"127.0.0.0/8\"]\ncrawl.depth = 1\n\n[[board]]\nname = \"news\"\nentry = [%q]\n%s\n", p.URL+"/", keys))
}

// The board of a file is crawled without arguments. Articles are fetched once;
// navigation pages come back when their period is over, and bring what is new.
func TestBoardOfFile(t *testing.T) {
	p, c := newPaper(t, 3), newCLI(t)
	p.config(c, `article = ['/20\d\d/']
reject = ['/about/']
refresh = "1s"`)
	c.run("crawl", "-o", "out.jsonl", "--summary", "json").want(exitOK)
	if p.count("/") != 1 || p.count("/world/") != 1 || p.count("/2026/3.html") != 1 || p.count("/about/") != 0 {
		t.Errorf("requests %v", p.hits)
	}
	for _, r := range records(t, "out.jsonl") {
		want := "nav"
		if strings.Contains(r.URL, "/2026/") {
			want = "data"
		}
		if r.Board != "news" || r.Kind != want {
			t.Errorf("%s: board %q, kind %q; want %q", r.URL, r.Board, r.Kind, want)
		}
	}
}

// Without a period nothing is due any more, and the run says so.
func TestBoardNothingDue(t *testing.T) {
	p, c := newPaper(t, 3), newCLI(t)
	p.config(c, `refresh = "10h"`)
	c.run("crawl").want(exitOK)
	c.run("crawl").want(exitOK, "nothing is due in db; --watch waits for it")
	if p.count("/") != 1 {
		t.Errorf("requests %v", p.hits)
	}
}

func TestBoardConfigErrors(t *testing.T) {
	const head = "[[board]]\nname = \"a\"\nentry = ['http://a.test/']\n"
	for name, c := range map[string]struct{ toml, want string }{
		"unknown key":    {head + "articel = ['x']\n", `f.toml:4:1: unknown key "articel"; did you mean "article"?`},
		"far from any":   {head + "quux = 1\n", `f.toml:4:1: unknown key "quux"; there are name, entry, scope`},
		"second board":   {head + "[[board]]\nname = \"b\"\n  detph = 1\n", `f.toml:6:3: unknown key "detph"; did you mean "depth"?`},
		"wrong type":     {head + "depth = \"3\"\n", `f.toml:4:1: depth: want a whole number, got the string "3"`},
		"bad period":     {head + "refresh = \"soon\"\n", `f.toml:4:1: refresh: "soon" is no period; write it like 30m, or 10m..2h`},
		"bad pattern":    {head + "accept = ['ok',\n  '/(?!x)']\n", `f.toml:5:3: board[0].accept[1]: pattern "/(?!x)", character 2: invalid or unsupported Perl syntax`},
		"look-around":    {head + "accept = ['(?=x)']\n", `RE2 has no look-around: write what must not match as a reject pattern`},
		"bad entry":      {"[[board]]\nname = \"a\"\nentry = ['ftp://a.test/']\n", `f.toml:3:10: board[0].entry[0]: "ftp://a.test/" is no URL to start from`},
		"no entry":       {"[[board]]\nname = \"a\"\n", `f.toml:1:3: board[0].entry: is missing`},
		"no name":        {"\n[[board]]\nentry = ['http://a.test/']\n", `f.toml:2:3: board[0].name: is missing`},
		"bad name":       {"[[board]]\nname = \"a b\"\n", `f.toml:2:1: board[0].name: is "a b"; use letters`},
		"name is taken":  {head + head, `f.toml:5:1: board[1].name: is "a", like that of a board above`},
		"one bracket":    {"[board]\nname = \"a\"\n", `f.toml:1:2: board is written as [[board]]`},
		"bad word":       {head + "classify = \"yes\"\n", `f.toml:4:1: board[0].classify: is "yes"; use auto`},
		"period too low": {head + "refresh = \"2h..1h\"\n", `f.toml:4:1: board[0].refresh: ends before it begins`},
	} {
		t.Run(name, func(t *testing.T) {
			cli := newCLI(t)
			cli.file("f.toml", c.toml)
			cli.run("config", "check", "f.toml").want(exitConfig, c.want)
			cli.run("-C", "f.toml", "crawl").want(exitConfig, c.want)
		})
	}
}

// What config show prints of boards loads again.
func TestBoardConfigShow(t *testing.T) {
	c := newCLI(t)
	c.file("octopus.toml", "[[board]]\nname = \"a\"\nentry = ['http://a.test/']\narticle = ['/\\d+$']\nrefresh = \"10m..2h\"\n")
	first := c.run("config", "show", "--changed").want(exitOK).stdout
	if !strings.Contains(first, "[[board]]\nname = \"a\"\n") || !strings.Contains(first, "refresh = \"10m..2h\"") {
		t.Errorf("config show prints %s", first)
	}
	c.file("octopus.toml", first)
	if again := c.run("config", "show", "--changed").want(exitOK).stdout; again != first {
		t.Errorf("it loads to\n%s\nnot\n%s", again, first)
	}
}
