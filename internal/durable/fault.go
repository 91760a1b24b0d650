package durable

import (
	"errors"
	"math/rand/v2"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// ErrInjected is what an operation of Failing returns when it is its turn.
var ErrInjected = errors.New("injected error")

// MemFS is a file system in memory that can show what a power cut would leave.
type MemFS = vfs.MemFS

// Memory returns an empty file system in memory.
func Memory() *MemFS { return vfs.NewMem() }

// Crashable returns an empty file system in memory for Crash.
func Crashable() *MemFS { return vfs.NewCrashableMem() }

// Crash returns a copy of m as a power cut at this moment might leave it: all
// that was synced, and each 4 KiB block or directory entry that was not with a
// probability of percent/100, as rng decides. m goes on unchanged.
func Crash(m *MemFS, percent int, rng *rand.Rand) *MemFS {
	return m.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng})
}

// Faults decides which operations fail. Its methods may be called while others
// use the file system.
type Faults struct {
	before func(write bool) // called before each operation; may be nil
	left   atomic.Int64     // operations that still succeed; negative means all do
	ops    atomic.Int64     // operations so far
	sticky bool
}

// FailAfter lets n more operations succeed; the next fails, and with sticky all
// after it too. A negative n means that none fails.
func (f *Faults) FailAfter(n int64, sticky bool) {
	f.sticky = sticky
	f.left.Store(n)
}

// Ops returns the number of operations so far.
func (f *Faults) Ops() int64 { return f.ops.Load() }

// Failing returns fsys with operations (reads included) that fail as the
// returned Faults says. before, where it is not nil, is called at the start of
// each operation: a place to make a crash copy.
func Failing(fsys FS, before func(write bool)) (FS, *Faults) {
	f := &Faults{before: before}
	f.left.Store(-1)
	return errorfs.Wrap(fsys, errorfs.InjectorFunc(f.maybe)), f
}

func (f *Faults) maybe(op errorfs.Op) error {
	f.ops.Add(1)
	if f.before != nil {
		f.before(op.Kind.ReadOrWrite() == errorfs.OpIsWrite)
	}
	switch left := f.left.Load(); {
	case left < 0:
		return nil
	case left == 0:
		if !f.sticky {
			f.left.Store(-1)
		}
		return ErrInjected
	}
	f.left.Add(-1)
	return nil
}
