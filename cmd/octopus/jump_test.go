package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// The two lines of the source work as they are printed, in its file.
func TestSourceConfig(t *testing.T) {
	c := newCLI(t)
	c.file("my.conf", "master.bucket.picker = \"advanced\"\n\nfetcher.jumpingUrls = [ \"https://www.baidu.com/link?url=.+\", \"https://www.bing.com/link?url=.+\"]\n")
	c.run("config", "check").want(exitOK, `my.conf: fetcher.jumpingUrls[0]: "k?url=" makes the "k" optional; "https://www.baidu.com/link\\?url=.+" is matched as well`, "my.conf is valid")
	c.run("config", "show", "--changed").want(exitOK)
	if !strings.Contains(c.stdout, `bucket.picker = "advanced"`) || !strings.Contains(c.stdout, `jumpingUrls = ["https://www.baidu.com/link?url=.+", "https://www.bing.com/link?url=.+"]`) {
		t.Errorf("config show prints\n%s", c.stdout)
	}
	c.file("my.conf", "fetcher.jumpingUrls = ['ok',\n  '(']\n")
	c.run("config", "check").want(exitConfig, `my.conf:2:3: fetcher.jumpingUrls[1]: pattern "(", character 1: missing closing )`)
	c.file("my.conf", "master.bucket.picker = \"advanced\"\n[master]\nlease = \"2m\"\n")
	c.run("config", "check").want(exitConfig, `my.conf:2:2: table [master] was opened already by the dotted line 1; move that line below [master]`)
}

// Links of a search engine are resolved first; what they lead to is judged,
// fetched once, and what leads nowhere is in the list of bad URLs.
func TestJumpingLinks(t *testing.T) {
	p, c := newPaper(t, 4), newCLI(t)
	var jumps atomic.Int64
	search := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := p.URL + "/2026/" + r.FormValue("url") + ".html"
		switch r.URL.Path + r.FormValue("how") {
		case "/s", "/t":
			fmt.Fprint(w, "<title>Results</title>")
			for _, link := range []string{"?url=1", "?url=2&how=meta", "?url=3&how=script", "?url=1&how=again", "?url=4&how=nowhere", "?url=4&how=gone", "?how=away"} {
				fmt.Fprintf(w, "<a href='/link%s'>a result</a> <a href='/t'>more</a>", strings.ReplaceAll(link, "&", "&amp;"))
			}
			return
		case "/link", "/linkagain":
			http.Redirect(w, r, to, http.StatusFound)
		case "/linkmeta":
			fmt.Fprintf(w, `<noscript><META http-equiv="refresh" content="0;URL='%s'"></noscript>`, to)
		case "/linkscript":
			fmt.Fprintf(w, `<script>window.location.replace("%s")</script>`, to)
		case "/linknowhere":
			fmt.Fprint(w, "nothing")
		case "/linkaway":
			http.Redirect(w, r, p.URL+"/about/", http.StatusFound)
		default:
			http.NotFound(w, r)
			return
		}
		jumps.Add(1)
	}))
	t.Cleanup(search.Close)
	c.file("octopus.toml", fmt.Sprintf(`fetcher.hostDelay = "0s"
fetcher.allowNet = ["127.0.0.0/8"]
fetcher.jumpingUrls = ['^%s/link?how=', '^%s/link\?url=']
crawl.sitemap = "off"

[[board]]
name = "search"
entry = ["%s/s"]
scope = "any"
depth = 2
accept = ['^%s/2026/', '^%s/t$']
`, search.URL, search.URL, search.URL, p.URL, search.URL))
	c.run("crawl", "-o", "out.jsonl").want(exitOK, `makes the "k" optional`)
	for path, want := range map[string]int{"/2026/1.html": 1, "/2026/2.html": 1, "/2026/3.html": 1, "/2026/4.html": 0, "/about/": 0} {
		if got := p.count(path); got != want {
			t.Errorf("%s was fetched %d times, want %d", path, got, want)
		}
	}
	if n := jumps.Load(); n != 6 {
		t.Errorf("%d jumping links resolved, want 6: each once, although two pages have them", n)
	}
	c.run("bad", "ls").want(exitOK)
	if bad := c.stdout; strings.Count(bad, "\n") != 2 || !strings.Contains(bad, "how=nowhere") || !strings.Contains(bad, "how=gone") || !strings.Contains(bad, "the jumping link leads nowhere, status 404") {
		t.Errorf("bad URLs:\n%s", bad)
	}
	for _, r := range records(t, "out.jsonl") {
		if strings.HasSuffix(r.URL, "/2026/2.html") && (r.Path != "R" || !strings.Contains(r.Via, "how=meta") || r.Depth != 1) {
			t.Errorf("%s: path %s, via %s, depth %d", r.URL, r.Path, r.Via, r.Depth)
		}
	}
	c.run("why", search.URL+"/link?url=9").want(exitOK)
	if !strings.Contains(c.stdout, "jumping link, its target is judged") {
		t.Errorf("why says\n%s", c.stdout)
	}
}
