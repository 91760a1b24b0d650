package frontier_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"octopus"
	"octopus/frontier"
	"octopus/frontier/frontiertest"
	"octopus/kv"
)

// graph is a random web: page -> links, with redirects among them.
type graph struct {
	links     map[string][]string
	redirects map[string]string
}

func randomGraph(rng *rand.Rand) graph {
	g := graph{map[string][]string{}, map[string]string{}}
	n := 5 + rng.IntN(60)
	name := func(i int) string { return fmt.Sprintf("h%d.com/%d", i%5, i) }
	for i := range n {
		if i > 0 && rng.IntN(8) == 0 {
			g.redirects[name(i)] = name(rng.IntN(n))
			continue
		}
		for range rng.IntN(4) {
			g.links[name(i)] = append(g.links[name(i)], name(rng.IntN(n)))
		}
		if i+1 < n && rng.IntN(3) > 0 { // long chains make late shortcuts likely
			g.links[name(i)] = append(g.links[name(i)], name(i+1))
		}
	}
	return g
}

// within returns the pages reachable in at most depth links; a redirect costs
// none, and 10 of them may follow a link.
func (g graph) within(depth int) map[string]bool {
	type way struct {
		page       string
		depth, hop int
	}
	seen, pages := map[way]bool{}, map[string]bool{}
	var walk func(w way)
	walk = func(w way) {
		if seen[w] || w.depth > depth || w.hop > octopus.MaxHops {
			return
		}
		seen[w], pages[w.page] = true, true
		if to, ok := g.redirects[w.page]; ok {
			walk(way{to, w.depth, w.hop + 1})
		}
		for _, to := range g.links[w.page] {
			walk(way{to, w.depth + 1, 0})
		}
	}
	walk(way{"h0.com/0", 0, 0})
	return pages
}

// crawl visits the graph to a depth; answers come in random order.
func (g graph) crawl(t *testing.T, rng *rand.Rand, depth int) map[string]bool {
	f, err := frontier.Open(frontier.Options{
		Store: kv.NewMemory(), Robots: "ignore", Relink: frontiertest.Always, Rand: rng,
		Politeness: frontier.Politeness{HostDelay: -1, ConnsPerHost: 1 + rng.IntN(20)},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx := context.Background()
	visited := map[string]bool{}
	if _, err := f.Add(ctx, []octopus.Link{frontiertest.Link("h0.com/0", 0)}); err != nil {
		t.Fatal(err)
	}
	var out []octopus.Lease
	for f.Counts().Queued > 0 {
		if len(out) == 0 || int64(len(out)) < f.Counts().Queued && rng.IntN(2) == 0 {
			leases, _ := f.Lease(now(), 1+rng.IntN(30))
			out = append(out, leases...)
		}
		if len(out) == 0 {
			continue
		}
		i := rng.IntN(len(out))
		l := out[i]
		out = slices.Delete(out, i, i+1)
		page := l.Link.URL.Text[len("http://"):]
		if l.Purpose == octopus.FetchPage && visited[page] {
			t.Fatalf("%s is fetched twice", page)
		}
		visited[page] = true
		if v, err := f.Done(ctx, []octopus.Outcome{g.answer(l, page, depth)}); err != nil || v[0].Code != octopus.Accepted {
			t.Fatal(v, err)
		}
	}
	return visited
}

// answer is the outcome of a lease; like a gate it leaves out what is too deep.
func (g graph) answer(l octopus.Lease, page string, depth int) octopus.Outcome {
	o := octopus.Outcome{Lease: l, Status: 200, End: time.Now(), NoRequest: l.Purpose == octopus.Relink}
	if to, ok := g.redirects[page]; ok {
		o.Status = 302
		k := frontiertest.Link(to, l.Link.Depth)
		k.Kind, k.Hop = octopus.Redirect, l.Link.Hop+1
		o.Links = append(o.Links, k)
	}
	for _, to := range g.links[page] {
		if l.Link.Depth < depth {
			o.Links = append(o.Links, frontiertest.Link(to, l.Link.Depth+1))
		}
	}
	return o
}

// TestDepthLimit: the pages visited under a depth limit are those within it,
// whatever the order of responses, each fetched once.
func TestDepthLimit(t *testing.T) {
	for seed := range seeds(t, 200) {
		rng := rand.New(rand.NewPCG(uint64(seed), 3))
		g := randomGraph(rng)
		depth := rng.IntN(12)
		want, got := g.within(depth), g.crawl(t, rng, depth)
		if !maps.Equal(want, got) {
			t.Errorf("seed %d, depth %d: visited %v, want %v", seed, depth, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
	}
}
