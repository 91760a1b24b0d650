package node_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"octopus/node"
)

// newWide starts a site whose start page links to n pages and to one that looks
// like a trap.
func newWide(t *testing.T, n int) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
		case "/":
			fmt.Fprint(w, "<a href=/private>p</a><a href=/a/a/a/a/a>trap</a>")
			for i := range n {
				fmt.Fprintf(w, "<a href=/p%d>page</a>", i)
			}
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/"
}

// TestSkipped holds what was set aside to its reasons, and to the keys that
// change them.
func TestSkipped(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*node.Config)
		pages  int64
		want   map[string]int64
	}{
		"default":        {func(*node.Config) {}, 11, map[string]int64{"robots": 1, "trap": 1}},
		"traps off":      {func(c *node.Config) { c.Limit.Traps = "off" }, 12, map[string]int64{"robots": 1}},
		"quota of host":  {func(c *node.Config) { c.Limit.PagesPerHost = 5; c.Robots.Policy = "ignore" }, 4, map[string]int64{"quota": 8, "trap": 1}},
		"quota of site":  {func(c *node.Config) { c.Limit.PagesPerSite = 4; c.Robots.Policy = "ignore" }, 3, map[string]int64{"quota": 9, "trap": 1}},
		"robots ignored": {func(c *node.Config) { c.Robots.Policy = "ignore" }, 12, map[string]int64{"trap": 1}},
		"other sizes": {func(c *node.Config) {
			c.Master.Bucket.Count, c.Master.Bucket.Picker, c.Master.Bucket.Limit, c.Master.Queue.Limit, c.Limit.Session = 8, "advanced", 2, 4, 1
		}, 11, map[string]int64{"robots": 1, "trap": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t)
			cfg.Store.NoSync, cfg.Store.NoPages = true, true
			c.change(&cfg)
			sum := run(t, cfg, node.Options{}, newWide(t, 10))
			if sum.Pages != c.pages {
				t.Errorf("%d pages, want %d", sum.Pages, c.pages)
			}
			for reason, n := range sum.Skipped {
				if n != c.want[reason] {
					t.Errorf("%d URLs skipped for %s, want %d", n, reason, c.want[reason])
				}
			}
			for reason, n := range c.want {
				if sum.Skipped[reason] != n {
					t.Errorf("%d URLs skipped for %s, want %d", sum.Skipped[reason], reason, n)
				}
			}
		})
	}
}

func TestMasterErrors(t *testing.T) {
	for key, change := range map[string]func(*node.Config){
		"master.lease":         func(c *node.Config) { c.Master.Lease = 0 },
		"master.queue.limit":   func(c *node.Config) { c.Master.Queue.Limit = 0 },
		"master.bucket.count":  func(c *node.Config) { c.Master.Bucket.Count = 0 },
		"master.bucket.limit":  func(c *node.Config) { c.Master.Bucket.Limit = -1 },
		"master.bucket.picker": func(c *node.Config) { c.Master.Bucket.Picker = "advance" },
		"limit.pagesPerHost":   func(c *node.Config) { c.Limit.PagesPerHost = -1 },
		"limit.pagesPerSite":   func(c *node.Config) { c.Limit.PagesPerSite = -1 },
		"limit.session":        func(c *node.Config) { c.Limit.Session = -1 },
		"limit.traps":          func(c *node.Config) { c.Limit.Traps = "maybe" },
		"fetcher.siteDelay":    func(c *node.Config) { c.Fetcher.SiteDelay = -1 },
	} {
		cfg := config(t)
		change(&cfg)
		bad, ok := cfg.Validate().(*node.ConfigError)
		if !ok || bad.Key != key {
			t.Errorf("%s: error %v", key, cfg.Validate())
		}
	}
}
