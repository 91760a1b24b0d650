package seen_test

import (
	"fmt"
	"testing"
	"time"

	"octopus"
	"octopus/kv"
	"octopus/seen"
	"octopus/seen/seentest"
)

func newWindow(t testing.TB, o seen.WindowOptions) *seen.Window {
	t.Helper()
	w, err := seen.NewWindow(o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func openWindow(t testing.TB, p seen.Place, o seen.WindowOptions) *seen.Window {
	t.Helper()
	w, err := seen.OpenWindow(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestWindow(t *testing.T) {
	seentest.Run(t, seentest.Promises{ErrorRate: 1e-3}, func(t *testing.T) seen.Set {
		return newWindow(t, seen.WindowOptions{Capacity: 50_000, ErrorRate: 1e-5})
	})
}

func TestWindowStaged(t *testing.T) {
	p := place(t)
	seentest.RunStager(t, seentest.Promises{ErrorRate: 1e-4}, func(t *testing.T, s kv.Store) seen.Stager {
		p.Store = s
		return openWindow(t, p, seen.WindowOptions{Capacity: 5000, ErrorRate: 1e-5})
	})
}

// fresh adds a key at a time and reports whether it was fresh.
func fresh(t *testing.T, s seen.Set, now time.Time, key int) bool {
	t.Helper()
	answer := make([]bool, 1)
	if err := s.Add(t.Context(), now, []octopus.Key{seentest.Key(key)}, answer); err != nil {
		t.Fatal(err)
	}
	return answer[0]
}

// walk tells the set the time in small steps, as a crawl does.
func walk(t *testing.T, s seen.Maintainer, from, to time.Time) {
	t.Helper()
	for now := from; !now.After(to); now = now.Add(5 * time.Minute) {
		if err := s.Maintain(t.Context(), now); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTwoHours is the source's experiment: windows of one hour, two of them.
// Hour 2 never repeats 1; hour 3 may repeat 1, not 2; hour 4 may repeat 1 and
// 2, not 3.
func TestTwoHours(t *testing.T) {
	w := newWindow(t, seen.WindowOptions{Granularity: seen.Hour, Windows: 2, Capacity: 1000, ErrorRate: 1e-6})
	start := time.Date(2019, 5, 8, 9, 0, 0, 0, time.UTC)
	met := map[int]int{} // key -> hour in which it was last fresh
	for hour := 1; hour <= 4; hour++ {
		for minute := range 60 {
			now := start.Add(time.Duration(hour-1)*time.Hour + time.Duration(minute)*time.Minute)
			for n := range hour * 100 { // all keys of this and earlier hours
				last, was := met[n]
				got := fresh(t, w, now, n)
				if want := !was || last <= hour-2; got != want {
					t.Fatalf("hour %d, minute %d: key of hour %d (taken in hour %d) fresh %v", hour, minute, n/100+1, last, got)
				}
				if got {
					met[n] = hour
				}
			}
		}
	}
}

// TestExpiry: the window 20190603 of three daily ones expires at 20190606 00:00
// in the zone of the boundaries.
func TestExpiry(t *testing.T) {
	zone := time.FixedZone("east", 8*3600)
	for _, z := range []*time.Location{time.UTC, zone} {
		w := newWindow(t, seen.WindowOptions{Windows: 3, Zone: z})
		first := time.Date(2019, 6, 3, 0, 0, 0, 0, z)
		late := time.Date(2019, 6, 3, 23, 59, 0, 0, z)
		end := time.Date(2019, 6, 6, 0, 0, 0, 0, z)
		fresh(t, w, first, 1)
		walk(t, w, first, late)
		fresh(t, w, late, 2)
		walk(t, w, late, end.Add(-time.Second))
		for key := 1; key <= 2; key++ {
			if fresh(t, w, end.Add(-time.Second), key) {
				t.Errorf("%v: key %d was forgotten before %v", z, key, end)
			}
		}
		if f := w.Fill(); !f[0].Expires.Equal(end) || !f[0].Start.Equal(first) || f[0].Keys != 2 || len(f) != 3 {
			t.Errorf("%v: fill %+v", z, f)
		}
		for key := 1; key <= 2; key++ {
			if !fresh(t, w, end, key) {
				t.Errorf("%v: key %d is known at %v", z, key, end)
			}
		}
	}
}

func TestMonths(t *testing.T) {
	w := newWindow(t, seen.WindowOptions{Granularity: seen.Month, Windows: 2})
	at := func(m time.Month, d int) time.Time { return time.Date(2026, m, d, 0, 0, 0, 0, time.UTC) }
	fresh(t, w, at(11, 15), 1)
	walk(t, w, at(11, 15), at(13, 1).Add(-time.Minute))
	if fresh(t, w, at(13, 1).Add(-time.Second), 1) {
		t.Error("a key of November was forgotten in December")
	}
	if !fresh(t, w, at(13, 1), 1) {
		t.Error("a key of November is known in January")
	}
}

// TestClockJumps: whatever the clock does, no key is forgotten before it has
// lived Windows-1 units of passing time, and all are in the end.
func TestClockJumps(t *testing.T) {
	now := time.Date(2026, 5, 8, 12, 30, 0, 0, time.UTC)
	jumps := map[string]time.Time{
		"-1h": now.Add(-time.Hour), "+1d": now.AddDate(0, 0, 1), "+30d": now.AddDate(0, 0, 30),
		"1970": time.Unix(0, 0), "2106": time.Date(2106, 2, 7, 0, 0, 0, 0, time.UTC), "-2d": now.AddDate(0, 0, -2),
	}
	for name, wrong := range jumps {
		for _, g := range []seen.Granularity{seen.Hour, seen.Day} {
			for _, durable := range []bool{false, true} {
				t.Run(fmt.Sprint(name, "/", g, "/durable=", durable), func(t *testing.T) {
					o := seen.WindowOptions{Granularity: g, Windows: 2, Capacity: 1000}
					set, restart := seen.Set(newWindow(t, o)), func() {}
					r := &records{Memory: kv.NewMemory()}
					if durable {
						p := place(t)
						p.Store = r
						restart = func() { set = openWindow(t, p, o) }
						restart()
					}
					add := func(at time.Time, key int) bool {
						if s, ok := set.(seen.Stager); ok && durable {
							answer := make([]bool, 1)
							keys := []octopus.Key{seentest.Key(key)}
							if err := s.Add(t.Context(), at, keys, answer); err != nil {
								t.Fatal(err)
							}
							var b kv.Batch
							if answer[0] {
								s.Stage(&b, at, keys)
							}
							if err := r.Apply(&b, kv.Sync); err != nil {
								t.Fatal(err)
							}
							return answer[0]
						}
						return fresh(t, set, at, key)
					}
					add(now, 1)
					add(wrong, 2) // while the clock is wrong
					add(wrong.Add(5*time.Minute), 3)
					restart()
					for key := 1; key <= 3; key++ {
						if add(wrong.Add(9*time.Minute), key) {
							t.Errorf("key %d was forgotten while the clock was wrong", key)
						}
					}
					restart()
					back := now.Add(10 * time.Minute)
					for key := 1; key <= 3; key++ {
						if add(back, key) {
							t.Errorf("key %d was forgotten when the clock was right again", key)
						}
					}
					w := set.(*seen.Window)
					walk(t, w, back, back.Add(72*time.Hour))
					for key := 1; key <= 3; key++ {
						if !add(back.Add(72*time.Hour), key) {
							t.Errorf("key %d is known for ever", key)
						}
					}
				})
			}
		}
	}
}

// TestClockBelieved: a clock that stays where it jumped to is believed after
// ten minutes, forward and backward, and at once when an operator says so.
func TestClockBelieved(t *testing.T) {
	now := time.Date(2026, 5, 8, 12, 30, 0, 0, time.UTC)
	for _, jump := range []time.Duration{30 * 24 * time.Hour, -30 * 24 * time.Hour} {
		w := newWindow(t, seen.WindowOptions{Windows: 2})
		fresh(t, w, now, 1)
		there := now.Add(jump)
		walk(t, w, there, there.Add(9*time.Minute))
		if fresh(t, w, there.Add(9*time.Minute), 1) {
			t.Errorf("%v: the key was forgotten after 9 minutes", jump)
		}
		fresh(t, w, there.Add(9*time.Minute), 2)
		walk(t, w, there.Add(9*time.Minute), there.Add(11*time.Minute))
		got := fresh(t, w, there.Add(11*time.Minute), 1)
		if want := jump > 0; got != want {
			t.Errorf("%v: after 11 minutes the key is fresh: %v, want %v", jump, got, want)
		}
		if fresh(t, w, there.Add(11*time.Minute), 2) {
			t.Errorf("%v: a key that came after the jump was forgotten", jump)
		}
		walk(t, w, there.Add(11*time.Minute), there.Add(72*time.Hour))
		for key := 1; key <= 2; key++ {
			if !fresh(t, w, there.Add(72*time.Hour), key) {
				t.Errorf("%v: key %d is known three days later", jump, key)
			}
		}
	}
	w := newWindow(t, seen.WindowOptions{Windows: 2})
	fresh(t, w, now, 1)
	if err := w.Believe(now.AddDate(0, 0, 30)); err != nil {
		t.Fatal(err)
	}
	if !fresh(t, w, now.AddDate(0, 0, 30), 1) {
		t.Error("the key is known although the jump was confirmed")
	}
}

// TestShortRuns: a crawl of a few minutes a day forgets as well.
func TestShortRuns(t *testing.T) {
	p, o := place(t), seen.WindowOptions{Windows: 2, Capacity: 1000}
	start := time.Date(2026, 5, 8, 3, 0, 0, 0, time.UTC)
	forgotten := -1
	for day := range 6 {
		w := openWindow(t, p, o)
		now := start.AddDate(0, 0, day)
		answer := make([]bool, 1)
		if err := w.Add(t.Context(), now, seentest.Keys(1, 2), answer); err != nil {
			t.Fatal(err)
		}
		var b kv.Batch
		if answer[0] {
			w.Stage(&b, now, seentest.Keys(1, 2))
			if day > 0 && forgotten < 0 {
				forgotten = day
			}
		}
		if err := p.Store.Apply(&b, kv.Sync); err != nil {
			t.Fatal(err)
		}
		walk(t, w, now, now.Add(5*time.Minute))
	}
	if forgotten < 2 || forgotten > 3 {
		t.Errorf("the key of day 0 is fresh again on day %d, want 2 or 3", forgotten)
	}
}

// TestWindowCleans: expired windows leave the store and the directory.
func TestWindowCleans(t *testing.T) {
	r := &records{Memory: kv.NewMemory()}
	p := place(t)
	p.Store, p.SnapshotKeys = r, 1
	w := openWindow(t, p, seen.WindowOptions{Granularity: seen.Hour, Windows: 2, Capacity: 1000})
	for hour := range 20 {
		now := seentest.Now.Add(time.Duration(hour) * time.Hour)
		walk(t, w, now, now.Add(59*time.Minute))
		answer := make([]bool, 10)
		keys := seentest.Keys(hour*10, hour*10+10)
		if err := w.Add(t.Context(), now.Add(59*time.Minute), keys, answer); err != nil {
			t.Fatal(err)
		}
		var b kv.Batch
		w.Stage(&b, now, keys)
		if err := r.Apply(&b, kv.NoSync); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Maintain(t.Context(), seentest.Now.Add(20*time.Hour)); err != nil {
		t.Fatal(err)
	}
	names, err := p.FS.List("files")
	if err != nil || len(names) > 3 {
		t.Errorf("files %v, %v", names, err)
	}
	values := 0
	r.Scan([]byte("seen/"), []byte("seen0"), func(_, _ []byte) error { values++; return nil })
	if values > 6 {
		t.Errorf("%d values stay in the store", values)
	}
}

func TestWindowErrors(t *testing.T) {
	for _, o := range []seen.WindowOptions{{Granularity: "week"}, {Windows: -1}, {Capacity: -1}, {ErrorRate: 1}} {
		if _, err := seen.NewWindow(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	for _, c := range []struct{ key, value string }{
		{"seen/wshort", "12345678"}, {"seen/w\x00\x00\x00\x00\x00\x00\x00\x00", "12345678"}, {"seen/w\x00\x00\x00\x00\x00\x00\x00\x01", "1"},
	} {
		p := place(t)
		var b kv.Batch
		b.Set([]byte(c.key), []byte(c.value))
		p.Store.Apply(&b, kv.NoSync)
		if _, err := seen.OpenWindow(p, seen.WindowOptions{}); err == nil {
			t.Errorf("%q = %q is taken", c.key, c.value)
		}
	}
}
