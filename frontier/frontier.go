package frontier

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"octopus"
	"octopus/kv"
)

// ErrClosed is what calls return once the Frontier is closed.
var ErrClosed = errors.New("frontier: closed")

// Frontier is the local octopus.Frontier: a Core, and around it the store, the
// clock and the callers that wait. All methods may be called by many goroutines
// at once.
//
// Locks, in the order they are taken:
//
//	write  one read-modify-write of durable state at a time. While it is held,
//	       what was read of the store stays true, or the Core has it newer.
//	mu     the Core. Nothing that takes long happens under it.
type Frontier struct {
	opt   Options
	keys  keyspace
	index atomic.Pointer[index]
	alias atomic.Pointer[aliases] // what the Core has, for those who do not hold mu

	write sync.Mutex
	mu    sync.Mutex
	core  *Core         // guarded by mu
	open  *commit       // guarded by mu: the batch that the Core fills
	last  *commit       // guarded by mu: the newest batch given to the store
	views []string      // guarded by mu: attached fetchers, sorted
	kick  chan struct{} // guarded by mu: closed when a waiting Lease should look again
	err   error         // guarded by mu: the state on disk is behind; nothing works any more
	cache cache         // guarded by write: records in front of the store
	cold  []byte        // guarded by write: where the search for hosts goes on

	hops   atomic.Int64  // links turned away for their redirects
	work   chan struct{} // tells the committer that there is something to write; holds one
	closed chan struct{} // closed by Close
	done   sync.WaitGroup
	once   sync.Once
}

// commit is a batch that callers wait for.
type commit struct {
	done chan struct{} // closed when the batch is written, or err is set
	err  error
}

func newCommit() *commit { return &commit{done: make(chan struct{})} }

var (
	_ octopus.Frontier = (*Frontier)(nil)
	_ octopus.Releaser = (*Frontier)(nil)
	_ octopus.Counter  = (*Frontier)(nil)
	_ octopus.Waiter   = (*Frontier)(nil)
)

// Open returns a Frontier on opt.Store, with what an earlier one left there. It
// reads a few keys only: hosts and queues come in as they are needed, and the
// index of known URLs is filled meanwhile. The caller must Close it before the
// store.
func Open(opt Options) (*Frontier, error) {
	if opt.Store == nil {
		return nil, errors.New("frontier: Options.Store is missing")
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Rand == nil {
		opt.Rand = rand.New(rand.NewPCG(uint64(opt.Now().UnixNano()), uint64(opt.Job)))
	}
	if err := opt.check(); err != nil {
		return nil, err
	}
	core := NewCore(opt)
	opt = opt.withDefaults() // once: a default of "none" must not be taken for "not given"
	f := &Frontier{
		opt: opt, keys: newKeyspace(opt.Job), core: core,
		open: newCommit(), kick: make(chan struct{}),
		work: make(chan struct{}, 1), closed: make(chan struct{}),
	}
	f.index.Store(newIndex(opt.IndexBytes))
	f.cold = f.keys.table(tableHost)
	f.cache = newCache(opt.CacheRecords)
	f.alias.Store(&aliases{})
	f.last = newCommit()
	close(f.last.done)
	restored, err := f.restore()
	if err != nil {
		return nil, err
	}
	f.done.Go(f.commitLoop)
	if restored && f.index.Load().limit > 0 {
		f.done.Go(func() { f.fillIndex(f.index.Load()) })
	}
	return f, nil
}

// restore reads the totals of an older state. Of a new one it writes them, so
// that the next Open knows that there was one.
func (f *Frontier) restore() (restored bool, err error) {
	value, err := f.opt.Store.Get(f.keys.stats(totalsName))
	if errors.Is(err, kv.ErrNotFound) {
		f.index.Load().filled.Store(f.index.Load().limit > 0)
		batch, n, _ := f.core.Flush()
		if err := f.apply(batch); err != nil {
			return false, err
		}
		f.core.Written(n, f.cache)
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("frontier: read totals: %w", err)
	}
	if f.core.aliases, err = readAliases(f.opt.Store, f.keys); err != nil {
		return false, err
	}
	now := f.core.aliases
	f.alias.Store(&now)
	_, next, err := f.scanDue(time.Time{}, 0)
	if err != nil {
		return false, err
	}
	return true, f.core.Restore(f.opt.Now(), value, next)
}

// Close ends all waiting calls, writes what is left and stops. It returns the
// error that stopped the Frontier before, if any.
func (f *Frontier) Close() error {
	f.once.Do(f.stop)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *Frontier) stop() {
	close(f.closed)
	f.done.Wait()
	f.mu.Lock()
	failed := f.err != nil
	f.mu.Unlock()
	if failed {
		return
	}
	if err := f.saveLinks(); err != nil {
		f.fail(err)
	}
}

// Counts returns the totals; it costs nothing.
func (f *Frontier) Counts() octopus.Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.core.Counts(f.opt.Now())
}

