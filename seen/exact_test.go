package seen_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"octopus"
	"octopus/kv"
	"octopus/kv/pebblekv"
	"octopus/kv/pebblekv/crashtest"
	"octopus/seen"
	"octopus/seen/seentest"
)

func TestMemory(t *testing.T) {
	seentest.Run(t, seentest.Promises{}, func(t *testing.T) seen.Set { return seen.NewMemory() })
}

func TestExact(t *testing.T) {
	seentest.Run(t, seentest.Promises{}, func(t *testing.T) seen.Set { return seen.NewExact() })
}

func openExact(t testing.TB, s kv.Store, o seen.ExactOptions) *seen.Exact {
	t.Helper()
	e, err := seen.OpenExact(s, []byte("seen/"), o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestExactStaged(t *testing.T) {
	for _, fold := range []int{1, 7, 1000} {
		t.Run(fmt.Sprint("fold=", fold), func(t *testing.T) {
			seentest.RunStager(t, seentest.Promises{}, func(t *testing.T, s kv.Store) seen.Stager {
				return openExact(t, s, seen.ExactOptions{FoldRecords: fold})
			})
		})
	}
}

// TestExactFold: folding leaves few values in the store, and every key.
func TestExactFold(t *testing.T) {
	s := kv.NewMemory()
	e := openExact(t, s, seen.ExactOptions{FoldRecords: 100})
	var late kv.Batch // staged early, committed after a fold
	seentest.Add(t, e, seentest.Keys(900_000, 900_010))
	e.Stage(&late, seentest.Now, seentest.Keys(900_000, 900_010))
	for i := range 1000 {
		keys := seentest.Keys(i*3, i*3+3)
		seentest.Add(t, e, keys)
		var b kv.Batch
		e.Stage(&b, seentest.Now, keys)
		if err := s.Apply(&b, kv.NoSync); err != nil {
			t.Fatal(err)
		}
		if err := e.Maintain(t.Context(), seentest.Now); err != nil {
			t.Fatal(err)
		}
		if i == 500 {
			if err := s.Apply(&late, kv.NoSync); err != nil {
				t.Fatal(err)
			}
		}
	}
	values := 0
	s.Scan([]byte("seen/"), []byte("seen0"), func(_, _ []byte) error { values++; return nil })
	if values > 120 {
		t.Errorf("%d values in the store after folding every 100 records", values)
	}
	e = openExact(t, s, seen.ExactOptions{})
	if e.Len() != 3010 {
		t.Errorf("%d keys after reopening, want 3010", e.Len())
	}
	if n := seentest.Count(seentest.Contains(t, e, seentest.Keys(900_000, 900_010))); n != 10 {
		t.Errorf("%d of 10 keys of a batch that committed late survive", n)
	}
}

func TestExactDamaged(t *testing.T) {
	for _, c := range []struct{ key, value string }{
		{"seen/n", "short"}, {"seen/lx", "12345678"}, {"seen/s12345678", "123"},
	} {
		s := kv.NewMemory()
		var b kv.Batch
		b.Set([]byte(c.key), []byte(c.value))
		s.Apply(&b, kv.NoSync)
		if _, err := seen.OpenExact(s, []byte("seen/"), seen.ExactOptions{}); err == nil {
			t.Errorf("%q = %q is taken", c.key, c.value)
		}
	}
}

// TestExactCrash: after a crash anywhere, folding included, every synced key is
// known, and none whose batch was lost.
func TestExactCrash(t *testing.T) {
	const steps, per = 70, 40
	crashtest.Crash(t, crashtest.Scenario{
		MemTableBytes: 256 << 10,
		Run: func(t *testing.T, s crashtest.World, acked func(int)) {
			e := openExact(t, s, seen.ExactOptions{FoldRecords: 10})
			for n := 1; n <= steps; n++ {
				keys := seentest.Keys((n-1)*per, n*per)
				seentest.Add(t, e, keys)
				var b kv.Batch
				b.Set([]byte{'n', byte(n)}, make([]byte, 2000))
				e.Stage(&b, seentest.Now, keys)
				d := kv.Durability(n%3 == 0)
				if err := s.Apply(&b, d); err != nil {
					t.Fatal(err)
				}
				if d == kv.Sync {
					acked(n)
				}
				if err := e.Maintain(t.Context(), seentest.Now); err != nil {
					t.Fatal(err)
				}
			}
		},
		Check: func(t *testing.T, s crashtest.World, acked int) {
			e := openExact(t, s, seen.ExactOptions{})
			stored := 0
			s.Scan([]byte("n"), []byte("o"), func(_, _ []byte) error { stored++; return nil })
			if stored < acked {
				t.Errorf("%d batches, %d were synced", stored, acked)
			}
			if n := seentest.Count(seentest.Contains(t, e, seentest.Keys(0, stored*per))); n != stored*per || e.Len() != int64(n) {
				t.Errorf("%d keys known, %d in the set, want %d of the batches that are there", n, e.Len(), stored*per)
			}
		},
	})
}

func TestExactMemory(t *testing.T) {
	e := seen.NewExact()
	worst, sum, samples := 0.0, 0.0, 0.0
	for at := 0; at < 300_000; at += 1000 {
		seentest.Add(t, e, seentest.Keys(at, at+1000))
		if at >= 100_000 {
			per := float64(e.MemoryBytes()) / float64(at+1000)
			worst, sum, samples = max(worst, per), sum+per, samples+1
		}
	}
	t.Logf("bytes per key: mean %.1f, worst %.1f", sum/samples, worst)
	if worst > 12.5 || sum/samples > 11 {
		t.Errorf("bytes per key: mean %.1f, worst %.1f", sum/samples, worst)
	}
}

// stream is a sequence of n keys of which about half repeat an earlier one.
func stream(n int) []octopus.Key {
	keys := make([]octopus.Key, n)
	x := uint64(1)
	fresh := 0
	for i := range keys {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		if i%2 == 0 {
			keys[i] = seentest.Key(fresh)
			fresh++
		} else {
			keys[i] = seentest.Key(int(x % uint64(fresh)))
		}
	}
	return keys
}

// BenchmarkExact adds a stream with 50 % repeats in batches of 1000, beside
// Go's map of 64-bit fingerprints. -benchtime 40000000x makes 20 M keys of it.
// CPU is the thread's, so that other work on the machine does not count; the
// worst batch is the one with the most CPU.
func BenchmarkExact(b *testing.B) {
	b.Run("exact", func(b *testing.B) {
		e := seen.NewExact()
		n, mem := measure(b, func(part []octopus.Key, fresh []bool) {
			if err := e.Add(context.Background(), seentest.Now, part, fresh); err != nil {
				b.Fatal(err)
			}
		})
		b.ReportMetric(mem/float64(n), "B/key")
		runtime.KeepAlive(e)
	})
	b.Run("gomap", func(b *testing.B) {
		set := map[uint64]struct{}{}
		n, mem := measure(b, func(part []octopus.Key, fresh []bool) {
			for i, k := range part {
				f := binary.BigEndian.Uint64(k[8:])
				_, known := set[f]
				fresh[i] = !known
				set[f] = struct{}{}
			}
		})
		b.ReportMetric(mem/float64(n), "B/key")
		runtime.KeepAlive(set)
	})
}

// measure feeds a stream of b.N keys to add. It returns the number of distinct
// keys and the heap that came with them, the mean over the second half.
func measure(b *testing.B, add func([]octopus.Key, []bool)) (distinct int, heap float64) {
	const batch = 1000
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	keys, fresh := stream(b.N), make([]bool, batch)
	before := liveHeap()
	var worst, total, samples float64
	b.ResetTimer()
	for at := 0; at < len(keys); at += batch {
		part := keys[at:min(at+batch, len(keys))]
		start := threadCPU()
		add(part, fresh[:len(part)])
		took := threadCPU() - start
		worst, total = max(worst, took), total+took
		if batches := len(keys) / batch; batches >= 20 && at >= len(keys)/2 && (at/batch)%(batches/10) == 0 {
			b.StopTimer()
			heap += (liveHeap() - before) / float64(at/2) * float64((len(keys)+1)/2)
			samples++
			b.StartTimer()
		}
	}
	runtime.KeepAlive(keys)
	b.ReportMetric(worst*1e3, "worst-cpu-ms")
	b.ReportMetric(total*1e9/float64(b.N), "cpu-ns/op")
	return (len(keys) + 1) / 2, heap / max(samples, 1)
}

func liveHeap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// threadCPU returns the seconds of CPU this thread has used.
func threadCPU() float64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		panic(err)
	}
	return float64(ts.Sec) + float64(ts.Nsec)/1e9
}

// BenchmarkExactOpen opens a set of 10 M keys (with -short 1 M) from Pebble.
func BenchmarkExactOpen(b *testing.B) {
	n := 10_000_000
	if testing.Short() {
		n /= 10
	}
	s, err := pebblekv.Open(b.TempDir(), pebblekv.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	e := openExact(b, s, seen.ExactOptions{FoldRecords: 100})
	for at := 0; at < n; at += 1000 {
		keys := seentest.Keys(at, at+1000)
		seentest.Add(b, e, keys)
		var batch kv.Batch
		e.Stage(&batch, seentest.Now, keys)
		if err := s.Apply(&batch, kv.NoSync); err != nil {
			b.Fatal(err)
		}
		if err := e.Maintain(b.Context(), seentest.Now); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	for range b.N {
		if e := openExact(b, s, seen.ExactOptions{}); e.Len() != int64(n) {
			b.Fatalf("%d keys, want %d", e.Len(), n)
		}
	}
	b.ReportMetric(float64(s.DiskUsage())/float64(n), "disk-B/key")
}
