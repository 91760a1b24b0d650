package sink_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"octopus/kv"
	"octopus/sink"
	"octopus/sink/sinktest"
)

var errCrash = errors.New("crashed")

// world is a store and a file that crash together at the n-th operation that
// changes either. The store loses a suffix of what was not synced; the file
// keeps what was synced, and of the rest a piece, or zeros.
type world struct {
	mu      sync.Mutex
	crashAt int             // operations left; the crash comes at 0
	dead    context.Context // ends with the crash
	die     context.CancelFunc
	batches []*kv.Batch
	synced  int // batches that are safe
	file    []byte
	durable []byte // the file as of its last sync
}

// step counts an operation; it fails from the crash on.
func (w *world) step() error {
	w.crashAt--
	if w.crashAt < 0 {
		w.die()
		return errCrash
	}
	return nil
}

func newWorld(crashAt int) *world {
	w := &world{crashAt: crashAt}
	w.dead, w.die = context.WithCancel(context.Background())
	return w
}

// store is a kv.Memory whose batches the world remembers.
type store struct {
	*kv.Memory
	w *world
}

func (s store) Apply(b *kv.Batch, d kv.Durability) error {
	if err := s.w.apply(b, d); err != nil {
		return err
	}
	return s.Memory.Apply(b, d)
}

func (w *world) apply(b *kv.Batch, d kv.Durability) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.step(); err != nil {
		return err
	}
	var copied kv.Batch
	for _, op := range b.Ops() {
		switch op.Kind {
		case kv.OpSet:
			copied.Set(op.Key, op.Value)
		case kv.OpDelete:
			copied.Delete(op.Key)
		case kv.OpDeleteRange:
			copied.DeleteRange(op.Key, op.Value)
		}
	}
	w.batches = append(w.batches, &copied)
	if d == kv.Sync {
		w.synced = len(w.batches)
	}
	return nil
}

// crashed returns what the next process finds.
func (w *world) crashed(rng *rand.Rand, crashAt int) *world {
	kept := w.synced + rng.IntN(len(w.batches)-w.synced+1)
	next := newWorld(crashAt)
	next.batches, next.synced = slices.Clone(w.batches[:kept]), kept
	next.file = slices.Clone(w.durable)
	if more := len(w.file) - len(w.durable); more > 0 {
		tail := slices.Clone(w.file[len(w.durable):][:rng.IntN(more+1)])
		if rng.IntN(2) == 0 {
			clear(tail)
		}
		next.file = append(next.file, tail...)
	}
	next.durable = slices.Clone(next.file)
	return next
}

func (w *world) store() store {
	s := store{kv.NewMemory(), w}
	for _, b := range w.batches {
		s.Memory.Apply(b, kv.Sync)
	}
	return s
}

// file is the world's file, as sink.File.
type file struct {
	sink.File // nil: what is not overridden must not be called
	w         *world
}

func (f file) change(do func()) error {
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	if err := f.w.step(); err != nil {
		return err
	}
	do()
	return nil
}

func (f file) WriteAt(p []byte, at int64) (int, error) {
	return len(p), f.change(func() {
		if more := int(at) + len(p) - len(f.w.file); more > 0 {
			f.w.file = append(f.w.file, make([]byte, more)...)
		}
		copy(f.w.file[at:], p)
	})
}

func (f file) Truncate(size int64) error {
	return f.change(func() {
		f.w.file = f.w.file[:size]
		if int(size) < len(f.w.durable) {
			f.w.durable = f.w.durable[:size] // the worst: the cut is on disk at once
		}
	})
}

func (f file) Sync() error {
	return f.change(func() { f.w.durable = slices.Clone(f.w.file) })
}

func (f file) ReadAt(p []byte, at int64) (int, error) {
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	return copy(p, f.w.file[at:]), nil
}

func (f file) Close() error { return nil }

func (f file) Stat() (os.FileInfo, error) {
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	return info{size: int64(len(f.w.file))}, nil
}

type info struct {
	os.FileInfo
	size int64
}

