package board_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"octopus"
	"octopus/board"
)

// recorder is a frontier that queues everything and remembers it.
type recorder struct {
	octopus.Frontier
	mu       sync.Mutex
	added    []octopus.Link
	outcomes []octopus.Outcome
	links    []octopus.Link // of outcomes: the gate takes its lists back
	released int
	err      error
}

func (r *recorder) Add(_ context.Context, links []octopus.Link) ([]octopus.Verdict, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.added = append(r.added, links...)
	v := make([]octopus.Verdict, len(links))
	for i := range v {
		v[i].Code = octopus.Queued
	}
	return v, r.err
}

func (r *recorder) Done(_ context.Context, outcomes []octopus.Outcome) ([]octopus.Verdict, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range outcomes {
		o.Links = slices.Clone(o.Links) // the gate uses its list again
		r.outcomes = append(r.outcomes, o)
		r.links = append(r.links, o.Links...)
	}
	return make([]octopus.Verdict, len(outcomes)), r.err
}

func (r *recorder) Lease(context.Context, int) ([]octopus.Lease, error) {
	return []octopus.Lease{{ID: 7}}, r.err
}

func (r *recorder) Release(octopus.Outcome) { r.released++ }
func (r *recorder) Counts() octopus.Counts  { return octopus.Counts{Known: 5} }
func (r *recorder) Waiting() string         { return "for godot" }
func (r *recorder) Explain(_ context.Context, u octopus.URL) (octopus.Explanation, error) {
	return octopus.Explanation{URL: u, State: "queued", Facts: []octopus.Fact{{Name: "depth", Value: "1"}}}, r.err
}

