package sink_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"octopus/kv"
	"octopus/sink"
)

// TestRoom keeps one sink from taking records: Room blocks at the limit, says
// which sink it is, and opens once that goes on. The other sink has it all.
func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, dead, alive := kv.NewMemory(), &memo{fail: errors.New("no route to host")}, &memo{}
		o := open(t, s, sink.Options{Limit: 10, Targets: []sink.Target{{"dead", dead}, {"alive", alive}}})
		stop := run(t, o)
		room := func() bool {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			return o.Room(ctx) == nil
		}
		commit(t, s, o, 0, 9)
		if _, full := o.Full(); full || !room() {
			t.Error("no room for a tenth record")
		}
		commit(t, s, o, 9, 10)
		if room() {
			t.Error("there is room although 10 records wait")
		}
		if at, full := o.Full(); !full || at != (sink.Status{Name: "dead", Pending: 10, Error: "no route to host"}) {
			t.Errorf("full: %v, %+v", full, at)
		}
		if got := alive.names(); !slices.Equal(got, wanted(0, 10)) {
			t.Errorf("the other sink got %q", got)
		}
		dead.setFail(nil)
		if !room() {
			t.Error("no room after the sink went on")
		}
		stop()
	})
}

// gatherer is a memo that wants 100 records, or an hour.
type gatherer struct {
	memo
}

func (g *gatherer) Gather() (records, size int, wait time.Duration) { return 100, 1 << 20, time.Hour }

func TestGather(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, g := kv.NewMemory(), &gatherer{}
		o := open(t, s, sink.Options{Batch: 7, Targets: []sink.Target{{"g", g}}})
		stop := run(t, o)
		has := func(n int, when string) {
			t.Helper()
			synctest.Wait()
			if got := g.names(); !slices.Equal(got, wanted(0, n)) {
				t.Errorf("%s: %d records, want %d", when, len(got), n)
			}
		}
		commit(t, s, o, 0, 99)
		has(0, "99 records wait")
		commit(t, s, o, 99, 120)
		has(100, "120 were committed")
		time.Sleep(time.Hour)
		has(120, "an hour later")
		commit(t, s, o, 120, 121)
		if err := o.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		has(121, "after Flush")
		if len(g.calls) != 3 {
			t.Errorf("%d writes, want 3", len(g.calls))
		}
		stop()
	})
}

// TestAbsent leaves a sink with records to come out of the next run.
func TestAbsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := kv.NewMemory()
		o := open(t, s, sink.Options{Targets: []sink.Target{{"a", &memo{}}, {"b", &memo{fail: errors.New("no")}}}})
		stop := run(t, o)
		commit(t, s, o, 0, 5)
		synctest.Wait()
		stop()
		o = open(t, s, sink.Options{Targets: []sink.Target{{"a", &memo{}}}})
		if got := o.Absent(); len(got) != 1 || got[0].Name != "b" || got[0].Pending != 5 {
			t.Errorf("absent: %+v", got)
		}
	})
}
