package redisfrontier_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"octopus"
	"octopus/frontier/manners"
)

func TestTraps(t *testing.T) {
	w := newWorld(t, plain())
	entry := link("a.com/x/x/x/x/entry", 0)
	entry.Kind = octopus.Entry
	if got := w.add(link("a.com/x/x/x/x/1", 1), link("a.com/1", 1), entry); got != "parked trap, queued, queued" {
		t.Error(got)
	}
	if e := w.explain("a.com/x/x/x/x/1"); e.State != "parked" || !strings.Contains(fmt.Sprint(e.Facts), `"x" more than 2 times in a row`) {
		t.Errorf("explanation %+v", e)
	}
	if got := w.add(link("a.com/x/x/x/x/1", 0)); got != "known" {
		t.Error("once more: ", got)
	}
}

// TestBoards: what a board asks for holds in a shared crawl.
func TestBoards(t *testing.T) {
	o := plain()
	o.HostQuota = 1
	o.Boards = func(name string) manners.BoardRules {
		if name != "news" {
			return manners.BoardRules{}
		}
		return manners.BoardRules{Quota: 3, Delay: 10 * time.Second,
			Periods: manners.Periods{Refresh: time.Hour, Min: 10 * time.Minute, Max: 2 * time.Hour, Recrawl: 24 * time.Hour}}
	}
	w := newWorld(t, o)
	of := func(text string, lane octopus.Lane) octopus.Link {
		l := link(text, 1)
		l.Board, l.Lane = "news", lane
		return l
	}
	if got := w.add(of("a.com/nav", octopus.Nav), of("a.com/data", octopus.Data), of("a.com/gone", octopus.Data), of("a.com/4", octopus.Data)); got != "queued, queued, queued, parked quota" {
		t.Error(got)
	}
	if got := w.add(link("b.com/1", 1), link("b.com/2", 1)); got != "queued, parked quota" {
		t.Error("without a board:", got)
	}
	changed := func(o *octopus.Outcome) { o.Changed, o.Digest = true, o.End.String() }
	w.done(w.want("a.com/data"), 200, changed)
	w.done(w.want("b.com/1"), 200, changed)
	w.advance(9 * time.Second)
	w.none() // the gap of the board
	w.advance(2 * time.Second)
	w.done(w.want("a.com/gone"), 404)
	w.advance(11 * time.Second)
	w.done(w.want("a.com/nav"), 200, changed)
	if err := w.Drained(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c := w.Counts(); c.Again != 2 || c.Later != 2 || c.Queued != 2 || c.Done != 2 || c.Parked != 2 {
		t.Errorf("counts %+v", c)
	}
	if e := w.explain("a.com/nav"); !strings.Contains(e.Waiting, "next visit in 1h0m0s") {
		t.Errorf("explanation %+v", e)
	}
	for i, step := range []struct {
		pause  time.Duration
		change bool
	}{{time.Hour, true}, {30 * time.Minute, true}, {15 * time.Minute, false}, {22*time.Minute + 30*time.Second, false}} {
		w.advance(step.pause - time.Second)
		w.none()
		w.advance(2 * time.Second)
		l := w.want("a.com/nav")
		if l.Visit != uint32(i+2) {
			t.Errorf("visit %d, want %d", l.Visit, i+2)
		}
		w.done(l, 200, func(o *octopus.Outcome) {
			if step.change {
				changed(o)
			}
		})
	}
	w.advance(26 * time.Hour)
	w.done(w.want("a.com/data"), 200, changed) // data pages go first
}
