package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
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
	asked    *sync.Cond     // on mu: broadcast with each request
}

func newPaper(t *testing.T, articles int) *paper {
	p := &paper{articles: articles, hits: map[string]int{}}
	p.asked = sync.NewCond(&p.mu)
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *paper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hits[r.URL.Path]++
	p.asked.Broadcast()
	var n int
	switch _, err := fmt.Sscanf(r.URL.Path, "/2026/%d.html", &n); {
	case err == nil && n <= p.articles:
		fmt.Fprintf(w, "<title>Article %d</title><h1>Article %d</h1>%s", n, n, story(n))
	case r.URL.Path == "/feed.xml":
		fmt.Fprint(w, "<rss><channel>")
		for i := p.articles; i > 0; i-- {
			fmt.Fprintf(w, "<item><link>%s/2026/%d.html</link></item>", p.URL, i)
		}
		fmt.Fprint(w, "</channel></rss>")
	case (r.URL.Path == "/" || r.URL.Path == "/world/") && r.Header.Get("If-None-Match") == p.etag():
		p.hits["304"]++
		w.WriteHeader(http.StatusNotModified)
	case r.URL.Path == "/" || r.URL.Path == "/world/":
		w.Header().Set("ETag", p.etag())
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

// story is the text of an article.
func story(n int) string {
	var b strings.Builder
	for i, what := range strings.Fields("Monday Tuesday Wednesday Thursday Friday Saturday Sunday spring summer autumn winter") {
		fmt.Fprintf(&b, "<p>On %s the council of article %d met for the %dth time, and had much to say about it.</p>", what, n, i+2)
	}
	return b.String()
}

// etag changes with each article.
func (p *paper) etag() string { return fmt.Sprintf(`"%d articles"`, p.articles) }

func (p *paper) publish(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.articles = n
}

// wait returns once a path was asked for more than n times.
func (p *paper) wait(path string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.hits[path] <= n {
		p.asked.Wait()
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
	p.publish(5)
	c.run("board", "recheck", "news").want(exitOK) // no test waits for a second
	c.run("crawl", "-o", "out.jsonl").want(exitOK)
	if p.count("/") != 2 || p.count("/world/") != 2 || p.count("/2026/3.html") != 1 || p.count("/2026/5.html") != 1 {
		t.Errorf("after the refresh: requests %v", p.hits)
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
		"no unit":        {head + "refresh = 10\n", `f.toml:4:1: refresh: want a period like "30m", got 10`},
		"bad period":     {head + "refresh = \"soon\"\n", `f.toml:4:1: refresh: "soon" is no period; write it like 30m, or 10m..2h`},
		"bad pattern":    {head + "accept = ['ok',\n  '/(?!x)']\n", `f.toml:5:3: board[0].accept[1]: pattern "/(?!x)", character 2: invalid or unsupported Perl syntax`},
		"look-around":    {head + "accept = ['(?=x)']\n", `RE2 has no look-around: write what must not match as a reject pattern`},
		"bad entry":      {"[[board]]\nname = \"a\"\nentry = ['ftp://a.test/']\n", `f.toml:3:10: board[0].entry[0]: "ftp://a.test/" is no URL to start from`},
		"no entry":       {"[[board]]\nname = \"a\"\n", `f.toml:1:3: board[0].entry: is missing`},
		"no name":        {"\n[[board]]\nentry = ['http://a.test/']\n", `f.toml:2:3: board[0].name: is missing`},
		"bad name":       {"[[board]]\nname = \"a b\"\n", `f.toml:2:1: board[0].name: is "a b"; use letters`},
		"name is taken":  {head + head, `f.toml:5:1: board[1].name: is "a", like that of a board above`},
		"one bracket":    {"[board]\nname = \"a\"\n", `f.toml:1:2: board is written as [[board]]`},
		"more brackets":  {"[[boards]]\nname = \"a\"\n", `f.toml:1:3: unknown key "boards"; did you mean "board"?`},
		"bad escape":     {head + "accept = [\"\\d\"]\n", `f.toml:4:12: invalid escape character U+0064 'd'; write a pattern in single quotes`},
		"no depth":       {head + "depth = -2\n", `f.toml:4:1: board[0].depth: is -2; -1 has no limit`},
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

// Boards are added, changed, paused, resumed and removed while the crawl runs.
func TestBoardsLive(t *testing.T) {
	p, c := newPaper(t, 3), newCLI(t)
	c.file("octopus.toml", "fetcher.hostDelay = \"0s\"\nfetcher.allowNet = [\"127.0.0.0/8\"]\ncrawl.watch = true\n")
	signals := make(chan chan<- os.Signal, 1)
	crawl := &cli{t: t, notify: func(s chan<- os.Signal) func() { signals <- s; return func() {} }}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		crawl.run("crawl")
	}()
	stop := <-signals // the node is open now
	board := func(args ...string) *cli {
		t.Helper()
		for {
			if c.run(append([]string{"board"}, args...)...); c.code != exitLocked { // it does not listen yet
				return c.want(exitOK)
			}
		}
	}
	board("add", "front", p.URL+"/", "--scope", "page", "--refresh", "1h")
	p.wait("/", 0)
	board("edit", "front", "--scope", "host", "--depth", "1")
	board("recheck", "front")
	p.wait("/world/", 0)
	p.wait("/2026/3.html", 0)

	board("pause", "front")
	if c := board("list"); !strings.Contains(c.stdout, "front\tpaused\tevery 1h") {
		t.Errorf("list prints %s", c.stdout)
	}
	p.publish(4)
	visits := p.count("/")
	board("recheck", "front")
	board("resume", "front")
	p.wait("/", visits)
	p.wait("/2026/4.html", 0)

	visits = p.count("/")
	board("rm", "front")
	if c := board("list"); c.stdout != "" {
		t.Errorf("list prints %s", c.stdout)
	}
	board("add", "front", p.URL+"/world/", "--depth", "0") // the same name again
	board("show", "front")
	stop <- os.Interrupt
	<-ended
	if crawl.code != exitSIGINT {
		t.Errorf("the crawl ended with %d: %s", crawl.code, crawl.err)
	}
	if n := p.count("/"); n != visits {
		t.Errorf("the removed board was visited %d times", n-visits)
	}
	if c.run("board", "show", "front").want(exitOK); !strings.Contains(c.stdout, p.URL+"/world/") {
		t.Errorf("after the crawl: %s", c.stdout)
	}
}

func TestBoardVerbErrors(t *testing.T) {
	c := newCLI(t)
	c.run("board", "list").want(exitOK)
	if _, err := os.Stat("db"); err == nil {
		t.Error("board list leaves a directory behind")
	}
	c.file("octopus.toml", "[[board]]\nname = \"filed\"\nentry = ['http://f.test/']\n")
	c.run("board", "add", "a", "http://a.test/").want(exitOK, "a is added")
	for args, want := range map[string]string{
		"show nobody":                   `there is no board "nobody" in db; octopus board list`,
		"add a http://b.test/":          `there is a board "a" already; octopus board edit changes it`,
		"edit b --depth 1":              `there is no board "b"`,
		"edit a":                        `change what?`,
		"edit a --accept (":             `--accept pattern "(", character 1: missing closing )`,
		"edit a --render maybe":         `--render is "maybe"; use off, auto or always`,
		"edit filed --depth 1":          `is defined in`,
		"rm filed":                      `change it there`,
		"add b ftp://b.test/":           `bad URL`,
		"add crawl http://b.test/":      `is the board of the command line`,
		"export b":                      `there is no board "b"`,
		"test http://elsewhere.test/":   `board a refuses http://elsewhere.test/: outside scope host (a.test)`,
		"test http://a.test/ --pages 0": `--pages must be at least 1`,
		"import nothing.toml":           `nothing.toml`,
	} {
		if c.run(append([]string{"board"}, strings.Fields(args)...)...); c.code == exitOK || !strings.Contains(c.err, want) {
			t.Errorf("board %s: code %d, %s; want %q", args, c.code, c.err, want)
		}
	}
	c.run("board", "pause", "filed").want(exitOK)
	c.run("board", "inject", "filed").want(exitFailure, "is paused; octopus board resume filed")
	c.run("board", "list").want(exitOK)
	if !strings.HasPrefix(c.stdout, "filed\tpaused") || !strings.Contains(c.stdout, "\na\tactive\tevery 1h\thttp://a.test/\tby hand\n") {
		t.Errorf("list prints %s", c.stdout)
	}
	c.file("octopus.toml", "[[board]]\nname = \"a\"\nentry = ['http://f.test/']\n")
	c.run("crawl").want(exitConfig, `"a" was added by hand to db`)
}

func TestBoardExportImport(t *testing.T) {
	c := newCLI(t)
	c.run("board", "add", "a", "http://a.test/", "http://a.test/b", "--article", `/\d+$`, "--refresh", "10m..2h", "--quota", "5", "--delay", "2s").want(exitOK)
	c.run("board", "add", "b", "http://b.test/", "--recrawl", "7d", "--classify", "auto").want(exitOK)
	exported := c.run("board", "export").want(exitOK).stdout
	c.file("boards.toml", exported)
	c.run("board", "import", "boards.toml", "--dir", "other").want(exitOK, "2 boards imported")
	c.run("board", "import", "boards.toml", "--dir", "other").want(exitOK, "2 boards imported")
	if again := c.run("board", "export", "--dir", "other").want(exitOK).stdout; again != exported {
		t.Errorf("exported again:\n%s\nnot\n%s", again, exported)
	}
	c.stdin = exported
	c.run("board", "import", "-", "--dir", "third").want(exitOK)
	c.file("boards.json", c.run("board", "export", "--json").want(exitOK).stdout)
	c.run("board", "import", "boards.json", "--dir", "fourth").want(exitOK)
	if again := c.run("board", "export", "--dir", "fourth").want(exitOK).stdout; again != exported {
		t.Errorf("by JSON:\n%s\nnot\n%s", again, exported)
	}
	c.run("board", "show", "a", "--dir", "none").want(exitFailure)
	c.run("why", "http://a.test/", "--dir", "none").want(exitFailure, "none holds no crawl") // a look makes no directory
	c.file("bad.toml", exported+"[[board]]\nname = \"c\"\nentyr = []\n")
	c.run("board", "import", "bad.toml", "--dir", "fifth").want(exitConfig, `did you mean "entry"?`)
	c.run("board", "export", "--dir", "fifth").want(exitOK)
	if c.stdout != "" {
		t.Errorf("a part of a bad file was imported: %s", c.stdout)
	}
}

// board test tells for each page and link which rule decided.
func TestBoardTest(t *testing.T) {
	p, c := newPaper(t, 3), newCLI(t)
	p.config(c, "article = ['/20\\d\\d/']\nreject = ['/about/']")
	c.run("board", "test", p.URL+"/", "-n", "3").want(exitOK)
	for _, want := range []string{
		"200  nav    " + p.URL + "/\n     nav because: no article pattern matches\n",
		"        3  -> news, data", `scope host (127.0.0.1), article "/20\\d\\d/"   like `,
		"        1  -> news, nav    scope host (127.0.0.1)", "        1  refused", `reject "/about/"`,
	} {
		if !strings.Contains(c.stdout, want) {
			t.Errorf("board test lacks %q:\n%s", want, c.stdout)
		}
	}
	if n := strings.Count(c.stdout, "\n200  ") + 1; n != 3 {
		t.Errorf("%d pages, want 3:\n%s", n, c.stdout)
	}
	if _, err := os.Stat("db"); err == nil {
		t.Error("board test leaves a directory behind")
	}
	c.run("board", "test", p.URL+"/", "--article", "/world/", "-n", "1", "--json").want(exitOK)
	if !strings.Contains(c.stdout, `"board":"test"`) || !strings.Contains(c.stdout, `"lane":"data"`) {
		t.Errorf("with a board of its own: %s", c.stdout)
	}
}

// Without article patterns pages are judged by what they look like; the reason
// is in the record and in why, and articles come with their text.
func TestBoardJudges(t *testing.T) {
	p, c := newPaper(t, 12), newCLI(t)
	p.config(c, "refresh = \"1s\"")
	c.run("crawl", "-o", "out.jsonl").want(exitOK)
	for _, r := range records(t, "out.jsonl") {
		isArticle := strings.Contains(r.URL, "/2026/")
		if r.KindReason == "" || (r.Kind == "data") != isArticle || (r.Text != "") != isArticle || (r.Markdown != "") != isArticle {
			t.Errorf("%s: %s because %q, text %d bytes", r.URL, r.Kind, r.KindReason, len(r.Text))
		}
	}
	if c.run("why", p.URL+"/2026/7.html").want(exitOK); !strings.Contains(c.stdout, "class ") || !strings.Contains(c.stdout, "data with p ") {
		t.Errorf("why says\n%s", c.stdout)
	}
	p.publish(13)
	c.run("board", "recheck", "news").want(exitOK)
	c.run("crawl", "-o", "out.jsonl").want(exitOK)
	if c.run("why", p.URL+"/").want(exitOK); !strings.Contains(c.stdout, "as at the last visit; data with p ") {
		t.Errorf("at its second visit, why says\n%s", c.stdout)
	}
	if p.count("/2026/7.html") != 1 || p.count("/") != 2 {
		t.Errorf("requests %v", p.hits)
	}
}

// A page that has not changed is asked for with its validators, and its second
// visit is no news for the outputs.
func TestBoardNotModified(t *testing.T) {
	p, c := newPaper(t, 3), newCLI(t)
	p.config(c, "article = ['/20\\d\\d/']")
	c.run("crawl", "-o", "out.jsonl").want(exitOK)
	first := len(records(t, "out.jsonl"))
	c.run("board", "recheck", "news").want(exitOK)
	c.run("crawl", "-o", "out.jsonl").want(exitOK)
	if p.count("304") != 2 || p.count("/") != 2 {
		t.Errorf("requests %v", p.hits)
	}
	for _, r := range records(t, "out.jsonl")[first:] {
		if r.Status == http.StatusNotModified {
			t.Errorf("a record of %s with status %d", r.URL, r.Status)
		}
	}
	if c.run("why", p.URL+"/").want(exitOK); !strings.Contains(c.stdout, "304") || !strings.Contains(c.stdout, "Paper") {
		t.Errorf("why says\n%s", c.stdout)
	}
}

// A feed is an entry like any other: what it lists is fetched, as articles.
func TestBoardOfFeed(t *testing.T) {
	p, c := newPaper(t, 3), newCLI(t)
	c.file("octopus.toml", "fetcher.hostDelay = \"0s\"\nfetcher.allowNet = [\"127.0.0.0/8\"]\n")
	c.run("board", "add", "feed", p.URL+"/feed.xml", "--depth", "1").want(exitOK)
	c.run("crawl", "--watch=false", "-o", "out.jsonl").want(exitOK)
	p.publish(4)
	c.run("board", "recheck", "feed").want(exitOK)
	c.run("crawl", "-o", "out.jsonl").want(exitOK)
	for path, want := range map[string]int{"/feed.xml": 2, "/2026/1.html": 1, "/2026/4.html": 1, "/": 0} {
		if got := p.count(path); got != want {
			t.Errorf("%s was fetched %d times, want %d", path, got, want)
		}
	}
}
