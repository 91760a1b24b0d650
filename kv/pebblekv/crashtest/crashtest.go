package crashtest

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"octopus/kv"
	"octopus/kv/pebblekv"
)

// World is the store of a scenario, and the file system it shares with whatever
// else the scenario keeps; there is a directory "files" for that.
type World struct {
	kv.Store
	FS vfs.FS
}

// Scenario is what a crash test runs and asks.
type Scenario struct {
	// Run uses a new store. It calls acked(n) when it may rely on step n, n
	// rising from 1: after an Apply with Sync returned, say.
	Run func(t *testing.T, w World, acked func(n int))

	// Check looks at the store that is opened after a crash; acked is the last
	// number that Run had relied on then.
	Check func(t *testing.T, w World, acked int)

	// Every crashes at every n-th write only; 0 means at every one.
	Every int

	// MemTableBytes makes flushes, and so more kinds of writes. 0 means 64 KiB.
	MemTableBytes int64
}

// point is a crash: the file system as it is left, and what was relied on.
type point struct {
	fs    *vfs.MemFS
	acked int
}

// recorder takes crash clones while a scenario runs.
type recorder struct {
	mu     sync.Mutex // guards the rest: Pebble writes from several goroutines
	fs     *vfs.MemFS
	rng    *rand.Rand
	every  int
	writes int
	acked  int
	points []point
}

// Crash runs the scenario and checks every crash. Half of the clones keep only
// what was synced, the others also half of the blocks that were not.
func Crash(t *testing.T, sc Scenario) {
	t.Helper()
	if sc.MemTableBytes == 0 {
		sc.MemTableBytes = 64 << 10
	}
	r := &recorder{fs: vfs.NewCrashableMem(), rng: rand.New(rand.NewPCG(3, 4)), every: max(sc.Every, 1)}
	fs := errorfs.Wrap(r.fs, errorfs.InjectorFunc(r.write))
	if err := makeDir(r.fs); err != nil {
		t.Fatal(err)
	}
	s, err := pebblekv.Open("db", pebblekv.Options{FS: fs, MemTableBytes: sc.MemTableBytes})
	if err != nil {
		t.Fatal(err)
	}
	sc.Run(t, World{s, fs}, r.ack)
	r.crash() // after the last step, before an orderly end
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for i, p := range r.points {
		s, err := pebblekv.Open("db", pebblekv.Options{FS: p.fs, MemTableBytes: sc.MemTableBytes})
		if err != nil {
			t.Fatalf("crash %d: %v", i, err)
		}
		sc.Check(t, World{s, p.fs}, p.acked)
		if err := s.Close(); err != nil {
			t.Fatalf("crash %d: %v", i, err)
		}
		if t.Failed() {
			t.Fatalf("crash %d of %d, after step %d", i, len(r.points), p.acked)
		}
	}
	t.Logf("%d crashes in %d writes, %d steps", len(r.points), r.writes, r.acked)
}

// makeDir makes the directory of the scenario's own files, durably.
func makeDir(fs vfs.FS) error {
	if err := fs.MkdirAll("files", 0o755); err != nil {
		return err
	}
	root, err := fs.OpenDir("/")
	if err != nil {
		return err
	}
	return errors.Join(root.Sync(), root.Close())
}

// write is called before every operation on the file system.
func (r *recorder) write(op errorfs.Op) error {
	if op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
		return nil
	}
	r.mu.Lock()
	r.writes++
	due := r.writes%r.every == 0
	r.mu.Unlock()
	if due {
		r.crash()
	}
	return nil
}

func (r *recorder) ack(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.acked = n
}

func (r *recorder) crash() {
	r.mu.Lock()
	defer r.mu.Unlock()
	cfg := vfs.CrashCloneCfg{}
	if len(r.points)%2 == 1 {
		cfg = vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: r.rng}
	}
	r.points = append(r.points, point{r.fs.CrashClone(cfg), r.acked})
}