func newGate(t testing.TB, next octopus.Frontier, m board.Memory, boards ...octopus.Board) *board.Gate {
	t.Helper()
	g, err := board.NewGate(next, m, boards...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func texts(links []octopus.Link) (out []string) {
	for _, l := range links {
		out = append(out, l.Board+" "+l.Lane.String()+" "+l.URL.Text)
	}
	return out
}

var twoBoards = []octopus.Board{
	{Name: "news", Entry: []string{"http://news.example.com/"}, Depth: 1, Article: []string{`\d{4}`}},
	{Name: "rest", Entry: []string{"http://example.com/"}, Depth: 2, Scope: octopus.ScopeDomain},
}

// offers are links with the verdict of twoBoards and, where accepted, what the
// next frontier sees.
var offers = []struct {
	url    string
	depth  int
	lane   octopus.Lane
	reason string
	want   string
}{
	{"http://news.example.com/", 0, octopus.Nav, "", "news nav http://news.example.com/"},
	{"http://news.example.com/2024", 1, octopus.Nav, "", "news data http://news.example.com/2024"},
	{"http://news.example.com/x", 1, octopus.Data, "", "news nav http://news.example.com/x"},
	{"http://news.example.com/2024", 2, octopus.Nav, "", "rest nav http://news.example.com/2024"},
	{"http://www.example.com/x", 2, octopus.Data, "", "rest data http://www.example.com/x"},
	{"http://news.example.com/y", 3, octopus.Nav, octopus.ReasonDepth, ""},
	{"http://example.org/", 1, octopus.Nav, octopus.ReasonScope, ""},
}

func offered(t *testing.T) (links []octopus.Link, pass []string) {
	for _, o := range offers {
		links = append(links, octopus.Link{URL: mustURL(t, o.url), Depth: o.depth, Lane: o.lane, Kind: octopus.Anchor})
		if o.want != "" {
			pass = append(pass, o.want)
		}
	}
	return links, pass
}

func TestGateAdd(t *testing.T) {
	next := &recorder{}
	g := newGate(t, next, nil, twoBoards...)
	links, pass := offered(t)
	verdicts, err := g.Add(t.Context(), links)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range offers {
		want := octopus.Verdict{Code: octopus.Queued}
		if o.reason != "" {
			want = octopus.Verdict{Code: octopus.Rejected, Reason: o.reason}
		}
		if verdicts[i] != want {
			t.Errorf("%s at %d: %+v, want %+v", o.url, o.depth, verdicts[i], want)
		}
	}
	if got := texts(next.added); !slices.Equal(got, pass) {
		t.Errorf("passed on:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(pass, "\n"))
	}
	if r := g.Rejected(); r[octopus.ReasonDepth] != 1 || r[octopus.ReasonScope] != 1 || len(r) != 2 {
		t.Errorf("rejected %v", r)
	}
	next.added = nil
	if v, err := g.Add(t.Context(), links[5:]); err != nil || len(v) != 2 || next.added != nil {
		t.Errorf("nothing accepted: %v, %v, passed on %v", v, err, next.added)
	}
}

func TestGateDone(t *testing.T) {
	next := &recorder{}
	g := newGate(t, next, nil, twoBoards...)
	links, pass := offered(t)
	before := slices.Clone(links)
	out := []octopus.Outcome{{Status: 404}, {Status: 200, Links: links}, {Links: links[5:]}}
	if v, err := g.Done(t.Context(), out); err != nil || len(v) != 3 {
		t.Fatal(v, err)
	}
	got := next.outcomes
	if len(got) != 3 || got[0].Status != 404 || got[1].Status != 200 || got[0].Links != nil || len(got[2].Links) != 0 {
		t.Fatalf("passed on %+v", got)
	}
	if got := texts(got[1].Links); !slices.Equal(got, pass) {
		t.Errorf("passed on:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(pass, "\n"))
	}
	if len(out[1].Links) != len(before) || fmt.Sprint(links) != fmt.Sprint(before) {
		t.Error("Done changed its argument")
	}
}

// http://example.com redirects to https://www.example.com, which redirects on.
// Both become entries, before and after a restart.
func TestEntryRedirect(t *testing.T) {
	for _, scope := range []octopus.Scope{octopus.ScopePage, octopus.ScopePrefix, octopus.ScopeHost, octopus.ScopeDomain} {
		memory := &mapMemory{}
		b := octopus.Board{Name: "b", Entry: []string{"http://example.com/"}, Scope: scope, Depth: 3, Reject: []string{"login"}}
		g := newGate(t, &recorder{}, memory, b)
		redirect := func(from, to string, depth int) bool {
			v, err := g.Done(t.Context(), []octopus.Outcome{{
				Lease: octopus.Lease{Link: octopus.Link{URL: mustURL(t, from), Depth: depth}},
				Links: []octopus.Link{{URL: mustURL(t, to), Via: from, Kind: octopus.Redirect, Depth: depth, Hop: 1}},
			}})
			if err != nil || len(v) != 1 {
				t.Fatal(v, err)
			}
			return g.Judge(mustURL(t, to), 0)[0].Accept
		}
		if redirect("http://example.com/page", "http://page.example.org/", 1) {
			t.Errorf("%s: a page's redirect widens the scope", scope)
		}
		if redirect("http://example.net/", "http://x.example.org/", 0) {
			t.Errorf("%s: a stranger's redirect widens the scope", scope)
		}
		if redirect("http://example.com/", "http://example.org/login", 0) {
			t.Errorf("%s: a redirect to what is rejected widens the scope", scope)
		}
		if !redirect("http://example.com/", "https://www.example.org/", 0) || !redirect("https://www.example.org/", "https://www.example.org/de/", 0) {
			t.Errorf("%s: the redirects of an entry are refused", scope)
		}
		for range 2 {
			if got, want := g.Judge(mustURL(t, "https://www.example.org/de/x"), 1)[0].Accept, scope != octopus.ScopePage; got != want {
				t.Errorf("%s: a page below the target: accepted %v, want %v", scope, got, want)
			}
			g = newGate(t, &recorder{}, memory, b) // again after a restart
		}
		want := []string{"https://www.example.org/", "https://www.example.org/de/"}
		if !slices.Equal((*memory)["b"], want) {
			t.Errorf("%s: kept %v", scope, *memory)
		}
	}
}

// By Add, Via tells whose redirect it is.
func TestEntryRedirectByAdd(t *testing.T) {
	next := &recorder{}
	g := newGate(t, next, nil, octopus.Board{Entry: []string{"http://example.com/"}, Depth: 3})
	l := octopus.Link{URL: mustURL(t, "http://example.org/"), Kind: octopus.Redirect, Via: "http://example.com/", Hop: 1}
	if v, err := g.Add(t.Context(), []octopus.Link{l}); err != nil || v[0].Code != octopus.Queued {
		t.Errorf("%v, %v", v, err)
	}
}

func TestSitemapsAndRobots(t *testing.T) {
	g := newGate(t, &recorder{}, nil, octopus.Board{
		Entry: []string{"http://example.com/docs/"}, Scope: octopus.ScopePrefix, Depth: 1, Accept: []string{`\.html$`},
	})
	for _, c := range []struct {
		url    string
		kind   octopus.LinkKind
		depth  int
		accept bool
	}{
		{"http://example.com/sitemap.xml", octopus.Sitemap, 0, true},
		{"http://example.com/robots.txt", octopus.Robots, 0, true},
		{"http://example.com/robots.txt", octopus.Robots, 9, true},
		{"http://example.org/sitemap.xml", octopus.Sitemap, 0, false},
		{"http://example.org/robots.txt", octopus.Robots, 0, false},
		{"http://example.com/docs/a.html", octopus.Sitemap, 1, true},
		{"http://example.com/docs/a.html", octopus.Sitemap, 2, false},
		{"http://example.com/docs/a.pdf", octopus.Sitemap, 1, false},
		{"http://example.com/a.html", octopus.Sitemap, 1, false},
		{"http://example.com/sitemap.xml", octopus.Anchor, 0, false},
	} {
		v, err := g.Add(t.Context(), []octopus.Link{{URL: mustURL(t, c.url), Kind: c.kind, Depth: c.depth}})
		if err != nil || (v[0].Code == octopus.Queued) != c.accept {
			t.Errorf("%+v: %+v, %v", c, v, err)
		}
	}
}

func TestGateErrors(t *testing.T) {
	if _, err := board.NewGate(&recorder{}, nil, octopus.Board{Name: "a"}, octopus.Board{Name: "a"}); err == nil || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("two boards of one name: %v", err)
	}
	if _, err := board.NewGate(&recorder{}, nil, octopus.Board{Reject: []string{"("}}); err == nil {
		t.Error("a bad pattern passes")
	}
	broken := errors.New("disk on fire")
	if _, err := board.NewGate(&recorder{}, brokenMemory{broken}, octopus.Board{Name: "b"}); !errors.Is(err, broken) {
		t.Errorf("memory that cannot be read: %v", err)
	}
	if _, err := board.NewGate(&recorder{}, &mapMemory{"b": {"nonsense"}}, octopus.Board{Name: "b"}); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("memory with garbage: %v", err)
	}
	g := newGate(t, &recorder{err: broken}, nil, octopus.Board{Scope: octopus.ScopeAny, Depth: -1})
	if _, err := g.Add(t.Context(), []octopus.Link{{URL: mustURL(t, "http://a/")}}); !errors.Is(err, broken) {
		t.Errorf("Add: %v", err)
	}
}

// A target that cannot be kept is an error, and does not widen the scope.
func TestRedirectNotKept(t *testing.T) {
	m := &mapMemory{}
	next := &recorder{}
	g := newGate(t, next, m, octopus.Board{Entry: []string{"http://example.com/"}, Depth: 1})
	*m = nil
	_, err := g.Done(t.Context(), []octopus.Outcome{{
		Lease: octopus.Lease{Link: octopus.Link{URL: mustURL(t, "http://example.com/")}},
		Links: []octopus.Link{{URL: mustURL(t, "http://example.org/"), Kind: octopus.Redirect}},
	}})
	if err == nil || !strings.Contains(err.Error(), "http://example.org/") || len(next.outcomes) != 0 {
		t.Errorf("error %v, passed on %v", err, next.outcomes)
	}
	if g.Judge(mustURL(t, "http://example.org/"), 0)[0].Accept {
		t.Error("the scope is wider all the same")
	}
}

func TestAbilitiesPassThrough(t *testing.T) {
	next := &recorder{}
	g := newGate(t, next, nil, twoBoards...)
	g.Release(octopus.Outcome{})
	leases, err := g.Lease(t.Context(), 1)
	if next.released != 1 || g.Counts().Known != 5 || g.Waiting() != "for godot" || err != nil || len(leases) != 1 || leases[0].ID != 7 {
		t.Error("an ability of the frontier is lost")
	}
	ex, err := g.Explain(t.Context(), mustURL(t, "http://news.example.com/2024"))
	want := []octopus.Fact{
		{Name: "board news", Value: "accepts, data lane: scope host (news.example.com), article \"\\\\d{4}\""},
		{Name: "board rest", Value: "accepts, nav lane: scope domain (example.com)"},
		{Name: "depth", Value: "1"},
	}
	if err != nil || ex.State != "queued" || !slices.Equal(ex.Facts, want) {
		t.Errorf("%+v, %v", ex, err)
	}
	plain := newGate(t, struct{ octopus.Frontier }{next}, nil, twoBoards...)
	plain.Release(octopus.Outcome{})
	if ex, err := plain.Explain(t.Context(), mustURL(t, "http://x/")); err != nil || ex.State != "unknown" || len(ex.Facts) != 2 {
		t.Errorf("%+v, %v", ex, err)
	}
	if next.released != 1 || plain.Counts() != (octopus.Counts{}) || plain.Waiting() != "" {
		t.Error("a frontier without abilities answers")
	}
}

// Many goroutines widen and read the scope at once.
func TestGateConcurrent(t *testing.T) {
	g := newGate(t, &recorder{}, nil, octopus.Board{Entry: []string{"http://example.com/"}, Depth: 1})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				l := octopus.Link{URL: mustURL(t, fmt.Sprintf("http://h%d.example.org/", (i+j)%20)), Kind: octopus.Redirect, Via: "http://example.com/"}
				if v, err := g.Add(t.Context(), []octopus.Link{l}); err != nil || v[0].Code != octopus.Queued {
					t.Errorf("%v, %v", v, err)
				}
			}
		})
	}
	wg.Wait()
	for j := range 20 {
		if !g.Judge(mustURL(t, fmt.Sprintf("http://h%d.example.org/x", j)), 1)[0].Accept {
			t.Errorf("host %d is lost", j)
		}
	}
}

