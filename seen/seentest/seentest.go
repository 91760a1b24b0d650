package seentest

import (
	"context"
	"crypto/md5"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"octopus"
	"octopus/kv"
	"octopus/seen"
)

// Promises tells what the suite may expect of a set.
type Promises struct {
	// ErrorRate bounds the share of fresh keys that are taken for known. 0:
	// none of the suite's tens of thousands may be.
	ErrorRate float64
}

// Now is the time of the suite's calls.
var Now = time.Date(2026, 5, 8, 12, 0, 0, 0, time.UTC)

// Run tests the set that open returns, an empty one each time.
func Run(t *testing.T, p Promises, open func(t *testing.T) seen.Set) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Promises, seen.Set)
	}{
		{"Basics", testBasics},
		{"Arguments", testArguments},
		{"Model", testModel},
		{"OneIsFresh", testOneIsFresh},
		{"NeverForgets", testNeverForgets},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, p, open(t)) })
	}
}

// RunStager tests that what was staged and committed, and nothing else,
// survives. open opens the set in a store, again and again.
func RunStager(t *testing.T, p Promises, open func(t *testing.T, s kv.Store) seen.Stager) {
	store := kv.NewMemory()
	set := open(t, store)
	add := func(keys []octopus.Key, commit bool) {
		t.Helper()
		fresh := Add(t, set, keys)
		var b kv.Batch
		set.Stage(&b, Now, pick(keys, fresh))
		if commit {
			if err := store.Apply(&b, kv.Sync); err != nil {
				t.Fatal(err)
			}
		}
	}
	kept := 0
	for round := range 5 {
		for range 40 {
			add(Keys(kept, kept+25), true)
			kept += 25
			if m, ok := set.(seen.Maintainer); ok {
				if err := m.Maintain(t.Context(), Now); err != nil {
					t.Fatal(err)
				}
			}
		}
		lost := Keys(1_000_000+round, 1_000_001+round)
		add(lost, false) // its batch never commits
		set = open(t, store)
		if n := Count(Contains(t, set, Keys(0, kept))); n != kept {
			t.Fatalf("round %d: %d of %d committed keys survive", round, n, kept)
		}
		if p.ErrorRate < 1e-3 && Count(Contains(t, set, lost)) != 0 {
			t.Errorf("round %d: a key survives whose batch was never committed", round)
		}
	}
}

func testBasics(t *testing.T, _ Promises, s seen.Set) {
	keys := Keys(0, 3)
	want(t, Contains(t, s, keys), "---", "Contains on an empty set")
	want(t, Add(t, s, keys[:2]), "xx", "Add of two keys")
	want(t, Contains(t, s, keys), "xx-", "Contains")
	want(t, Add(t, s, keys), "--x", "Add of two known and one new key")
	k := Keys(10, 11)[0]
	want(t, Add(t, s, []octopus.Key{k, k, k}), "x--", "Add of one key three times")
	want(t, Add(t, s, []octopus.Key{{}, {}}), "x-", "Add of the zero key")
	want(t, Contains(t, s, []octopus.Key{{}}), "x", "Contains of the zero key")
	want(t, Add(t, s, nil), "", "Add of nothing")
}

func testArguments(t *testing.T, _ Promises, s seen.Set) {
	keys := Keys(0, 2)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Add(ctx, Now, keys, make([]bool, 2)); !errors.Is(err, context.Canceled) {
		t.Errorf("Add after the end of its context: %v", err)
	}
	if err := s.Contains(ctx, Now, keys, make([]bool, 2)); !errors.Is(err, context.Canceled) {
		t.Errorf("Contains after the end of its context: %v", err)
	}
	if err := s.Add(context.Background(), Now, keys, make([]bool, 3)); err == nil {
		t.Error("Add with room for more answers than keys is taken")
	}
	if err := s.Contains(context.Background(), Now, keys, make([]bool, 1)); err == nil {
		t.Error("Contains with room for fewer answers than keys is taken")
	}
	want(t, Contains(t, s, keys), "--", "refused calls record nothing: Contains")
}

