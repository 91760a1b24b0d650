package board_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"octopus"
	"octopus/board"
	"octopus/kv"
)

func TestShape(t *testing.T) {
	for text, want := range map[string]string{
		"http://example.com/":                                "example.com/",
		"http://example.com/2024/05/06/of-this.html":         "example.com/#/#/#/*.html",
		"http://example.com/world/":                          "example.com/world/",
		"http://example.com/world/index.html":                "example.com/world/index.html",
		"http://example.com/a/12345.shtml?from=x&id=7":       "example.com/a/#.shtml?from&id",
		"http://example.com/新闻/a1b2":                         "example.com/*/*",
		"http://example.com:8080/v1.2.3/x":                   "example.com/*/x",
		"http://example.com/averyverylongwordwithoutanydash": "example.com/*",
	} {
		if got := board.Shape(mustURL(t, text)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestClasses(t *testing.T) {
	store := kv.NewMemory()
	load := func() *board.Classes {
		t.Helper()
		c, err := board.LoadClasses(store, "class/")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := load()
	article := func(i int) octopus.URL { return mustURL(t, fmt.Sprintf("http://a.test/2024/%d.html", i)) }
	learn := func(lane octopus.Lane, n int) {
		for i := range n {
			if err := c.Learn("news", article(i), lane); err != nil {
				t.Fatal(err)
			}
		}
	}
	learn(octopus.Data, 7)
	if _, why, ok := c.Lane("news", article(99)); ok {
		t.Errorf("seven pages are too few: %s", why)
	}
	learn(octopus.Data, 1)
	for range 2 { // and after a restart
		lane, why, ok := c.Lane("news", article(99))
		if !ok || lane != octopus.Data || why != "learned: 8 of 8 pages like a.test/#/#.html were data" {
			t.Errorf("%v %v %s", ok, lane, why)
		}
		c = load()
	}
	if _, _, ok := c.Lane("other", article(99)); ok {
		t.Error("another board knows, too")
	}
	if _, _, ok := c.Lane("news", mustURL(t, "http://a.test/world/")); ok {
		t.Error("another shape is known, too")
	}
	learn(octopus.Nav, 8)
	if _, why, ok := c.Lane("news", article(99)); ok {
		t.Errorf("half and half says something: %s", why)
	}
	learn(octopus.Nav, 2000) // the site has changed
	if lane, _, ok := c.Lane("news", article(99)); !ok || lane != octopus.Nav {
		t.Error("it never forgets")
	}
}

func TestClassesErrors(t *testing.T) {
	store := kv.NewMemory()
	var b kv.Batch
	b.Set([]byte("class/x"), []byte{0x80})
	if err := store.Apply(&b, kv.Sync); err != nil {
		t.Fatal(err)
	}
	if _, err := board.LoadClasses(store, "class/"); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged value: %v", err)
	}
	if _, err := board.LoadClasses(brokenStore{}, "class/"); !errors.Is(err, errStore) {
		t.Errorf("a broken store: %v", err)
	}
}

// What was learned tells the lane of a link, unless a pattern does.
func TestGateUsesClasses(t *testing.T) {
	c, err := board.LoadClasses(kv.NewMemory(), "class/")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if err := errors.Join(c.Learn("b", mustURL(t, fmt.Sprintf("http://a.test/x/%d", i)), octopus.Data), c.Learn("b", mustURL(t, fmt.Sprintf("http://a.test/list-%d", i)), octopus.Nav)); err != nil {
			t.Fatal(err)
		}
	}
	for _, board := range []octopus.Board{
		{Name: "b", Entry: []string{"http://a.test/"}, Depth: 1},
		{Name: "b", Entry: []string{"http://a.test/"}, Depth: 1, Article: []string{"/list-11$"}, Classify: "auto"},
		{Name: "b", Entry: []string{"http://a.test/"}, Depth: 1, Article: []string{"/list-11$"}},
	} {
		next := &recorder{}
		g := newGate(t, next, nil, board)
		g.Use(c)
		var links []octopus.Link
		for _, path := range []string{"x/77", "list-11", "list-12", "y"} {
			links = append(links, octopus.Link{URL: mustURL(t, "http://a.test/"+path), Lane: octopus.Data, Depth: 1})
		}
		if _, err := g.Add(t.Context(), links); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, l := range next.added {
			got += l.Lane.String() + " "
		}
		want := "data nav nav data "
		if len(board.Article) > 0 {
			want = "data data nav data "
			if board.Classify == "" {
				want = "nav data nav nav "
			}
		}
		if got != want {
			t.Errorf("%v: lanes %s, want %s", board.Article, got, want)
		}
	}
}
