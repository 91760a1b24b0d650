package seen_test

import (
	"context"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"octopus"
	"octopus/kv"
	"octopus/kv/pebblekv"
	"octopus/seen"
	"octopus/seen/seentest"
)

// part is the number of keys of one call in the benchmarks.
const part = 1000

// randomKeys fills keys with keys as MD5 makes them, without its cost.
func randomKeys(keys []octopus.Key, rng *rand.ChaCha8) {
	for i := range keys {
		binary.LittleEndian.PutUint64(keys[i][:8], rng.Uint64())
		binary.LittleEndian.PutUint64(keys[i][8:], rng.Uint64())
	}
}

// BenchmarkBloomAdd adds b.N new keys to a filter made for them at 32 bits a
// key. -benchtime 50000000x is the 200 MB filter.
func BenchmarkBloomAdd(b *testing.B) {
	s := newBloom(b, seen.BloomOptions{Capacity: int64(max(b.N, 1000)) * 11 / 10, BitsPerKey: 32})
	rng := rand.NewChaCha8([32]byte{1})
	keys, answers := make([]octopus.Key, part), make([]bool, part)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b.ResetTimer()
	start, making := threadCPU(), 0.0
	for at := 0; at < b.N; at += part {
		before := threadCPU()
		randomKeys(keys, rng)
		making += threadCPU() - before
		if err := s.Add(context.Background(), seentest.Now, keys, answers); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((threadCPU()-start-making)*1e9/float64(b.N), "cpu-ns/key")
}

// BenchmarkBloomError asks b.N absent keys of a filter with 10 M keys (1 M with
// -short), and reports the error beside the layout's formula.
func BenchmarkBloomError(b *testing.B) {
	n := 10_000_000
	if testing.Short() {
		n = 1_000_000
	}
	for _, bits := range []float64{16, 32} {
		for _, twoLines := range []bool{false, true} {
			b.Run(fmt.Sprintf("bits=%.0f/twolines=%v", bits, twoLines), func(b *testing.B) {
				f := seen.NewTestFilter(twoLines, int64(n), bits)
				for i := range n {
					f.Add(seen.Mix(uint64(i)))
				}
				wrong := 0
				b.ResetTimer()
				for i := range b.N {
					if f.Has(seen.Mix(uint64(1<<40 + i))) {
						wrong++
					}
				}
				b.ReportMetric(float64(wrong)/float64(b.N), "error")
				b.ReportMetric(seen.Formula(twoLines, bits), "formula")
			})
		}
	}
}

// BenchmarkBloomTexts adds URL texts, their MD5 included. 50 M of them in less
// than 30 s on one core is 600 ns each.
func BenchmarkBloomTexts(b *testing.B) {
	s := newBloom(b, seen.BloomOptions{Capacity: int64(max(b.N, 1000)) * 11 / 10, BitsPerKey: 32})
	keys, answers := make([]octopus.Key, part), make([]bool, part)
	text := []byte("https://www.example.com/section/of/the/site/article-")
	prefix := len(text)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b.ResetTimer()
	start := threadCPU()
	for at := 0; at < b.N; at += part {
		for i := range keys {
			text = fmt.Appendf(text[:prefix], "%09d.html", at+i)
			keys[i] = md5.Sum(text)
		}
		if err := s.Add(context.Background(), seentest.Now, keys, answers); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((threadCPU()-start)*1e9/float64(b.N), "cpu-ns/key")
}

// BenchmarkWindow adds b.N keys over three daily windows at 1e-4, a third to
// each, and measures the error of the union. -benchtime 600000000x is the full
// size: 1.6 GB.
func BenchmarkWindow(b *testing.B) {
	each := max(b.N/3, part)
	w := newWindow(b, seen.WindowOptions{Windows: 3, Capacity: int64(each) + part, ErrorRate: 1e-4})
	rng := rand.NewChaCha8([32]byte{2})
	keys, answers := make([]octopus.Key, part), make([]bool, part)
	b.ResetTimer()
	for day := range 3 {
		now := seentest.Now.AddDate(0, 0, day)
		if err := w.Believe(now); err != nil {
			b.Fatal(err)
		}
		for at := 0; at < each; at += part {
			randomKeys(keys, rng)
			if err := w.Add(context.Background(), now, keys, answers); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.StopTimer()
	wrong, asked := 0, 1_000_000
	for range asked / part {
		randomKeys(keys, rng)
		if err := w.Contains(context.Background(), seentest.Now.AddDate(0, 0, 2), keys, answers); err != nil {
			b.Fatal(err)
		}
		wrong += seentest.Count(answers)
	}
	bytes, estimate := int64(0), 1.0
	for _, f := range w.Fill() {
		bytes += f.Bytes
		estimate *= 1 - f.ErrorRate
	}
	b.ReportMetric(float64(wrong)/float64(asked), "error")
	b.ReportMetric(1-estimate, "error-by-bits")
	b.ReportMetric(float64(bytes)/1e6, "MB")
}

// BenchmarkSieve finds the fresh of b.N keys, half of them repeats, with late
// answers, beside a Pebble that is asked and told key by key (batches of 1000,
// no sync, table filters, 8 MiB memtables).
func BenchmarkSieve(b *testing.B) {
	b.Run("sieve", func(b *testing.B) {
		dir := b.TempDir()
		store, err := pebblekv.Open(dir, pebblekv.Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer store.Close()
		s := openSieve(b, seen.Place{Store: store, Dir: dir}, seen.SieveOptions{MemoryBytes: 256 << 20})
		keys, payloads := stream(b.N), make([][]byte, part)
		fresh := 0
		count := func(keys []octopus.Key, _ [][]byte) error { fresh += len(keys); return nil }
		b.ResetTimer()
		for at := 0; at < len(keys); at += part {
			batch := keys[at:min(at+part, len(keys))]
			var kb kv.Batch
			if err := s.Offer(&kb, batch, payloads[:len(batch)]); err != nil {
				b.Fatal(err)
			}
			if err := store.Apply(&kb, kv.NoSync); err != nil {
				b.Fatal(err)
			}
			if s.Waiting() >= 4_000_000 {
				if err := s.Flush(context.Background(), count); err != nil {
					b.Fatal(err)
				}
			}
		}
		if err := s.Flush(context.Background(), count); err != nil {
			b.Fatal(err)
		}
		if want := (len(keys) + 1) / 2; fresh != want {
			b.Fatalf("%d fresh keys, want %d", fresh, want)
		}
	})
	b.Run("pebble", func(b *testing.B) {
		o := &pebble.Options{MemTableSize: 8 << 20, CacheSize: 64 << 20, Logger: quiet{}}
		o.Levels[0].FilterPolicy = bloom.FilterPolicy(10)
		db, err := pebble.Open(b.TempDir(), o)
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		keys := stream(b.N)
		b.ResetTimer()
		for at := 0; at < len(keys); at += part {
			batch := db.NewBatch()
			for _, k := range keys[at:min(at+part, len(keys))] {
				if _, closer, err := db.Get(k[:]); err == nil {
					closer.Close()
				} else if err := batch.Set(k[:], nil, nil); err != nil {
					b.Fatal(err)
				}
			}
			if err := batch.Commit(pebble.NoSync); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// quiet is a logger that says nothing.
type quiet struct{}

func (quiet) Infof(string, ...any)      {}
func (quiet) Errorf(string, ...any)     {}
func (quiet) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }

// BenchmarkExpiring adds a stream with 50 % repeats.
func BenchmarkExpiring(b *testing.B) {
	e := newExpiring(b, time.Hour)
	keys, answers := stream(b.N), make([]bool, part)
	b.ResetTimer()
	for at := 0; at < len(keys); at += part {
		batch := keys[at:min(at+part, len(keys))]
		if err := e.Add(context.Background(), seentest.Now, batch, answers[:len(batch)]); err != nil {
			b.Fatal(err)
		}
	}
}
