package webtest_test

import (
	"crypto/sha1"
	"encoding/base32"
	"maps"
	"slices"
	"strings"
	"testing"

	"octopus"
	"octopus/canon"
	"octopus/internal/webtest"
)

func start(t testing.TB, opt webtest.Options) *webtest.Web {
	t.Helper()
	web := webtest.New(opt)
	if err := web.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := web.Close(); err != nil {
			t.Error(err)
		}
	})
	return web
}

func digest(body []byte) string {
	sum := sha1.Sum(body)
	return "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
}

// A walker that knows HTTP and HTML only reaches exactly what the truth says.
func TestTruthIsWhatAWalkerReaches(t *testing.T) {
	for name, opt := range map[string]webtest.Options{
		"tiny":     {Seed: 1, Hosts: 1, Pages: 15},
		"few":      {Seed: 2, Hosts: 12, Pages: 200},
		"limited":  {Seed: 3, Hosts: 9, Pages: 100, Depth: 7},
		"shallow":  {Seed: 4, Hosts: 9, Pages: 250, Depth: 3},
		"plain":    {Seed: 5, Hosts: 30, Pages: 300, Features: webtest.Plain},
		"no fence": {Seed: 6, Hosts: 8, Pages: 100, Features: webtest.All &^ webtest.Robots, Depth: 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web := start(t, opt)
			w := newWalker(t, web, opt.Depth)
			w.walk(web.Entries())
			truth := web.Truth()
			compareWalk(t, web, w, truth)
			t.Logf("%d pages, %d URLs, %d forbidden, %d dead", truth.OK, len(truth.Pages), len(truth.Forbidden), len(truth.Dead))
		})
	}
}

func compareWalk(t *testing.T, web *webtest.Web, w *walker, truth *webtest.Truth) {
	for u, a := range w.answers {
		p, known := truth.Pages[u]
		switch {
		case !known:
			t.Errorf("reached %s (%d), which is not in the truth", u, a.status)
		case p.Status != a.status:
			t.Errorf("%s answers %d, truth says %d", u, a.status, p.Status)
		case a.title != p.Title && a.title != "" && !strings.HasSuffix(u, "-none.html"):
			t.Errorf("%s has the title %q, truth says %q", u, a.title, p.Title)
		case p.Status == 200 && web.Digest(u) != digest(a.body):
			t.Errorf("%s: digest differs from the truth", u)
		}
		if c := w.best[u]; known && (c.depth != p.Depth || c.hop != p.Hop) {
			t.Errorf("%s is at %v, truth says %d, %d", u, c, p.Depth, p.Hop)
		}
	}
	for u := range truth.Pages {
		if w.answers[u] == nil {
			t.Errorf("%s is in the truth, not reached", u)
		}
	}
	if !maps.Equal(w.denied, truth.Forbidden) {
		t.Errorf("forbidden: walker %v\ntruth %v", slices.Sorted(maps.Keys(w.denied)), slices.Sorted(maps.Keys(truth.Forbidden)))
	}
	if !maps.Equal(w.dead, truth.Dead) {
		t.Errorf("dead: walker %v, truth %v", w.dead, truth.Dead)
	}
}

func TestEveryFeatureIsThere(t *testing.T) {
	web := start(t, webtest.Options{Seed: 1, Depth: 12, MaxBody: 1 << 20})
	truth := web.Truth()
	met := map[webtest.Feature]int{}
	for _, p := range truth.Pages {
		met[p.Feature]++
	}
	for f := webtest.Redirects; f < webtest.Refused; f <<= 1 {
		if met[f] == 0 && f != webtest.DeadHosts {
			t.Errorf("feature %b has no page", f)
		}
	}
	if truth.OK < 1500 || len(truth.Forbidden) < 20 || len(truth.Dead) != 2 || len(truth.Entrances) == 0 {
		t.Errorf("%d pages, %d forbidden, %d dead, %d behind limits", truth.OK, len(truth.Forbidden), len(truth.Dead), len(truth.Entrances))
	}
	for _, b := range web.Behaviours(truth) {
		t.Logf("%6d %s", b.Count, b.Name)
	}
}

func TestScope(t *testing.T) {
	sizes := map[octopus.Scope]int{}
	for _, s := range []octopus.Scope{octopus.ScopeHost, octopus.ScopeDomain, octopus.ScopeAny} {
		sizes[s] = start(t, webtest.Options{Seed: 1, Hosts: 12, Pages: 240, Features: webtest.Plain, Scope: s}).Truth().OK
	}
	domain := 20 // pages of each host; four hosts share the domain, if .test has registrable domains
	if canon.Site("shop.site-0.test") == canon.Site("www.site-0.test") {
		domain *= 4
	}
	if sizes[octopus.ScopeHost] != 20 || sizes[octopus.ScopeDomain] != domain || sizes[octopus.ScopeAny] != 240 {
		t.Errorf("%v", sizes)
	}
}