// mapMemory is a Memory in a map; a nil map cannot be written.
type mapMemory map[string][]string

func (m *mapMemory) LoadEntries(b string) ([]string, error) { return (*m)[b], nil }
func (m *mapMemory) SaveEntry(b, url string) error {
	if *m == nil {
		return errors.New("read-only")
	}
	(*m)[b] = append((*m)[b], url)
	return nil
}

type brokenMemory struct{ err error }

func (m brokenMemory) LoadEntries(string) ([]string, error) { return nil, m.err }
func (m brokenMemory) SaveEntry(string, string) error       { return m.err }

// discard is a frontier that forgets everything.
type discard struct{ octopus.Frontier }

func (discard) Done(context.Context, []octopus.Outcome) ([]octopus.Verdict, error) { return nil, nil }

func BenchmarkGateDone(b *testing.B) {
	g := newGate(b, discard{}, nil, octopus.Board{Entry: []string{"http://example.com/"}, Depth: 3})
	var links []octopus.Link
	for i := range 200 {
		host := "example.com"
		if i%4 == 0 {
			host = "example.org"
		}
		links = append(links, octopus.Link{URL: mustURL(b, fmt.Sprintf("http://%s/%d", host, i)), Depth: 1, Kind: octopus.Anchor})
	}
	out := []octopus.Outcome{{Links: links}}
	b.ReportAllocs()
	for b.Loop() {
		g.Done(b.Context(), out)
	}
}

