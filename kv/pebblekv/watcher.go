package pebblekv

import (
	"fmt"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// watcher is the logger and event listener of one store. It says nothing; it
// remembers what stops the store from taking batches.
type watcher struct {
	dir string

	// failed is set once, when a commit or the manifest could not be written:
	// Pebble cannot go on then.
	failed atomic.Pointer[error]

	// full is set while flushes fail for want of space. Pebble tries again by
	// itself; batches are refused meanwhile, before anything is done with them.
	full atomic.Pointer[error]
}

// fatal is what Fatalf panics with; Apply turns it into an error.
type fatal struct{ error }

// failure is a message of Pebble's with the error that it names.
type failure struct {
	text  string
	cause error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.cause }

// err returns why a batch cannot be taken now; nil where it can.
func (w *watcher) err() error {
	if e := w.failed.Load(); e != nil {
		return *e
	}
	if e := w.full.Load(); e != nil {
		return *e
	}
	return nil
}

// fail remembers the first failure and returns it.
func (w *watcher) fail(err error) error {
	w.failed.CompareAndSwap(nil, &err)
	return *w.failed.Load()
}

func (w *watcher) backgroundError(err error) {
	if vfs.IsNoSpaceError(err) {
		err = fmt.Errorf("store %s: %w: free some space, writing goes on by itself (%w)", w.dir, ErrFull, err)
		w.full.Store(&err)
	}
}

func (w *watcher) flushEnd(info pebble.FlushInfo) {
	if info.Err == nil {
		w.full.Store(nil)
	}
}

// Infof implements pebble.Logger.
func (w *watcher) Infof(string, ...any) {}

// Errorf implements pebble.Logger.
func (w *watcher) Errorf(string, ...any) {}

// Fatalf implements pebble.Logger. Pebble relies on it not to return. In the
// caller's goroutine the panic becomes the error of Apply. In a goroutine of
// Pebble's own it ends the process, which is safe and the only safe thing: the
// manifest could not be written, so nothing may be built on it.
func (w *watcher) Fatalf(format string, args ...any) {
	f := &failure{text: fmt.Sprintf("store %s: writing failed for good, open it again: "+format, append([]any{w.dir}, args...)...)}
	for _, a := range args {
		if err, ok := a.(error); ok {
			f.cause = err
		}
	}
	panic(fatal{w.fail(f)})
}
