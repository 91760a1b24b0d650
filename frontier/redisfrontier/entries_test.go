package redisfrontier_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"octopus/frontier/redisfrontier"
)

// TestEntriesAreShared: what one process makes an entry is one for all that ask,
// and those that do not are told.
func TestEntriesAreShared(t *testing.T) {
	server, c := start(t)
	o := plain()
	o.Client = c
	a, b := open(t, o), open(t, o)
	save := func(f *redisfrontier.Frontier, board string, urls ...string) {
		t.Helper()
		if err := f.SaveEntries(board, urls); err != nil {
			t.Fatal(err)
		}
	}
	want := func(f *redisfrontier.Frontier, board string, urls ...string) {
		t.Helper()
		got, err := f.LoadEntries(board)
		slices.Sort(got)
		if err != nil || !slices.Equal(got, urls) {
			t.Errorf("entries of %s: %v, %v, want %v", board, got, err, urls)
		}
	}
	save(a, "one", "http://a.com/")
	save(a, "two", "http://b.com/")
	want(b, "one", "http://a.com/")
	if err := b.SaveEntry("one", "http://c.com/"); err != nil {
		t.Fatal(err)
	}
	want(a, "one", "http://a.com/", "http://c.com/")
	want(a, "two", "http://b.com/")
	want(a, "none")

	// Without asking: by a message about one, or about many.
	was := b.Version()
	save(a, "one", "http://d.com/")
	until(t, "b hears of an entry", func() bool { return b.Version() == was+1 })
	many := make([]string, 2500)
	for i := range many {
		many[i] = fmt.Sprintf("http://e.com/%d", i)
	}
	save(a, "many", many...)
	until(t, "b hears of many", func() bool { return b.Version() == was+1+2500 })

	// A server that comes back empty is told again.
	server.RestartEmpty()
	until(t, "the server has the entries again", func() bool {
		n, err := c.SCard(t.Context(), "{test}:entries").Result()
		return err == nil && n == b.Version()
	})
	want(open(t, o), "one", "http://a.com/", "http://c.com/", "http://d.com/")
}

// until waits for something that another goroutine or the server brings about.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for !is() {
		select {
		case <-deadline:
			t.Fatalf("waited in vain: %s", what)
		case <-look.C:
		}
	}
}