// Idle reports whether nothing is left to do now: what is queued are visited
// pages whose refresh or recrawl is not due yet.
func (f *Frontier) Idle() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.core.Idle(f.opt.Now())
}

// Parked returns how many URLs were put aside since Open, by reason. What was
// revived since still counts, and so do the targets that were turned away because
// they stood behind too many redirects.
func (f *Frontier) Parked() map[string]int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	parked := maps.Clone(f.core.parked)
	if n := f.hops.Load(); n > 0 {
		parked[octopus.ReasonHops] = n
	}
	return parked
}

// Waiting tells why no lease is handed out now; empty where one is.
func (f *Frontier) Waiting() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.core.Waiting(f.opt.Now())
}

// Release frees the host of a lease whose request ended.
func (f *Frontier) Release(o octopus.Outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.core.Release(f.opt.Now(), &o)
	f.changed()
}

// Lease hands out up to most URLs that may be fetched now. It blocks until there
// is one, without polling: on a timer for the next time that one comes due, and
// on changes.
func (f *Frontier) Lease(ctx context.Context, most int) ([]octopus.Lease, error) {
	return f.lease(ctx, most, func() served { return nil })
}

// lease is Lease for some buckets, which set returns while mu is held.
func (f *Frontier) lease(ctx context.Context, most int, set func() served) ([]octopus.Lease, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for {
		turn, kick, err := f.turn(max(most, 1), set)
		if err != nil {
			return nil, err
		}
		worked, err := f.serve(turn)
		if err != nil {
			return nil, f.fail(err)
		}
		if len(turn.Leases) > 0 {
			return turn.Leases, nil
		}
		if worked {
			continue
		}
		if err := f.wait(ctx, kick, turn.Wake); err != nil {
			return nil, err
		}
	}
}

// turn asks the Core once.
func (f *Frontier) turn(most int, set func() served) (Turn, <-chan struct{}, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.usable(); err != nil {
		return Turn{}, nil, err
	}
	t := f.core.Lease(f.opt.Now(), most, set())
	if f.core.Pending() {
		f.signal()
	}
	return t, f.kick, nil
}

// wait returns when the Core may have something new, or ctx ends.
func (f *Frontier) wait(ctx context.Context, kick <-chan struct{}, wake time.Time) error {
	var alarm <-chan time.Time
	if !wake.IsZero() {
		timer := time.NewTimer(max(wake.Sub(f.opt.Now()), time.Microsecond))
		defer timer.Stop()
		alarm = timer.C
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-f.closed:
		return ErrClosed
	case <-alarm:
	case <-kick:
	}
	return nil
}

// changed wakes the Lease calls that wait. The caller holds mu.
func (f *Frontier) changed() {
	close(f.kick)
	f.kick = make(chan struct{})
	if f.core.Pending() {
		f.signal()
	}
}

// usable returns why no call can work any more. The caller holds mu.
func (f *Frontier) usable() error {
	select {
	case <-f.closed:
		return ErrClosed
	default:
		return f.err
	}
}

// fail makes err final: what the Core holds and what the store has may differ.
func (f *Frontier) fail(err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = fmt.Errorf("frontier: %w", err)
	}
	f.changed()
	return f.err
}