// testModel compares batches of random size and repetition with a map.
func testModel(t *testing.T, p Promises, s seen.Set) {
	rng := rand.New(rand.NewPCG(7, 8))
	model := map[octopus.Key]bool{}
	adds, wrong := 0, 0
	for range 150 {
		keys := make([]octopus.Key, rng.IntN(400))
		for i := range keys {
			keys[i] = Key(rng.IntN(20_000))
		}
		known := Contains(t, s, keys)
		for i, k := range keys {
			if model[k] && !known[i] {
				t.Fatalf("Contains: key %v was forgotten", k)
			}
		}
		for i, fresh := range Add(t, s, keys) {
			if model[keys[i]] && fresh {
				t.Fatalf("Add: key %v was forgotten", keys[i])
			}
			if !model[keys[i]] {
				adds++
				if !fresh {
					wrong++
				}
			}
			model[keys[i]] = true
		}
	}
	if rate := float64(wrong) / float64(adds); rate > p.ErrorRate {
		t.Errorf("%d of %d new keys taken for known: %.2g, promised %.2g", wrong, adds, rate, p.ErrorRate)
	}
}

// testOneIsFresh adds the same keys from many goroutines at once, in different
// orders: of each key exactly one hears that it is fresh.
func testOneIsFresh(t *testing.T, p Promises, s seen.Set) {
	const workers, n, part = 4, 10_000, 100
	var group sync.WaitGroup
	var mu sync.Mutex
	times := make([]int, n)
	for w := range workers {
		group.Go(func() {
			order := rand.New(rand.NewPCG(uint64(w), 1)).Perm(n)
			keys, fresh := make([]octopus.Key, part), make([]bool, part)
			for at := 0; at < n; at += part {
				for i := range part {
					keys[i] = Key(order[at+i])
				}
				if err := s.Add(context.Background(), Now, keys, fresh); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for i, f := range fresh {
					if f {
						times[order[at+i]]++
					}
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	never := 0
	for i, n := range times {
		if n > 1 {
			t.Fatalf("key %d was fresh %d times", i, n)
		}
		if n == 0 {
			never++
		}
	}
	if float64(never) > p.ErrorRate*n+float64(4*btoi(p.ErrorRate > 0)) {
		t.Errorf("%d of %d keys were fresh for nobody", never, n)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// testNeverForgets reads and grows at once: a key that was added stays known.
func testNeverForgets(t *testing.T, _ Promises, s seen.Set) {
	first := Keys(0, 2000)
	Add(t, s, first)
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		defer close(done)
		for at := 2000; at < 40_000; at += 2000 {
			Add(t, s, Keys(at, at+2000))
		}
	})
	group.Go(func() {
		for {
			if n := Count(Contains(t, s, first)); n != len(first) {
				t.Errorf("%d of %d keys are known while the set grows", n, len(first))
				return
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	group.Wait()
}

// Key returns the n-th key of the suite, distributed as the keys of URLs are.
func Key(n int) octopus.Key {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	return md5.Sum(b[:])
}

// Keys returns the keys [from, to).
func Keys(from, to int) []octopus.Key {
	keys := make([]octopus.Key, 0, to-from)
	for n := from; n < to; n++ {
		keys = append(keys, Key(n))
	}
	return keys
}

// Add adds keys at Now and returns which were fresh.
func Add(t testing.TB, s seen.Set, keys []octopus.Key) []bool {
	t.Helper()
	fresh := make([]bool, len(keys))
	if err := s.Add(context.Background(), Now, keys, fresh); err != nil {
		t.Errorf("Add: %v", err)
	}
	return fresh
}

// Contains returns which keys are known at Now.
func Contains(t testing.TB, s seen.Set, keys []octopus.Key) []bool {
	t.Helper()
	known := make([]bool, len(keys))
	if err := s.Contains(context.Background(), Now, keys, known); err != nil {
		t.Errorf("Contains: %v", err)
	}
	return known
}

// Count returns how many answers are true.
func Count(answers []bool) (n int) {
	for _, a := range answers {
		n += btoi(a)
	}
	return n
}

// pick returns the keys whose answer is true.
func pick(keys []octopus.Key, answers []bool) (picked []octopus.Key) {
	for i, a := range answers {
		if a {
			picked = append(picked, keys[i])
		}
	}
	return picked
}

// want compares answers with a text, x for true and - for false.
func want(t *testing.T, answers []bool, text, what string) {
	t.Helper()
	got := ""
	for _, a := range answers {
		got += string("-x"[btoi(a)])
	}
	if got != text {
		t.Errorf("%s: %s, want %s", what, got, text)
	}
}
