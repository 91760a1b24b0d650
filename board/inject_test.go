package board_test

import (
	"strings"
	"testing"
	"time"

	"octopus"
	"octopus/board"
)

func TestInjector(t *testing.T) {
	compile := func(b octopus.Board) *board.Rules {
		r, err := board.Compile(b)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	hourly := compile(octopus.Board{Name: "hourly", Entry: []string{"http://a.test/"}, Refresh: time.Hour})
	quick := compile(octopus.Board{Name: "quick", Entry: []string{"http://b.test/"}, Refresh: 25 * time.Minute})
	once := compile(octopus.Board{Name: "once", Entry: []string{"http://c.test/"}})
	paused := compile(octopus.Board{Name: "quick", Entry: []string{"http://b.test/"}, Refresh: time.Minute, Paused: true})
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var in board.Injector
	for _, step := range []struct {
		at     time.Duration
		boards []*board.Rules
		due    string
		next   time.Duration // 0: never
	}{
		{0, []*board.Rules{once}, "once", 0},
		{0, []*board.Rules{hourly, quick, once}, "hourly quick", 25 * time.Minute},
		{24 * time.Minute, []*board.Rules{hourly, quick, once}, "", 25 * time.Minute},
		{25 * time.Minute, []*board.Rules{hourly, quick, once}, "quick", 50 * time.Minute},
		{2 * time.Hour, []*board.Rules{hourly, paused, once}, "hourly", 3 * time.Hour},
		{2 * time.Hour, []*board.Rules{hourly, quick}, "quick", 145 * time.Minute}, // it goes on
		{2 * time.Hour, []*board.Rules{once}, "once", 0},                           // it is back
	} {
		due, next := in.Due(start.Add(step.at), step.boards)
		var names []string
		for _, r := range due {
			names = append(names, r.Board().Name)
		}
		wantNext := time.Time{}
		if step.next > 0 {
			wantNext = start.Add(step.next)
		}
		if got := strings.Join(names, " "); got != step.due || !next.Equal(wantNext) {
			t.Errorf("at %v: due %q, next %v; want %q, %v", step.at, got, next, step.due, wantNext)
		}
	}
	in.Forget("once")
	if due, _ := in.Due(start.Add(3*time.Hour), []*board.Rules{once}); len(due) != 1 {
		t.Error("Forget has no effect")
	}
}

// Boards are changed while links are judged.
func TestGateSet(t *testing.T) {
	a := octopus.Board{Name: "a", Entry: []string{"http://a.test/"}, Depth: 1}
	b := octopus.Board{Name: "b", Entry: []string{"http://b.test/"}, Depth: 1}
	g := newGate(t, &recorder{}, nil, a)
	accepts := func(url string) string {
		for _, j := range g.Judge(mustURL(t, url), 1) {
			if j.Accept {
				return j.Board
			}
		}
		return ""
	}
	if err := g.Set(b, b); err == nil || accepts("http://a.test/x") != "a" {
		t.Errorf("two boards of one name: %v; the old ones are gone", err)
	}
	if err := g.Set(b, a); err != nil || accepts("http://a.test/x") != "a" || accepts("http://b.test/x") != "b" {
		t.Errorf("%v: the new board has no effect", err)
	}
	if err := g.Set(b); err != nil || accepts("http://a.test/x") != "" {
		t.Errorf("%v: the removed board still accepts", err)
	}
}

// With classify = "auto" the patterns decide for data only.
func TestClassifyAuto(t *testing.T) {
	for _, c := range []struct {
		classify string
		offered  octopus.Lane
		want     octopus.Lane
	}{{"", octopus.Data, octopus.Nav}, {"auto", octopus.Data, octopus.Data}, {"auto", octopus.Nav, octopus.Nav}} {
		next := &recorder{}
		g := newGate(t, next, nil, octopus.Board{Entry: []string{"http://a.test/"}, Depth: 1, Article: []string{`/\d+$`}, Classify: c.classify})
		links := []octopus.Link{{URL: mustURL(t, "http://a.test/x"), Lane: c.offered}, {URL: mustURL(t, "http://a.test/1"), Lane: c.offered}}
		if _, err := g.Add(t.Context(), links); err != nil {
			t.Fatal(err)
		}
		if got := next.added; len(got) != 2 || got[0].Lane != c.want || got[1].Lane != octopus.Data {
			t.Errorf("%+v: lanes of %v", c, got)
		}
	}
}
