package main

import (
	"context"
	"encoding/binary"
	"os"
	"runtime"
	"time"

	"github.com/cockroachdb/pebble/v2"
	filters "github.com/cockroachdb/pebble/v2/bloom"

	"octopus"
	"octopus/kv"
	"octopus/kv/pebblekv"
	"octopus/seen"
)

// stream calls visit with batches of n offers: every second one repeats a key
// drawn from those before.
func stream(n int, visit func(keys []octopus.Key) error) error {
	rng, keys, distinct := newSource(3), make([]octopus.Key, part), uint64(0)
	for range n / part {
		for i := range keys {
			number := distinct
			if i%2 == 1 {
				number = rng.Uint64() % distinct
			} else {
				distinct++
			}
			keys[i] = numbered(number)
		}
		if err := visit(keys); err != nil {
			return err
		}
	}
	return nil
}

// numbered returns the key of a number: spread like MD5's.
func numbered(n uint64) (k octopus.Key) {
	for i := range 2 {
		x := n*2 + uint64(i) + 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		binary.LittleEndian.PutUint64(k[8*i:], x^x>>31)
	}
	return k
}

// exact measures immediate answers in memory. Both grow in steps, so memory is
// the mean over the second half of the stream.
func (b *bench) exact() error {
	n := b.size(40_000_000)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	measure := func(add func(keys []octopus.Key, fresh []bool) error) (figures, error) {
		fresh, m, before := make([]bool, part), threadMeter(), heap()
		done, got, mem, samples := 0, 0, 0.0, 0.0
		err := stream(n, func(keys []octopus.Key) error {
			m.start()
			err := add(keys, fresh)
			m.stop()
			done, got = done+part, got+trues(fresh)
			if step := n / 20 / part * part; done > n/2 && step > 0 && done%step == 0 {
				mem, samples = mem+(heap()-before)/float64(done/2), samples+1
			}
			return err
		})
		if err == nil && got != n/2 {
			err = errWrong
		}
		return figures{"offers": n, "cpu_ns": m.ns(n), "bytes_per_key": mem / max(samples, 1), "worst_batch_cpu_ms": m.worst * 1e3}, err
	}
	set := seen.NewExact()
	f, err := measure(func(keys []octopus.Key, fresh []bool) error {
		return set.Add(context.Background(), time.Time{}, keys, fresh)
	})
	if err != nil {
		return err
	}
	say("exact", "octopus", f)
	runtime.KeepAlive(set)
	set = nil
	theirs := map[uint64]struct{}{}
	g, err := measure(func(keys []octopus.Key, fresh []bool) error {
		for i := range keys {
			fp := binary.BigEndian.Uint64(keys[i][8:])
			_, known := theirs[fp]
			fresh[i] = !known
			theirs[fp] = struct{}{}
		}
		return nil
	})
	if err != nil {
		return err
	}
	g["octopus_faster"] = g["cpu_ns"].(float64) / f["cpu_ns"].(float64)
	g["octopus_memory"] = f["bytes_per_key"].(float64) / g["bytes_per_key"].(float64)
	say("exact", "map[uint64]struct{}", g)
	runtime.KeepAlive(theirs)
	return nil
}

// sieve measures late answers on disk, beside a Pebble that is asked and told
// key by key: batches of 1,000 without sync, table filters, 8 MiB memtables, a
// cache of 64 MiB. CPU is the whole process', compactions included.
func (b *bench) sieve() error {
	n := b.size(20_000_000)
	ours, err := sieveCPU(n)
	if err != nil {
		return err
	}
	theirs, disk, err := pebbleCPU(n)
	if err != nil {
		return err
	}
	say("sieve", "octopus", ours)
	say("sieve", "pebble", figures{"offers": n, "cpu_ns": theirs, "disk_bytes_per_key": disk, "octopus_faster": theirs / ours["cpu_ns"].(float64)})
	return nil
}

func sieveCPU(n int) (figures, error) {
	dir, err := os.MkdirTemp("", "sieve")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	store, err := pebblekv.Open(dir+"/kv", pebblekv.Options{})
	if err != nil {
		return nil, err
	}
	defer store.Close()
	s, err := seen.OpenSieve(seen.Place{Store: store, Prefix: []byte("sieve/"), Dir: dir}, seen.SieveOptions{MemoryBytes: 256 << 20})
	if err != nil {
		return nil, err
	}
	fresh, payloads, m, top := 0, make([][]byte, part), processMeter(), 0.0
	count := func(keys []octopus.Key, _ [][]byte) error { fresh += len(keys); return nil }
	flush := func() error {
		err := s.Flush(context.Background(), count)
		var mem runtime.MemStats
		runtime.ReadMemStats(&mem)
		top = max(top, float64(mem.HeapSys-mem.HeapReleased))
		return err
	}
	err = stream(n, func(keys []octopus.Key) error {
		m.start()
		defer m.stop()
		var batch kv.Batch
		if err := s.Offer(&batch, keys, payloads); err != nil {
			return err
		}
		if err := store.Apply(&batch, kv.NoSync); err != nil {
			return err
		}
		if s.Waiting() < 4_000_000 {
			return nil
		}
		return flush()
	})
	m.start()
	if err == nil {
		err = flush()
	}
	m.stop()
	if err == nil && fresh != n/2 {
		err = errWrong
	}
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(dir + "/sieve.sorted")
	if err != nil {
		return nil, err
	}
	return figures{"offers": n, "cpu_ns": m.ns(n), "disk_bytes_per_key": float64(info.Size()) / float64(n/2), "heap_MB": top / 1e6}, nil
}

func pebbleCPU(n int) (ns, disk float64, err error) {
	dir, err := os.MkdirTemp("", "sieve-pebble")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	o := &pebble.Options{MemTableSize: 8 << 20, CacheSize: 64 << 20, Logger: quiet{}}
	o.Levels[0].FilterPolicy = filters.FilterPolicy(10)
	db, err := pebble.Open(dir, o)
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	m := processMeter()
	err = stream(n, func(keys []octopus.Key) error {
		m.start()
		defer m.stop()
		batch := db.NewBatch()
		for i := range keys {
			if _, closer, err := db.Get(keys[i][:]); err == nil {
				closer.Close()
			} else if err := batch.Set(keys[i][:], nil, nil); err != nil {
				return err
			}
		}
		return batch.Commit(pebble.NoSync)
	})
	return m.ns(n), float64(db.Metrics().DiskSpaceUsage()) / float64(n/2), err
}

// quiet is a logger that says nothing.
type quiet struct{}

func (quiet) Infof(string, ...any)      {}
func (quiet) Errorf(string, ...any)     {}
func (quiet) Fatalf(f string, a ...any) { panic("pebble: " + f) }
