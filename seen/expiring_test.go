package seen_test

import (
	"testing"
	"time"

	"octopus"
	"octopus/kv"
	"octopus/seen"
	"octopus/seen/seentest"
)

func newExpiring(t testing.TB, ttl time.Duration) *seen.Expiring {
	t.Helper()
	e, err := seen.NewExpiring(seen.ExpiringOptions{TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func openExpiring(t testing.TB, s kv.Store, ttl time.Duration) *seen.Expiring {
	t.Helper()
	e, err := seen.OpenExpiring(s, []byte("seen/"), seen.ExpiringOptions{TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestExpiring(t *testing.T) {
	seentest.Run(t, seentest.Promises{}, func(t *testing.T) seen.Set { return newExpiring(t, time.Hour) })
}

func TestExpiringStaged(t *testing.T) {
	seentest.RunStager(t, seentest.Promises{}, func(t *testing.T, s kv.Store) seen.Stager {
		return openExpiring(t, s, time.Hour)
	})
}

// TestExpires: a key is known for its time, to the second, and not longer for
// being met again.
func TestExpires(t *testing.T) {
	e, now := newExpiring(t, 90*time.Minute), seentest.Now
	for _, c := range []struct {
		at   time.Duration
		want bool
	}{
		{0, true}, {time.Second, false}, {8 * time.Minute, false}, {90*time.Minute - time.Second, false},
		{90 * time.Minute, true}, {91 * time.Minute, false}, {180*time.Minute - time.Second, false}, {180 * time.Minute, true},
	} {
		walk(t, e, now, seentest.Now.Add(c.at))
		now = seentest.Now.Add(c.at)
		if got := fresh(t, e, now, 1); got != c.want {
			t.Errorf("after %v the key is fresh: %v", c.at, got)
		}
	}
}

// TestExpiringJumps: no jump of the clock makes a key fresh before its time.
func TestExpiringJumps(t *testing.T) {
	now := seentest.Now
	for _, wrong := range []time.Time{
		now.Add(-time.Hour), now.AddDate(0, 0, 1), now.AddDate(0, 0, 30), time.Unix(0, 0), time.Date(2106, 2, 7, 0, 0, 0, 0, time.UTC),
	} {
		e := newExpiring(t, time.Hour)
		fresh(t, e, now, 1)
		fresh(t, e, wrong, 2)
		back := now.Add(10 * time.Minute)
		for _, at := range []time.Time{wrong, wrong.Add(9 * time.Minute), back, now.Add(59 * time.Minute)} {
			if fresh(t, e, at, 1) {
				t.Errorf("clock at %v, then %v: the key was forgotten", wrong, at)
			}
		}
		walk(t, e, now.Add(59*time.Minute), now.Add(100*time.Minute))
		for key := 1; key <= 2; key++ {
			if !fresh(t, e, now.Add(100*time.Minute), key) {
				t.Errorf("clock at %v: key %d is known for ever", wrong, key)
			}
		}
	}
	e := newExpiring(t, time.Hour)
	fresh(t, e, now, 1)
	there := now.AddDate(0, 0, 1)
	walk(t, e, there, there.Add(11*time.Minute))
	if !fresh(t, e, there.Add(11*time.Minute), 1) {
		t.Error("a clock that stays a day ahead is not believed")
	}
}

// TestExpiringCleans: what expired leaves the memory and the store.
func TestExpiringCleans(t *testing.T) {
	s := kv.NewMemory()
	e := openExpiring(t, s, time.Hour)
	add := func(now time.Time, from, to int) {
		keys := seentest.Keys(from, to)
		answer := make([]bool, len(keys))
		if err := e.Add(t.Context(), now, keys, answer); err != nil {
			t.Fatal(err)
		}
		var picked []octopus.Key
		for i, k := range keys {
			if answer[i] {
				picked = append(picked, k)
			}
		}
		var b kv.Batch
		e.Stage(&b, now, picked)
		if err := s.Apply(&b, kv.NoSync); err != nil {
			t.Fatal(err)
		}
	}
	now := seentest.Now
	for minute := range 300 {
		at := now.Add(time.Duration(minute) * time.Minute)
		add(at, minute*100, minute*100+100)
		if err := e.Maintain(t.Context(), at); err != nil {
			t.Fatal(err)
		}
	}
	if n := e.Len(); n < 6000 || n > 12_000 {
		t.Errorf("%d keys in memory, 6000 are alive", n)
	}
	values := 0
	s.Scan([]byte("seen/"), nil, func(_, _ []byte) error { values++; return nil })
	if values < 60 || values > 80 {
		t.Errorf("%d records in the store, 60 are alive", values)
	}
	e = openExpiring(t, s, time.Hour)
	known := make([]bool, 6000)
	if err := e.Contains(t.Context(), now.Add(299*time.Minute), seentest.Keys(24_000, 30_000), known); err != nil {
		t.Fatal(err)
	}
	if n := seentest.Count(known); n != 6000 {
		t.Errorf("%d of 6000 live keys are known after reopening", n)
	}
}

func TestExpiringErrors(t *testing.T) {
	if _, err := seen.NewExpiring(seen.ExpiringOptions{}); err == nil {
		t.Error("a set without a time to live is made")
	}
	s := kv.NewMemory()
	var b kv.Batch
	b.Set([]byte("seen/ebad"), nil)
	s.Apply(&b, kv.NoSync)
	if _, err := seen.OpenExpiring(s, []byte("seen/"), seen.ExpiringOptions{TTL: time.Hour}); err == nil {
		t.Error("a damaged record is taken")
	}
}
