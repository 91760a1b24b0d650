package seen_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"octopus"
	"octopus/kv"
	"octopus/seen"
	"octopus/seen/seentest"
)

// records is a store whose user keeps a record per URL, as a frontier does.
type records struct {
	*kv.Memory
	asked atomic.Int64
}

func (r *records) confirm(k octopus.Key) (bool, error) {
	r.asked.Add(1)
	_, err := r.Get(append([]byte("url/"), k[:]...))
	if errors.Is(err, kv.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// commit adds keys and commits what is fresh, records included.
func (r *records) commit(t testing.TB, s seen.Stager, keys []octopus.Key) (fresh []bool) {
	fresh = seentest.Add(t, s, keys)
	var b kv.Batch
	var staged []octopus.Key
	for i, k := range keys {
		if fresh[i] {
			b.Set(append([]byte("url/"), k[:]...), nil)
			staged = append(staged, k)
		}
	}
	s.Stage(&b, seentest.Now, staged)
	if err := r.Apply(&b, kv.NoSync); err != nil {
		t.Error(err)
	}
	return fresh
}

// TestExactSpill grows a set far past its memory: every answer stays exact.
func TestExactSpill(t *testing.T) {
	const bound, n = 400 << 10, 50_000
	r := &records{Memory: kv.NewMemory()}
	o := seen.ExactOptions{MemoryBytes: bound, Confirm: r.confirm, FoldRecords: 50}
	e := openExact(t, r, o)
	seentest.Add(t, e, seentest.Keys(n, n+10)) // on its way for the whole test
	for at := 0; at < n; at += 500 {
		if got := seentest.Count(r.commit(t, e, seentest.Keys(at, at+500))); got != 500 {
			t.Fatalf("%d of 500 new keys are fresh at %d", got, at)
		}
		back := max(0, at-3000)
		if got := seentest.Count(r.commit(t, e, seentest.Keys(back, at))); got != 0 {
			t.Fatalf("%d of %d known keys are fresh at %d", got, at-back, at)
		}
		if err := e.Maintain(t.Context(), seentest.Now); err != nil {
			t.Fatal(err)
		}
	}
	if e.Len() != -1 {
		t.Fatal("the set did not spill")
	}
	if got := e.MemoryBytes(); got > bound {
		t.Errorf("%d bytes in memory, the bound is %d", got, bound)
	}
	if got := seentest.Count(seentest.Add(t, e, seentest.Keys(n, n+10))); got != 0 {
		t.Errorf("%d of 10 keys on their way were forgotten", got)
	}
	e = openExact(t, r, o)
	if e.Len() != -1 {
		t.Error("the set is opened as a table although it is too large")
	}
	if got := seentest.Count(seentest.Contains(t, e, seentest.Keys(0, n))); got != n {
		t.Errorf("%d of %d keys are known after reopening", got, n)
	}
	if got := seentest.Count(seentest.Contains(t, e, seentest.Keys(n, 2*n))); got != 0 {
		t.Errorf("%d of %d absent keys are known", got, n)
	}
	asked := r.asked.Load()
	seentest.Contains(t, e, seentest.Keys(0, 100))
	seentest.Contains(t, e, seentest.Keys(0, 100))
	if more := r.asked.Load() - asked; more > 150 {
		t.Errorf("100 keys met twice were confirmed %d times", more)
	}
}

// TestSpillWhileAdding spills while many goroutines add and commit: each key is
// fresh once.
func TestSpillWhileAdding(t *testing.T) {
	const workers, n = 4, 30_000
	r := &records{Memory: kv.NewMemory()}
	e := openExact(t, r, seen.ExactOptions{MemoryBytes: 400 << 10, Confirm: r.confirm, FoldRecords: 20})
	var times [n]atomic.Int32
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for at := 0; at < n; at += 100 {
				from := (at + w%2*50) % n // two and two in step, shifted
				to := min(from+100, n)
				for i, fresh := range r.commit(t, e, seentest.Keys(from, to)) {
					if fresh {
						times[from+i].Add(1)
					}
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		if err := e.Maintain(context.Background(), seentest.Now); err != nil {
			t.Fatal(err)
		}
	}
	if e.Len() != -1 {
		t.Fatal("the set did not spill")
	}
	for i := range times {
		if got := times[i].Load(); got != 1 {
			t.Fatalf("key %d was fresh %d times", i, got)
		}
	}
}

func TestSpillErrors(t *testing.T) {
	if _, err := seen.OpenExact(kv.NewMemory(), nil, seen.ExactOptions{MemoryBytes: 1}); err == nil {
		t.Error("a memory bound without Confirm is taken")
	}
	r := &records{Memory: kv.NewMemory()}
	down := errors.New("disk error")
	o := seen.ExactOptions{MemoryBytes: 200 << 10, FoldRecords: 1, Confirm: func(octopus.Key) (bool, error) { return false, down }}
	e := openExact(t, r, o)
	for at := 0; at < 20_000; at += 1000 {
		r.commit(t, e, seentest.Keys(at, at+1000))
		if err := e.Maintain(t.Context(), seentest.Now); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Add(t.Context(), seentest.Now, seentest.Keys(0, 1), make([]bool, 1)); !errors.Is(err, down) {
		t.Errorf("Add where Confirm fails: %v", err)
	}
}
