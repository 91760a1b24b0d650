package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"octopus"
)

// shared holds data that is not part of the repository: real sites' page sets
// among them.
const shared = "../../../shared"

// docSites are documentation packages of Debian served as web sites, each on an
// address of its own: real HTML that nobody here wrote. explained are URLs the
// agreed set lacks, with the reason (docs/sites.md).
var docSites = []struct {
	name, address string
	explained     []string
}{
	{name: "python", address: "127.1.0.1"},
	// lang_expr.html has <a href="\">: the URL Standard reads a backslash as a
	// slash, wget does not.
	{name: "sqlite", address: "127.1.0.3", explained: []string{"/"}},
	{name: "apache", address: "127.1.0.4"},
	{name: "handbook", address: "127.1.0.5"},
	{name: "git", address: "127.1.0.9"},
	{name: "debref", address: "127.1.0.10"},
}

// pageSet is what ../shared knows of a site.
type pageSet struct {
	Start string   `json:"start"`
	HTML  []string `json:"html_agreed"`
}

func TestDocumentationSites(t *testing.T) {
	port := serveSites(t)
	for _, site := range docSites {
		t.Run(site.name, func(t *testing.T) {
			want := readPageSet(t, site.name)
			root := fmt.Sprintf("http://%s:%s", site.address, port)
			if res, err := http.Get(root + want.Start); err != nil || res.StatusCode != 200 {
				unavailable(t, "the Debian package of site %s is not installed", site.name)
			} else {
				res.Body.Close()
			}
			c := newCLI(t)
			out := filepath.Join(t.TempDir(), "out.jsonl")
			c.run("crawl", root+want.Start, "--allow-net", "127.0.0.0/8", "--host-delay", "0s", "--conns-per-host", "8",
				"--dir", filepath.Join(t.TempDir(), "db"), "-o", out, "--progress", "none").want(0)
			compare(t, want, site.explained, crawled(t, out, root))
		})
	}
}

// compare checks that got, page to number of records, is the agreed set.
func compare(t *testing.T, want pageSet, explained []string, got map[string]int) {
	t.Helper()
	for page, n := range got {
		if n != 1 {
			t.Errorf("%s was recorded %d times", page, n)
		}
		if !slices.Contains(want.HTML, page) && !slices.Contains(explained, page) {
			t.Errorf("%s is not in the agreed set", page)
		}
	}
	for _, page := range append(slices.Clone(want.HTML), explained...) {
		if got[page] == 0 {
			t.Errorf("%s is missing", page)
		}
	}
	if len(want.HTML) < 15 {
		t.Errorf("the agreed set has only %d pages", len(want.HTML))
	}
}

// crawled returns the HTML pages with status 200 of a JSONL file, without root.
func crawled(t *testing.T, path, root string) map[string]int {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := map[string]int{}
	for dec := json.NewDecoder(f); dec.More(); {
		var r octopus.Record
		if err := dec.Decode(&r); err != nil {
			t.Fatal(err)
		}
		if r.Status == 200 && r.MIME == "text/html" {
			got[strings.TrimPrefix(r.URL, root)]++
		}
	}
	return got
}

func readPageSet(t *testing.T, name string) (set pageSet) {
	t.Helper()
	f, err := os.Open(filepath.Join(shared, "testdata", "sites", name+".json.gz"))
	if err != nil {
		t.Skipf("no page set: %v", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err == nil {
		err = json.NewDecoder(z).Decode(&set)
	}
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// serveSites starts the server of the documentation sites on a free port and
// waits until it listens.
func serveSites(t *testing.T) (port string) {
	t.Helper()
	script := filepath.Join(shared, "tools", "serve_sites.py")
	if _, err := os.Stat(script); err != nil {
		t.Skipf("no sites: %v", err)
	}
	if _, err := os.Stat("/usr/sbin/nginx"); err != nil {
		unavailable(t, "nginx is not installed (Debian package nginx-light)")
	}
	l, err := net.Listen("tcp", "127.1.0.9:0")
	if err != nil {
		unavailable(t, "no loopback address 127.1.0.9: %v", err)
	}
	_, port, _ = net.SplitHostPort(l.Addr().String())
	l.Close()
	cmd := exec.Command("python3", script, "start", "--port", port, "--log", filepath.Join(t.TempDir(), "access.log"))
	if err := cmd.Start(); err != nil {
		unavailable(t, "start the sites: %v", err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	waitFor(t, "127.1.0.9:"+port)
	return port
}
