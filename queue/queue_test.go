package queue_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"octopus/kv"
	"octopus/kv/pebblekv"
	"octopus/kv/pebblekv/crashtest"
	"octopus/queue"
	"octopus/queue/queuetest"
)

func open(t testing.TB, s kv.Store, capacity int64) *queue.Queue {
	t.Helper()
	q, err := queue.Open(s, []byte("q/"), queue.Options{Capacity: capacity})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestQueue(t *testing.T) {
	for _, capacity := range []int64{0, 1000, 401} {
		t.Run(fmt.Sprint("capacity=", capacity), func(t *testing.T) {
			queuetest.Run(t, func(t *testing.T) (queuetest.Queue, func() queuetest.Queue) {
				s := kv.NewMemory()
				return open(t, s, capacity), func() queuetest.Queue { return open(t, s, capacity) }
			})
		})
	}
}

// TestRing fills and drains a small ring many times, reopening now and then,
// beside a slice.
func TestRing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, capacity := range []int64{1, 2, 7, 64, 100} {
		s := kv.NewMemory()
		q := open(t, s, capacity)
		var model []uint64
		n := uint64(0)
		for range 3000 {
			switch rng.IntN(5) {
			case 0, 1:
				want := rng.IntN(5) + 1
				var records [][]byte
				for range want {
					records = append(records, binary.BigEndian.AppendUint64(nil, n))
					n++
				}
				err := q.Push(records...)
				if int64(len(model)+want) > capacity {
					if !errors.Is(err, queue.ErrFull) {
						t.Fatalf("Push of %d to %d of %d: %v", want, len(model), capacity, err)
					}
					n -= uint64(want)
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				for i := range want {
					model = append(model, n-uint64(want-i))
				}
			case 2, 3:
				items, _, err := q.Peek(0, rng.IntN(40)+1)
				if err != nil {
					t.Fatal(err)
				}
				for i, it := range items {
					if binary.BigEndian.Uint64(it.Data) != model[i] {
						t.Fatalf("capacity %d: item %d is %x, want %d", capacity, i, it.Data, model[i])
					}
				}
				if len(items) > 0 {
					if err := q.Ack(items[len(items)-1].Seq, kv.NoSync); err != nil {
						t.Fatal(err)
					}
					model = model[len(items):]
				}
			default:
				q = open(t, s, capacity)
			}
			if q.Len() != int64(len(model)) {
				t.Fatalf("capacity %d: Len %d, want %d", capacity, q.Len(), len(model))
			}
		}
		left := 0
		for len(model) > 0 {
			items, _, err := q.Peek(0, 1)
			if err != nil || len(items) != 1 {
				t.Fatal(items, err)
			}
			q.Ack(items[0].Seq, kv.NoSync)
			model = model[1:]
		}
		s.Scan([]byte("q/r"), []byte("q/s"), func(_, _ []byte) error { left++; return nil })
		if left > 0 {
			t.Errorf("capacity %d: %d records left in the store of a drained ring", capacity, left)
		}
	}
}

// TestStagedOrder: batches that are staged in one order and committed in
// another are handed out in the order of staging, none before those ahead of
// it, also after a restart in between.
func TestStagedOrder(t *testing.T) {
	for _, capacity := range []int64{0, 10} {
		s := kv.NewMemory()
		q := open(t, s, capacity)
		var a, b, c kv.Batch
		for i, batch := range []*kv.Batch{&a, &b, &c} {
			if err := q.Append(batch, []byte{byte(i)}); err != nil {
				t.Fatal(err)
			}
		}
		commit := func(b *kv.Batch) {
			if err := s.Apply(b, kv.NoSync); err != nil {
				t.Fatal(err)
			}
		}
		commit(&c)
		if q.Len() != 0 {
			t.Errorf("the third batch is handed out before the others: Len %d", q.Len())
		}
		commit(&a)
		if q.Len() != 1 {
			t.Errorf("after the first and third batch Len is %d, want 1", q.Len())
		}
		reopened := open(t, s, capacity)
		items, _, err := reopened.Peek(0, 9)
		if err != nil || len(items) != 2 || items[0].Seq != 0 || items[1].Seq != 2 {
			t.Errorf("after a restart: %v, %v; want the numbers 0 and 2", items, err)
		}
		if st := reopened.Inspect(); st.Tail != 3 {
			t.Errorf("after a restart the tail is %d, want 3", st.Tail)
		}
		commit(&b)
		if q.Len() != 3 {
			t.Errorf("after all batches Len is %d, want 3", q.Len())
		}
	}
}

func TestBadInput(t *testing.T) {
	s := kv.NewMemory()
	if _, err := queue.Open(s, nil, queue.Options{Capacity: -1}); err == nil {
		t.Error("a negative capacity is taken")
	}
	q := open(t, s, 0)
	if err := q.Push([]byte("a")); err != nil {
		t.Fatal(err)
	}
	if _, err := queue.Open(s, []byte("q/"), queue.Options{Capacity: 5}); err == nil {
		t.Error("another capacity is taken while a record waits")
	}
	for _, c := range []struct{ key, value string }{
		{"q/h", "short"}, {"q/t", "\xff2345678"}, {"q/r\x00\x00\x00\x00\x00\x00\x00\x01", "\x05lap"}, {"q/rx", ""},
	} {
		bad := kv.NewMemory()
		var b kv.Batch
		b.Set([]byte("q/t"), binary.BigEndian.AppendUint64(nil, 2))
		b.Set([]byte(c.key), []byte(c.value))
		bad.Apply(&b, kv.NoSync)
		q, err := queue.Open(bad, []byte("q/"), queue.Options{})
		if err == nil {
			_, err = q.Next(t.Context(), 9)
		}
		if c.key != "q/rx" && err == nil {
			t.Errorf("%q = %q is taken", c.key, c.value)
		}
	}
}

func TestPeekGoesOn(t *testing.T) {
	q := open(t, kv.NewMemory(), 0)
	for i := range 10 {
		if err := q.Push([]byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	at, got := int64(3), ""
	for range 5 {
		items, next, err := q.Peek(at, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range items {
			got += fmt.Sprint(it.Data[0])
		}
		at = next
	}
	if got != "3456789" || at != 10 {
		t.Errorf("Peek from 3 on gave %s and ends at %d", got, at)
	}
}

// TestCrash: after a crash anywhere, no record that was synced is lost, none
// that was acknowledged with sync comes back, and the order is kept.
func TestCrash(t *testing.T) {
	for _, capacity := range []int64{0, 90} {
		t.Run(fmt.Sprint("capacity=", capacity), func(t *testing.T) {
			// What was pushed and acknowledged when step n was relied on.
			type state struct{ pushed, acked int }
			states := []state{{}}
			total := 0
			crashtest.Crash(t, crashtest.Scenario{
				Run: func(t *testing.T, s crashtest.World, acked func(int)) {
					q := open(t, s, capacity)
					now := state{}
					for n := 1; n <= 150; n++ {
						if now.pushed-now.acked < 50 {
							var all [][]byte
							for range n%9 + 1 {
								all = append(all, fmt.Appendf(nil, "%d %0200d", now.pushed, 0))
								now.pushed++
							}
							total = now.pushed
							if err := q.Push(all...); err != nil {
								t.Fatal(err)
							}
						} else {
							items, err := q.Next(context.Background(), 40)
							if err != nil {
								t.Fatal(err)
							}
							last := items[len(items)-1].Seq
							if err := q.Ack(last, kv.Sync); err != nil {
								t.Fatal(err)
							}
							now.acked = int(last) + 1
						}
						states = append(states, now)
						acked(n)
					}
				},
				Check: func(t *testing.T, s crashtest.World, acked int) {
					q := open(t, s, capacity)
					was := states[acked]
					st := q.Inspect()
					if int(st.Committed) < was.pushed || int(st.Head) < was.acked || int(st.Tail) > total {
						t.Errorf("%+v after %+v", st, was)
					}
					items, _, err := q.Peek(0, 1000)
					if err != nil || int64(len(items)) != q.Len() {
						t.Errorf("%d items, Len %d, %v", len(items), q.Len(), err)
					}
					for i, it := range items {
						if want := fmt.Sprintf("%d %0200d", int(st.Head)+i, 0); string(it.Data) != want {
							t.Fatalf("item %d is %q", i, it.Data)
						}
					}
				},
			})
		})
	}
}

// TestDrainedDisk: what was drained leaves the disk.
func TestDrainedDisk(t *testing.T) {
	dir := t.TempDir()
	s, err := pebblekv.Open(dir, pebblekv.Options{MemTableBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	q := open(t, s, 0)
	n := 100_000
	batch := batchOf(1000)
	for range n / len(batch) {
		if err := q.Push(batch...); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	peak := s.Metrics().TableDiskBytes
	for got := 0; got < n; {
		items, err := q.Next(t.Context(), 1000)
		if err != nil {
			t.Fatal(err)
		}
		got += len(items)
		if err := q.Ack(items[len(items)-1].Seq, kv.NoSync); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Compact([]byte("q/"), []byte("q0")); err != nil {
		t.Fatal(err)
	}
	after := s.Metrics().TableDiskBytes
	logs := logsOf(t, dir)
	t.Logf("tables: %d bytes at the peak, %d after drain and compaction, and %d in logs", peak, after, logs)
	if after+logs > peak/20 {
		t.Errorf("%d bytes of %d stay in tables, and %d in logs", after, peak, logs)
	}
	if err := q.Push(batch...); err != nil { // the store goes on, in logs that were emptied
		t.Fatal(err)
	}
}

// logsOf adds up the logs of a store.
func logsOf(t *testing.T, dir string) (sum int64) {
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("logs %v, %v", logs, err)
	}
	for _, name := range logs {
		if info, err := os.Stat(name); err == nil { // Pebble deletes in the background
			sum += info.Size()
		}
	}
	return sum
}

func batchOf(n int) [][]byte {
	rng := rand.New(rand.NewPCG(5, 6))
	batch := make([][]byte, n)
	for i := range batch {
		batch[i] = make([]byte, 150)
		for j := range batch[i] {
			batch[i][j] = byte(rng.Uint32())
		}
	}
	return batch
}

// BenchmarkQueue enqueues and dequeues 150-byte records in batches of 1000,
// with an fsync per batch. The figure is per record.
func BenchmarkQueue(b *testing.B) {
	for _, mode := range []struct {
		name string
		d    kv.Durability
	}{{"fsync", kv.Sync}, {"nosync", kv.NoSync}} {
		s, err := pebblekv.Open(b.TempDir(), pebblekv.Options{})
		if err != nil {
			b.Fatal(err)
		}
		q := open(b, s, 0)
		batch := batchOf(1000)
		pushed := 0
		b.Run("enqueue/"+mode.name, func(b *testing.B) {
			for i := 0; i < b.N; i += len(batch) {
				var kb kv.Batch
				if err := q.Append(&kb, batch...); err != nil {
					b.Fatal(err)
				}
				if err := s.Apply(&kb, mode.d); err != nil {
					b.Fatal(err)
				}
				pushed += len(batch)
			}
		})
		b.Run("dequeue/"+mode.name, func(b *testing.B) {
			for i := 0; i < b.N; i += len(batch) {
				if q.Len() == 0 || pushed == 0 {
					b.StopTimer()
					for range 500 {
						if err := q.Push(batch...); err != nil {
							b.Fatal(err)
						}
					}
					b.StartTimer()
				}
				items, err := q.Next(context.Background(), len(batch))
				if err != nil {
					b.Fatal(err)
				}
				if err := q.Ack(items[len(items)-1].Seq, mode.d); err != nil {
					b.Fatal(err)
				}
			}
		})
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// TestTrim: acknowledged records are deleted in steps, also those of before a
// restart, and none of them is handed out again.
func TestTrim(t *testing.T) {
	s := kv.NewMemory()
	q := open(t, s, 0)
	const n, step = 100_000, 999
	for from := 0; from < n; from += 1000 {
		var records [][]byte
		for i := range 1000 {
			records = append(records, binary.BigEndian.AppendUint32(nil, uint32(from+i)))
		}
		if err := q.Push(records...); err != nil {
			t.Fatal(err)
		}
	}
	for want := 0; want < n; {
		items, err := q.Next(t.Context(), step)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range items {
			if got := int(binary.BigEndian.Uint32(i.Data)); got != want {
				t.Fatalf("record %d came where %d was expected", got, want)
			}
			want++
		}
		if err := q.Ack(int64(want-1), kv.Sync); err != nil {
			t.Fatal(err)
		}
		if stored := stored(t, s); stored > n-want+16<<10+step {
			t.Fatalf("%d records are stored, %d wait", stored, n-want)
		}
		if want%(10*step) == 0 {
			q = open(t, s, 0)
		}
	}
	if n := stored(t, s); n != 0 {
		t.Errorf("%d records stay in the store of a drained queue", n)
	}
}

// stored counts the records in the store.
func stored(t *testing.T, s kv.Store) (n int) {
	err := s.Scan([]byte("q/r"), []byte("q/s"), func(_, _ []byte) error { n++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return n
}
