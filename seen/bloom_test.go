package seen_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"octopus/internal/durable"
	"octopus/kv"
	"octopus/kv/pebblekv/crashtest"
	"octopus/seen"
	"octopus/seen/seentest"
)

func newBloom(t testing.TB, o seen.BloomOptions) *seen.Bloom {
	t.Helper()
	b, err := seen.NewBloom(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func openBloom(t testing.TB, p seen.Place, o seen.BloomOptions) *seen.Bloom {
	t.Helper()
	b, err := seen.OpenBloom(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBloom(t *testing.T) {
	seentest.Run(t, seentest.Promises{ErrorRate: 1e-4}, func(t *testing.T) seen.Set {
		return newBloom(t, seen.BloomOptions{Capacity: 50_000, ErrorRate: 1e-6})
	})
}

// TestBloomSmall grows all the time.
func TestBloomSmall(t *testing.T) {
	seentest.Run(t, seentest.Promises{ErrorRate: 3e-3}, func(t *testing.T) seen.Set {
		return newBloom(t, seen.BloomOptions{Capacity: 100, ErrorRate: 1e-3})
	})
}

// place returns a place in memory whose store and files outlive its sets.
func place(t testing.TB) seen.Place {
	t.Helper()
	fs := durable.Memory()
	if err := fs.MkdirAll("files", 0o755); err != nil {
		t.Fatal(err)
	}
	return seen.Place{Store: kv.NewMemory(), Prefix: []byte("seen/"), Dir: "files", FS: fs, SnapshotKeys: 700}
}

func TestBloomStaged(t *testing.T) {
	for _, capacity := range []int64{100_000, 200} {
		p := place(t)
		seentest.RunStager(t, seentest.Promises{ErrorRate: 1e-4}, func(t *testing.T, s kv.Store) seen.Stager {
			p.Store = s
			return openBloom(t, p, seen.BloomOptions{Capacity: capacity, ErrorRate: 1e-6})
		})
		names, err := p.FS.List("files")
		if err != nil || len(names) == 0 {
			t.Errorf("no snapshot was written: %v, %v", names, err)
		}
	}
}

func TestBloomMapped(t *testing.T) {
	p := seen.Place{Store: kv.NewMemory(), Prefix: []byte("seen/"), Dir: t.TempDir(), SnapshotKeys: 700}
	first := true
	seentest.RunStager(t, seentest.Promises{ErrorRate: 1e-4}, func(t *testing.T, s kv.Store) seen.Stager {
		p.Store = s
		mapped := !first // begins as a snapshot and goes on as a mapped file
		first = false
		return openBloom(t, p, seen.BloomOptions{Capacity: 900, ErrorRate: 1e-6, Mapped: mapped})
	})
	back := openBloom(t, p, seen.BloomOptions{Capacity: 1}) // a mapped file is read as well
	if n := seentest.Count(seentest.Contains(t, back, seentest.Keys(0, 5000))); n != 5000 {
		t.Errorf("%d of 5000 keys known", n)
	}
}

// TestBloomGrows: the measured error stays below the promise while the set
// grows to many times its capacity.
func TestBloomGrows(t *testing.T) {
	b := newBloom(t, seen.BloomOptions{Capacity: 5000, ErrorRate: 1e-2})
	for at := 0; at < 100_000; at += 5000 {
		seentest.Add(t, b, seentest.Keys(at, at+5000))
		wrong := seentest.Count(seentest.Contains(t, b, seentest.Keys(1_000_000, 1_020_000)))
		limit, rate := 1.2e-2, float64(wrong)/20_000
		if at > 0 {
			limit = 2.2e-2
		}
		if fill := b.Fill(); rate > limit || fill.ErrorRate > limit {
			t.Errorf("at %d keys: error %.3g, by its bits %.3g, limit %.3g", at+5000, rate, fill.ErrorRate, limit)
		}
	}
	if f := b.Fill(); f.Layers < 4 || f.Keys < 95_000 {
		t.Errorf("fill %+v", f)
	}
}

// TestBloomConfirmed: with confirmation a saturated filter answers exactly.
func TestBloomConfirmed(t *testing.T) {
	r := &records{Memory: kv.NewMemory()}
	p := place(t)
	p.Store = r
	b := openBloom(t, p, seen.BloomOptions{Capacity: 1000, ErrorRate: 0.4, Confirm: r.confirm})
	for at := 0; at < 20_000; at += 1000 {
		if n := seentest.Count(r.commit(t, b, seentest.Keys(at, at+1000))); n != 1000 {
			t.Fatalf("%d of 1000 new keys are fresh", n)
		}
		if n := seentest.Count(r.commit(t, b, seentest.Keys(at/2, at))); n != 0 {
			t.Fatalf("%d of %d known keys are fresh", n, at-at/2)
		}
	}
}

// TestAllow: a key on the white list is fresh once, survives a restart there,
// and leaves the list with the batch that it is committed in.
func TestAllow(t *testing.T) {
	r := &records{Memory: kv.NewMemory()}
	p := place(t)
	p.Store = r
	b := openBloom(t, p, seen.BloomOptions{})
	keys := seentest.Keys(0, 2)
	r.commit(t, b, keys)
	if err := b.Allow(keys[:1]); err != nil {
		t.Fatal(err)
	}
	b = openBloom(t, p, seen.BloomOptions{})
	if known := seentest.Contains(t, b, keys); known[0] || !known[1] {
		t.Errorf("known %v, want only the second", known)
	}
	seentest.Add(t, b, keys) // its batch never commits
	b = openBloom(t, p, seen.BloomOptions{})
	if got := r.commit(t, b, keys); !got[0] || got[1] {
		t.Errorf("fresh %v, want only the first", got)
	}
	if got := r.commit(t, b, keys); got[0] {
		t.Error("a key of the white list is fresh twice")
	}
	b = openBloom(t, p, seen.BloomOptions{})
	if got := r.commit(t, b, keys); got[0] {
		t.Error("a key that was committed is on the white list after a restart")
	}
	if err := newBloom(t, seen.BloomOptions{}).Allow(keys); err == nil {
		t.Error("a white list in memory is taken")
	}
}

func TestBloomErrors(t *testing.T) {
	for _, o := range []seen.BloomOptions{
		{Capacity: -1}, {ErrorRate: 2}, {Mapped: true}, {Capacity: 1 << 50},
	} {
		if _, err := seen.NewBloom(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	p := place(t)
	if _, err := seen.OpenBloom(p, seen.BloomOptions{Mapped: true}); err == nil {
		t.Error("a mapped filter in a memory file system is taken")
	}
}

// TestBloomDamaged: a snapshot with a flipped bit or a missing end is refused
// by name; with its file removed the set opens.
func TestBloomDamaged(t *testing.T) {
	dir := t.TempDir()
	p := seen.Place{Store: kv.NewMemory(), Dir: dir, SnapshotKeys: 1}
	r := &records{Memory: p.Store.(*kv.Memory)}
	b := openBloom(t, p, seen.BloomOptions{Capacity: 1000})
	r.commit(t, b, seentest.Keys(0, 1000))
	if err := b.Maintain(t.Context(), seentest.Now); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "bloom-0.filter")
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range []func([]byte) []byte{
		func(p []byte) []byte { p[17] ^= 1; return p },
		func(p []byte) []byte { p[4096] ^= 1; return p },
		func(p []byte) []byte { p[len(p)-1] ^= 1; return p },
		func(p []byte) []byte { return p[:len(p)-64] },
		func(p []byte) []byte { return p[:100] },
		func(p []byte) []byte { return nil },
	} {
		if err := os.WriteFile(name, damage(append([]byte(nil), good...)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := seen.OpenBloom(p, seen.BloomOptions{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("a damaged snapshot: %v", err)
		}
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	openBloom(t, p, seen.BloomOptions{})
}

// TestBloomCrash: after a crash at any write, of store or snapshot, every
// synced key is known.
func TestBloomCrash(t *testing.T) {
	const steps, per = 36, 40
	at := func(w crashtest.World) seen.Place {
		return seen.Place{Store: w, Prefix: []byte("seen/"), Dir: "files", FS: w.FS, SnapshotKeys: 300}
	}
	o := seen.BloomOptions{Capacity: 800, ErrorRate: 1e-6}
	crashtest.Crash(t, crashtest.Scenario{
		Run: func(t *testing.T, w crashtest.World, acked func(int)) {
			b := openBloom(t, at(w), o)
			for n := 1; n <= steps; n++ {
				keys := seentest.Keys((n-1)*per, n*per)
				seentest.Add(t, b, keys)
				var batch kv.Batch
				batch.Set([]byte{'n', byte(n)}, make([]byte, 1000))
				b.Stage(&batch, seentest.Now, keys)
				d := kv.Durability(n%3 == 0)
				if err := w.Apply(&batch, d); err != nil {
					t.Fatal(err)
				}
				if d == kv.Sync {
					acked(n)
				}
				if err := b.Maintain(t.Context(), seentest.Now); err != nil {
					t.Fatal(err)
				}
			}
		},
		Check: func(t *testing.T, w crashtest.World, acked int) {
			b := openBloom(t, at(w), o)
			if n := seentest.Count(seentest.Contains(t, b, seentest.Keys(0, acked*per))); n != acked*per {
				t.Errorf("%d of %d synced keys are known", n, acked*per)
			}
			stored := 0
			w.Scan([]byte("n"), []byte("o"), func(_, _ []byte) error { stored++; return nil })
			lost := seentest.Keys(stored*per, steps*per)
			if n := seentest.Count(seentest.Contains(t, b, lost)); n > 0 {
				t.Errorf("%d keys are known whose batches were lost", n)
			}
		},
	})
}
