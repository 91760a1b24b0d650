package pebblekv_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"octopus/kv"
	"octopus/kv/pebblekv"
	"octopus/kv/pebblekv/crashtest"
)

// step stages batch n of the crash test: a counter, some keys, and the removal
// of others; the model does the same to a map.
func step(n int, b *kv.Batch, model map[string]string) {
	set := func(k, v string) {
		b.Set([]byte(k), []byte(v))
		model[k] = v
	}
	set("n", strconv.Itoa(n))
	for i := range n % 7 {
		set(fmt.Sprintf("k%02d", (n+i*5)%40), strings.Repeat(strconv.Itoa(n)+".", 50))
	}
	if n%3 == 0 {
		k := fmt.Sprintf("k%02d", n%40)
		b.Delete([]byte(k))
		delete(model, k)
	}
	if n%11 == 0 {
		lo, hi := fmt.Sprintf("k%02d", n%30), fmt.Sprintf("k%02d", n%30+4)
		b.DeleteRange([]byte(lo), []byte(hi))
		maps.DeleteFunc(model, func(k, _ string) bool { return k >= lo && k < hi })
	}
}

// TestCrash: after a crash at any write, the store holds the state after some
// batch, whole, and never an earlier one than the last that was synced.
func TestCrash(t *testing.T) {
	const steps = 300
	states := []map[string]string{{}}
	crashtest.Crash(t, crashtest.Scenario{
		Run: func(t *testing.T, s crashtest.World, acked func(int)) {
			for n := 1; n <= steps; n++ {
				var b kv.Batch
				model := maps.Clone(states[n-1])
				step(n, &b, model)
				states = append(states, model)
				d := kv.Durability(n%4 == 0)
				if err := s.Apply(&b, d); err != nil {
					t.Fatal(err)
				}
				if d == kv.Sync {
					acked(n)
				}
				if n%80 == 0 {
					if err := s.Store.(*pebblekv.Store).Compact(nil, []byte("z")); err != nil {
						t.Fatal(err)
					}
				}
			}
		},
		Check: func(t *testing.T, s crashtest.World, acked int) {
			got := map[string]string{}
			err := s.Scan(nil, nil, func(k, v []byte) error { got[string(k)] = string(v); return nil })
			if err != nil {
				t.Fatal(err)
			}
			n, _ := strconv.Atoi(got["n"])
			if n < acked {
				t.Errorf("batch %d was synced, the store is at %d", acked, n)
			}
			if n >= len(states) || !maps.Equal(got, states[n]) {
				t.Errorf("the store is at batch %d, but not as that batch left it", n)
			}
		},
	})
}

// TestDiskFull: where the log cannot be written, Apply says so, and so does
// every later one; what was synced before is there after reopening.
func TestDiskFull(t *testing.T) {
	mem := vfs.NewCrashableMem()
	full := errorfs.Toggle{Injector: errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileWrite || op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData {
			return syscall.ENOSPC
		}
		return nil
	})}
	s := open(t, "db", errorfs.Wrap(mem, &full))
	var b kv.Batch
	b.Set([]byte("a"), []byte("1"))
	if err := s.Apply(&b, kv.Sync); err != nil {
		t.Fatal(err)
	}
	full.On()
	for range 2 {
		b.OnCommit(func() { t.Error("OnCommit called after a failure") })
		b.Set([]byte("b"), []byte("2"))
		if err := s.Apply(&b, kv.Sync); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "db") {
			t.Errorf("Apply on a full disk: %v", err)
		}
	}
	full.Off()
	s.Close() // its error is the failure again
	s = open(t, "db", mem.CrashClone(vfs.CrashCloneCfg{}))
	defer s.Close()
	if v, err := s.Get([]byte("a")); err != nil || string(v) != "1" {
		t.Errorf("after reopening: %q, %v", v, err)
	}
}

// TestFlushFull: where only tables cannot be written, batches are refused until
// there is space, and taken again then.
func TestFlushFull(t *testing.T) {
	full := errorfs.Toggle{Injector: errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") {
			return syscall.ENOSPC
		}
		return nil
	})}
	s, err := pebblekv.Open("db", pebblekv.Options{FS: errorfs.Wrap(vfs.NewMem(), &full), MemTableBytes: 256 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	full.On()
	var b kv.Batch
	for i := range 100 {
		b.Set([]byte{byte(i)}, bytes.Repeat([]byte{1}, 1000))
	}
	for err = nil; err == nil; {
		err = s.Apply(&b, kv.NoSync)
	}
	if !errors.Is(err, pebblekv.ErrFull) {
		t.Errorf("Apply while tables cannot be written: %v, want ErrFull", err)
	}
	full.Off()
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(&b, kv.Sync); err != nil {
		t.Errorf("Apply once there is space: %v", err)
	}
}

// TestGroupCommit: commits that wait for the disk at once share its fsyncs. An
// fsync takes as long here as it takes the other writers to come to Apply.
func TestGroupCommit(t *testing.T) {
	const writers, each = 16, 50
	var syncs, started, ended atomic.Int64
	slow := errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData {
			syncs.Add(1)
			for range 10_000 {
				if waiting := started.Load() - ended.Load(); waiting >= min(writers, writers*each-ended.Load()) {
					break
				}
				runtime.Gosched()
			}
		}
		return nil
	})
	s := open(t, "db", errorfs.Wrap(vfs.NewMem(), slow))
	defer s.Close()
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				var b kv.Batch
				b.Set([]byte{byte(w), byte(i)}, nil)
				started.Add(1)
				if err := s.Apply(&b, kv.Sync); err != nil {
					t.Error(err)
				}
				ended.Add(1)
			}
		})
	}
	group.Wait()
	t.Logf("%d commits, %d syncs", writers*each, syncs.Load())
	if syncs.Load() > writers*each/2 {
		t.Errorf("%d commits needed %d syncs", writers*each, syncs.Load())
	}
}
