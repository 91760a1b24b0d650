package container_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"octopus/canon"
	"octopus/container"
)

// TestDropOldest gives up the oldest segments one by one: their pages go, a
// content that a later page shares stays, and so does everything else; also
// after reopening.
func TestDropOldest(t *testing.T) {
	opt := container.Options{Dir: t.TempDir(), SegmentBytes: 4 << 10}
	c := open(t, opt)
	body := func(i int) string { return strings.Repeat(fmt.Sprintf("%d %d\n", i, i*i), 50) }
	url := func(i int) string { return fmt.Sprintf("http://a.example/%d", i) }
	const n = 100
	for i := range n {
		put(t, c, container.Entry{Page: page(t, url(i), body(i), start.Add(time.Duration(i)*time.Second))})
	}
	put(t, c, container.Entry{Page: page(t, "http://b.example/same", body(0), start.Add(time.Hour))})
	before := c.Stat().Segments
	for range 3 {
		if sum, err := c.DropOldest(t.Context()); err != nil || sum.Segments != 1 || sum.Dropped == 0 {
			t.Fatalf("%+v, %v; want one segment less", sum, err)
		}
	}
	if after := c.Stat().Segments; after >= before {
		t.Errorf("%d segments, then %d", before, after)
	}
	look := func() (gone int) {
		for i := range n {
			u, _ := canon.Parse(url(i))
			_, err := c.Get(t.Context(), u)
			switch {
			case errors.Is(err, container.ErrNotFound):
				if gone++; gone != i+1 {
					t.Fatalf("page %d is gone, an older one is not", i)
				}
			case err != nil:
				t.Fatal(err)
			default:
				wantBody(t, c, url(i), body(i))
			}
		}
		wantBody(t, c, "http://b.example/same", body(0))
		return gone
	}
	gone := look()
	if gone == 0 || gone > n/2 {
		t.Errorf("%d pages of %d are gone", gone, n)
	}
	closed(t, c)
	c = open(t, opt)
	defer closed(t, c)
	if again := look(); again != gone {
		t.Errorf("%d pages are gone after reopening, %d before", again, gone)
	}
	check(t, opt.Dir)
	for sum := (container.Rewritten{Segments: 1}); sum.Segments > 0; {
		var err error
		if sum, err = c.DropOldest(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if left := c.Stat().Segments; left != 1 {
		t.Errorf("%d segments are left, want the one that is written to", left)
	}
}