func (i info) Size() int64       { return i.size }
func (i info) Mode() os.FileMode { return 0o644 }

// resumed is a JSONL over a file that is open.
type resumed struct {
	*sink.JSONL
	f sink.File
}

func (r resumed) Resume(state json.RawMessage) error { return r.ResumeFile(r.f, state) }

const crashRecords = 24

// crawl commits records until there are crashRecords of them, a few per batch,
// and delivers them. It goes on where the store says the last run came to.
func crawl(w *world) error {
	s := w.store()
	o, err := sink.Open(s, []byte("out/"), sink.Options{
		Batch: 5, Targets: []sink.Target{{Name: "file", Sink: resumed{sink.NewJSONL("out.jsonl"), file{w: w}}}},
		RetryMin: time.Microsecond, RetryMax: time.Microsecond,
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(w.dead)
	done := make(chan error, 1)
	go func() {
		err := o.Run(ctx)
		cancel(err)
		done <- err
	}()
	n := 0
	if v, err := s.Get([]byte("n")); err == nil {
		n = int(binary.BigEndian.Uint64(v))
	}
	for err == nil && n < crashRecords {
		var b kv.Batch
		part := sinktest.Records(n, min(n+1+n%3, crashRecords))
		for i := range part {
			if err := o.Append(&b, &part[i]); err != nil {
				return err
			}
		}
		n += len(part)
		b.Set([]byte("n"), binary.BigEndian.AppendUint64(nil, uint64(n)))
		err = s.Apply(&b, kv.Durability(n%2 == 0))
		if err == nil && n%5 == 0 {
			err = o.Flush(w.dead)
		}
	}
	if err == nil {
		err = o.Flush(w.dead)
	}
	cancel(nil)
	return errors.Join(err, <-done)
}

// TestCrashEverywhere crashes at every operation in turn, starts again, crashes
// once more, and lets the third run end: the file holds every record once, in
// order.
func TestCrashEverywhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	crashes := 0
	for at := 1; ; at++ {
		w := newWorld(at)
		err := crawl(w)
		finished := err == nil
		if !finished {
			crashes++
			w = w.crashed(rng, 1+rng.IntN(at+3))
			if crawl(w) != nil {
				crashes++
				w = w.crashed(rng, 1<<30)
				if err := crawl(w); err != nil {
					t.Fatalf("crash at %d: the third run: %v", at, err)
				}
			}
		}
		if got := names(t, w.file); !slices.Equal(got, wanted(0, crashRecords)) {
			t.Fatalf("crash at %d: the file holds %q", at, got)
		}
		if finished {
			break
		}
	}
	t.Logf("%d crashes", crashes)
	if crashes < 50 {
		t.Errorf("only %d crashes", crashes)
	}
}

// TestFailingFile: a write or fsync that fails is done again from the last
// length that counts, and the file is whole in the end.
func TestFailingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	real, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f := &flaky{File: real}
	s := sink.NewJSONL(path)
	if err := s.ResumeFile(f, nil); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < 40; {
		if err := s.Write(t.Context(), sinktest.Records(n, n+2)); err == nil {
			n += 2
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := names(t, data); !slices.Equal(got, wanted(0, 40)) {
		t.Errorf("the file holds %q", got)
	}
	if f.failed < 10 {
		t.Errorf("only %d failures", f.failed)
	}
}

// flaky fails every third write half-way, and every fourth fsync.
type flaky struct {
	sink.File
	writes, syncs, failed int
}

func (f *flaky) WriteAt(p []byte, at int64) (int, error) {
	if f.writes++; f.writes%3 == 0 {
		f.failed++
		n, _ := f.File.WriteAt(p[:len(p)/2], at)
		return n, fmt.Errorf("no space")
	}
	return f.File.WriteAt(p, at)
}

func (f *flaky) Sync() error {
	if f.syncs++; f.syncs%4 == 0 {
		f.failed++
		return fmt.Errorf("fsync failed")
	}
	return f.File.Sync()
}
