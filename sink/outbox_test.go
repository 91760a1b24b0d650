package sink_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"octopus"
	"octopus/kv"
	"octopus/queue"
	"octopus/sink"
	"octopus/sink/sinktest"
)

// memo is a sink that remembers, and fails while fail says so.
type memo struct {
	mu     sync.Mutex
	got    []string
	calls  []time.Time
	fail   error
	closed bool
}

func (m *memo) Write(_ context.Context, recs []octopus.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls = append(m.calls, time.Now())
	if m.fail != nil {
		return m.fail
	}
	for _, r := range recs {
		m.got = append(m.got, sinktest.Name(r))
	}
	return nil
}

func (m *memo) Close() error {
	m.closed = true
	return nil
}

func (m *memo) names() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.got)
}

func (m *memo) setFail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = err
}

// wanted returns the names of the records [from, to).
func wanted(from, to int) (names []string) {
	for _, r := range sinktest.Records(from, to) {
		names = append(names, sinktest.Name(r))
	}
	return names
}

// commit appends the records [from, to) in one batch.
func commit(t *testing.T, s kv.Store, o *sink.Outbox, from, to int) {
	t.Helper()
	var b kv.Batch
	for _, r := range sinktest.Records(from, to) {
		if err := o.Append(&b, &r); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Apply(&b, kv.Sync); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, s kv.Store, o sink.Options) *sink.Outbox {
	t.Helper()
	out, err := sink.Open(s, []byte("out/"), o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// run starts Run and returns what ends it.
func run(t *testing.T, o *sink.Outbox) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- o.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
}

func TestDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a, b := kv.NewMemory(), &memo{}, &memo{}
		o := open(t, s, sink.Options{Batch: 7, Targets: []sink.Target{{"a", a}, {"b", b}}})
		stop := run(t, o)
		commit(t, s, o, 0, 50)
		commit(t, s, o, 50, 51)
		if err := o.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		for name, m := range map[string]*memo{"a": a, "b": b} {
			if !slices.Equal(m.names(), wanted(0, 51)) {
				t.Errorf("%s got %q", name, m.names())
			}
		}
		stop()
		if !a.closed || !b.closed {
			t.Error("Run ended without closing the sinks")
		}
		left := 0
		s.Scan([]byte("out/qr"), []byte("out/qs"), func(_, _ []byte) error { left++; return nil })
		if left != 0 {
			t.Errorf("%d records stay in the store although all sinks have them", left)
		}
	})
}

// TestSlowSink: a sink that fails keeps its records, through a restart, and
// holds up no other.
func TestSlowSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, good, bad := kv.NewMemory(), &memo{}, &memo{fail: errors.New("server down")}
		var mu sync.Mutex
		var waits []time.Duration
		options := func() sink.Options {
			return sink.Options{
				Targets: []sink.Target{{"good", good}, {"bad", bad}},
				OnError: func(_ string, _ error, wait time.Duration) {
					mu.Lock()
					defer mu.Unlock()
					waits = append(waits, wait)
				},
			}
		}
		o := open(t, s, options())
		stop := run(t, o)
		commit(t, s, o, 0, 10)
		synctest.Wait()
		if !slices.Equal(good.names(), wanted(0, 10)) {
			t.Errorf("the good sink waits for the bad one: %q", good.names())
		}
		status := o.Status()
		if status[0].Pending != 0 || status[1].Pending != 10 || status[1].Error != "server down" {
			t.Errorf("status %+v", status)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		if err := o.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Flush with a broken sink: %v", err)
		}
		cancel()
		stop()
		if want := []time.Duration{1, 2, 4, 8, 16, 32, 60, 60}; len(waits) < len(want) {
			t.Errorf("waits %v", waits)
		} else {
			for i, w := range want {
				if waits[i] != w*time.Second {
					t.Errorf("wait %d is %v, want %d s", i, waits[i], w)
				}
			}
		}

		bad.setFail(nil)
		o = open(t, s, options())
		stop = run(t, o)
		commit(t, s, o, 10, 12)
		if err := o.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		stop()
		for name, m := range map[string]*memo{"good": good, "bad": bad} {
			if !slices.Equal(m.names(), wanted(0, 12)) {
				t.Errorf("after the restart the %s sink has %q", name, m.names())
			}
		}
	})
}

func TestRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := kv.NewMemory(), &memo{fail: errors.New("down")}
		o := open(t, s, sink.Options{Targets: []sink.Target{{"m", m}}})
		stop := run(t, o)
		commit(t, s, o, 0, 3)
		time.AfterFunc(10*time.Second, func() { m.setFail(nil) })
		if err := o.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		stop()
		if st := o.Status()[0]; st.Error != "" || st.Pending != 0 || len(m.names()) != 3 {
			t.Errorf("after the sink came back: %+v, %q", st, m.names())
		}
	})
}

// TestNewSink: a sink that is added later gets what comes later.
func TestNewSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, first, second := kv.NewMemory(), &memo{}, &memo{}
		o := open(t, s, sink.Options{Targets: []sink.Target{{"first", first}}})
		commit(t, s, o, 0, 5) // nobody runs: all five wait
		o = open(t, s, sink.Options{Targets: []sink.Target{{"first", first}, {"second", second}}})
		stop := run(t, o)
		commit(t, s, o, 5, 8)
		if err := o.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		stop()
		if !slices.Equal(first.names(), wanted(0, 8)) || !slices.Equal(second.names(), wanted(5, 8)) {
			t.Errorf("first %q, second %q", first.names(), second.names())
		}
	})
}

func TestNoSinks(t *testing.T) {
	s := kv.NewMemory()
	o := open(t, s, sink.Options{})
	var b kv.Batch
	if err := o.Append(&b, &sinktest.Records(0, 1)[0]); err != nil || b.Len() != 0 {
		t.Errorf("Append without a sink stages %d changes, %v", b.Len(), err)
	}
	if err := o.Flush(t.Context()); err != nil {
		t.Errorf("Flush without a sink: %v", err)
	}
	run(t, o)()
}

func TestOpenErrors(t *testing.T) {
	a, b := &memo{}, &memo{}
	if _, err := sink.Open(kv.NewMemory(), nil, sink.Options{Targets: []sink.Target{{"x", a}, {"x", b}}}); err == nil {
		t.Error("one name for two sinks is taken")
	}
	if !a.closed || !b.closed {
		t.Error("sinks stay open after a failed Open")
	}
	s := kv.NewMemory()
	var batch kv.Batch
	batch.Set([]byte("out/cx"), []byte("bad"))
	s.Apply(&batch, kv.NoSync)
	if _, err := sink.Open(s, []byte("out/"), sink.Options{Targets: []sink.Target{{"x", a}}}); err == nil {
		t.Error("a damaged cursor is taken")
	}
}

// TestDamagedRecord: a record that is no JSON ends Run with an error that
// names it; it is not skipped.
func TestDamagedRecord(t *testing.T) {
	s := kv.NewMemory()
	opt := sink.Options{Targets: []sink.Target{{"m", &memo{}}}}
	open(t, s, opt) // what is staged from now on is for m
	q, err := queue.Open(s, []byte("out/q"), queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b kv.Batch
	if err := q.Append(&b, []byte("no json")); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(&b, kv.Sync); err != nil {
		t.Fatal(err)
	}
	o := open(t, s, opt)
	if err := o.Run(t.Context()); err == nil {
		t.Error("Run delivers a damaged record")
	} else if want := "record 0 of the outbox is damaged"; !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