// sharedMemory is a Memory that another process writes.
type sharedMemory struct {
	mapMemory
	heard int // entries that this process knows of
	asked int
}

func (m *sharedMemory) Version() int64 { return int64(m.heard) }
func (m *sharedMemory) LoadEntries(b string) ([]string, error) {
	m.asked++
	urls, err := m.mapMemory.LoadEntries(b)
	m.heard = len(urls)
	return urls, err
}

// Another process of the crawl followed an entry's redirect. This one judges by
// the wider scope as soon as it hears of it, and at the latest for the links of
// a page from there; it asks no more often than that.
func TestScopeWidenedByAnother(t *testing.T) {
	memory := &sharedMemory{mapMemory: mapMemory{}}
	next := &recorder{}
	g := newGate(t, next, memory, octopus.Board{Name: "b", Entry: []string{"http://example.com/"}, Scope: octopus.ScopeHost, Depth: 3})
	page := func(url, link string) bool {
		t.Helper()
		next.outcomes = nil
		if _, err := g.Done(t.Context(), []octopus.Outcome{{
			Lease: octopus.Lease{Link: octopus.Link{URL: mustURL(t, url), Depth: 1}},
			Links: []octopus.Link{{URL: mustURL(t, link), Depth: 2}},
		}}); err != nil {
			t.Fatal(err)
		}
		return len(next.outcomes[0].Links) == 1
	}
	if err := memory.SaveEntry("b", "http://www.example.org/"); err != nil {
		t.Fatal(err)
	}
	if page("http://example.com/1", "http://www.example.org/1") || memory.asked != 1 {
		t.Errorf("nobody told of the wider scope; asked %d times", memory.asked)
	}
	if !page("http://www.example.org/1", "http://www.example.org/2") || memory.asked != 2 {
		t.Errorf("a page from the wider scope: its links are refused; asked %d times", memory.asked)
	}
	if !page("http://example.com/2", "http://www.example.org/3") || page("http://example.com/2", "http://other.example.org/") {
		t.Error("scope is not as known")
	}
	if err := memory.SaveEntry("b", "http://other.example.org/"); err != nil {
		t.Fatal(err)
	}
	memory.heard++ // by a message
	if !page("http://example.com/2", "http://other.example.org/") {
		t.Error("heard of a wider scope, and its links are refused")
	}
	page("http://example.com/2", "http://strange.example.org/")
	asked := memory.asked
	for range 10 {
		page("http://example.com/2", "http://strange.example.org/")
	}
	if memory.asked != asked {
		t.Errorf("asked %d times for ten links, with nothing new", memory.asked-asked)
	}
	if n := g.Rejected()[octopus.ReasonScope]; n != 13 {
		t.Errorf("%d links rejected", n)
	}
}
