package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// double is a site on loopback that answers to two names, and links to its pages by
// the second.
type double struct {
	*httptest.Server
	alias string // its URL by the second name
	first func() // called with the first page asked for by the second name, if any

	mu   sync.Mutex
	hits map[string]int // guarded by mu: requests for pages by URL
}

func newDouble(t *testing.T) *double {
	d := &double{hits: map[string]int{}}
	d.Server = httptest.NewServer(d)
	d.alias = strings.Replace(d.URL, "127.0.0.1", "localhost", 1)
	t.Cleanup(d.Close)
	return d
}

func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" {
		http.NotFound(w, r)
		return
	}
	d.mu.Lock()
	d.hits["http://"+r.Host+r.URL.Path]++
	d.mu.Unlock()
	if first := d.first; first != nil && r.URL.Path == "/1" {
		first()
	}
	w.Header().Set("Content-Type", "text/html")
	for i := range 4 {
		fmt.Fprintf(w, "<a href=%s/%d>page</a>", d.alias, i+1)
	}
}

// count returns how often each name was asked for a page.
func (d *double) count() (own, alias int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for url, n := range d.hits {
		if strings.HasPrefix(url, d.alias) {
			alias += n
		} else {
			own += n
		}
	}
	return own, alias
}

func (d *double) crawl(c *cli, args ...string) *cli {
	return c.run(append([]string{"crawl", d.URL + "/", "--scope", "any", "--allow-net", "127.0.0.0/8", "--allow-net", "::1/128", "--host-delay", "0s", "-c", "1", "-q"}, args...)...).want(exitOK)
}

// TestHostMerge: between two crawls one name comes to stand for the other.
func TestHostMerge(t *testing.T) {
	d, c := newDouble(t), newCLI(t)
	d.crawl(c, "-n", "1")
	merge := []string{"host", "merge", "localhost", "--into", "127.0.0.1"}
	if c.run(append(merge, "--preview")...).want(exitOK); !strings.HasPrefix(c.stdout, "4 queued URLs would move to 127.0.0.1") {
		t.Errorf("the preview says %q", c.stdout)
	}
	if c.run("queue", "ls", "--host", "localhost", "--json").want(exitOK); len(c.lines()) != 4 {
		t.Errorf("after a preview %d URLs are queued", len(c.lines()))
	}
	if c.run(append(merge, "--json")...).want(exitOK); c.stdout != "{\"changed\":4}\n" {
		t.Errorf("merge says %q", c.stdout)
	}
	if c.run("parked", "ls", "--reason", "alias", "--host", "localhost").want(exitOK); !strings.Contains(c.stdout, d.alias+"/1\talias\t"+d.URL+"/1 stands for it\n") {
		t.Errorf("parked ls prints %q", c.stdout)
	}
	d.crawl(c)
	if own, alias := d.count(); own != 5 || alias != 0 {
		t.Errorf("%d pages of the host and %d of its alias were fetched, want 5 and 0", own, alias)
	}
	if c.run("why", d.alias+"/new").want(exitOK); !strings.Contains(c.stdout, "alias of") || !strings.Contains(c.stdout, d.URL+"/new") {
		t.Errorf("why says %s", c.stdout)
	}
	for _, verb := range [][]string{{"ls"}, {"show", "localhost"}} {
		if c.run(append([]string{"host"}, verb...)...).want(exitOK); !strings.Contains(c.stdout, "alias of 127.0.0.1") {
			t.Errorf("host %s says %q", verb[0], c.stdout)
		}
	}
	c.run("host", "merge", "127.0.0.1", "--into", "localhost").want(exitFailure, "it is an alias of 127.0.0.1 itself")
	c.run("host", "merge", "localhost", "--into", "other.test", "--preview").want(exitFailure, "none of its URLs is known")
	c.run("host", "merge", "localhost").want(exitUsage, "--into")
	c.run("host", "unmerge", d.alias+"/any").want(exitOK, "localhost is a host of its own again")
	c.run("host", "unmerge", "localhost").want(exitFailure, "no host stands for localhost")
	c.run("parked", "revive", "--reason", "alias", "--host", "localhost").want(exitOK)
	d.crawl(c)
	if own, alias := d.count(); own != 5 || alias != 4 {
		t.Errorf("after unmerge %d pages of the host and %d of its alias were fetched, want 5 and 4", own, alias)
	}
}

// TestHostMergeLive merges while the crawl runs.
func TestHostMergeLive(t *testing.T) {
	d, c := newDouble(t), newCLI(t)
	var once sync.Once
	d.first = func() {
		once.Do(func() {
			asking := &cli{t: t}
			if asking.run("host", "merge", "localhost", "--into", "127.0.0.1", "--json").want(exitOK); asking.stdout != "{\"changed\":3}\n" {
				t.Errorf("merge says %q", asking.stdout)
			}
		})
	}
	d.crawl(c)
	if own, alias := d.count(); own != 5 || alias != 1 {
		t.Errorf("%d pages of the host and %d of its alias were fetched, want 5 and 1", own, alias)
	}
}
