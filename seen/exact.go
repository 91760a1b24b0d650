package seen

import (
	"context"
	"errors"
	"sync"
	"time"

	"octopus"
	"octopus/kv"
)

// ExactOptions configures an Exact set.
type ExactOptions struct {
	// FoldRecords is the number of log records that Maintain waits for before
	// it folds them into chunks. 0 means 65536. It bounds the log, and so the
	// time to open: a record takes about 1 us, a folded key 0.05 us.
	FoldRecords int

	// MemoryBytes bounds the set's memory; 0 means no bound, 10.4 bytes per
	// key. Once the table has half of it, the table is given up for a Bloom
	// filter of three quarters, and what the filter may have is asked of
	// Confirm; while that changes, the set takes 1.4 times the bound. A key
	// that is met again then costs a disk read, unless it was confirmed lately.
	MemoryBytes int64

	// Confirm is needed with MemoryBytes.
	Confirm Confirm
}

// Exact is a Set that remembers every key, as a 64-bit fingerprint: 8 bytes on
// disk, about 10.4 in memory. "Known" is wrong with n / 2^64 for n keys, and
// never where Confirm says it.
//
// It is for programs that keep no record of every URL. A frontier has those, and
// they are its exact set (docs/decisions/010).
//
// It is a Stager: the keys of a batch are one log record in it, and every fresh
// key must be staged. Maintain folds the log, and keeps the memory bounded.
type Exact struct {
	o   ExactOptions
	log *log // nil where nothing is kept

	// shape guards the choice of the three below; they are shared by readers.
	shape   sync.RWMutex
	table   *table   // nil once the set is spilled
	filter  *filter  // nil before
	checked *checked // nil without MemoryBytes; used once spilled
}

var (
	_ Stager     = (*Exact)(nil)
	_ Maintainer = (*Exact)(nil)
)

// NewExact returns an empty set that keeps nothing on disk: Stage does nothing.
func NewExact() *Exact { return &Exact{table: newTable(0)} }

// OpenExact opens the set whose log lies under prefix in store.
func OpenExact(store kv.Store, prefix []byte, o ExactOptions) (*Exact, error) {
	if o.MemoryBytes > 0 && o.Confirm == nil {
		return nil, errors.New("seen: exact: a memory bound needs Confirm, which tells what the filter cannot")
	}
	l, err := openLog(store, prefix, o.FoldRecords)
	if err != nil {
		return nil, err
	}
	e := &Exact{o: o, log: l}
	load := func(fps []uint64) { e.table.load(byShard(fps)) }
	if e.tooLarge(tableBytes * l.folded) {
		e.filter = newFilter(split8, uint64(o.MemoryBytes*3/4/lineBytes))
		load = e.fill
	} else {
		e.table = newTable(int(l.folded))
	}
	if o.MemoryBytes > 0 {
		e.checked = &checked{filter: e.filter, pending: newPending(), confirm: o.Confirm, recent: newRecent(o.MemoryBytes / 8)}
	}
	if err := l.chunks(load); err != nil {
		return nil, err
	}
	return e, l.replay(load)
}

// tableBytes is what a key takes in a table that was made for its keys.
const tableBytes = 10

func (e *Exact) tooLarge(bytes int64) bool {
	return e.o.MemoryBytes > 0 && bytes > e.o.MemoryBytes/2
}

// fill puts fingerprints into the filter.
func (e *Exact) fill(fps []uint64) {
	for at := 0; at < len(fps); at += group {
		part := fps[at:min(at+group, len(fps))]
		e.filter.touch(part)
		for _, fp := range part {
			e.filter.add(fp)
		}
	}
}

// Add implements Set.
func (e *Exact) Add(ctx context.Context, _ time.Time, keys []octopus.Key, fresh []bool) error {
	if err := check(ctx, keys, fresh); err != nil {
		return err
	}
	e.shape.RLock()
	defer e.shape.RUnlock()
	switch {
	case e.table == nil:
		return each(keys, e.filter.touch, func(i int, fp uint64) (err error) {
			fresh[i], err = e.checked.add(keys[i], fp)
			return err
		})
	case e.checked == nil:
		return each(keys, e.table.touch, func(i int, fp uint64) error {
			fresh[i] = e.table.add(fp)
			return nil
		})
	default: // what is not committed must be known when the table is given up
		return each(keys, e.table.touch, func(i int, fp uint64) error {
			if fresh[i] = e.table.add(fp); fresh[i] {
				e.checked.pending.add(fp)
			}
			return nil
		})
	}
}

// Contains implements Set.
func (e *Exact) Contains(ctx context.Context, _ time.Time, keys []octopus.Key, known []bool) error {
	if err := check(ctx, keys, known); err != nil {
		return err
	}
	e.shape.RLock()
	defer e.shape.RUnlock()
	if e.table == nil {
		return each(keys, e.filter.touch, func(i int, fp uint64) (err error) {
			known[i], err = e.checked.has(keys[i], fp)
			return err
		})
	}
	return each(keys, e.table.touch, func(i int, fp uint64) error {
		known[i] = e.table.has(fp)
		return nil
	})
}

// Stage implements Stager.
func (e *Exact) Stage(b *kv.Batch, _ time.Time, keys []octopus.Key) {
	if e.log != nil && len(keys) > 0 {
		fps := fingerprints(keys)
		e.log.stage(b, fps, func() { e.committed(fps) })
	}
}

// committed moves fingerprints from pending to the filter, where there is one.
func (e *Exact) committed(fps []uint64) {
	if e.checked == nil {
		return
	}
	e.shape.RLock()
	defer e.shape.RUnlock()
	if e.filter != nil {
		e.fill(fps)
	}
	for _, fp := range fps {
		e.checked.pending.remove(fp)
	}
}

// Maintain implements Maintainer.
func (e *Exact) Maintain(ctx context.Context, _ time.Time) error {
	if e.log == nil {
		return nil
	}
	if err := e.log.fold(ctx); err != nil {
		return err
	}
	if e.table != nil && e.tooLarge(e.MemoryBytes()) {
		return e.spill()
	}
	return nil
}

// spill gives the table up for a filter of everything that is committed.
// Batches that commit meanwhile enter the filter as they do.
func (e *Exact) spill() error {
	e.shape.Lock()
	e.filter = newFilter(split8, uint64(e.o.MemoryBytes*3/4/lineBytes))
	e.checked.filter = e.filter
	e.shape.Unlock()
	for _, kind := range []byte{keyChunk, keyRecord} {
		err := e.log.scan(kind, func(_ int64, fps []uint64) error {
			e.fill(fps)
			return nil
		})
		if err != nil {
			return err
		}
	}
	e.shape.Lock()
	e.table = nil
	e.shape.Unlock()
	return nil
}

// MemoryBytes returns the size of the set.
func (e *Exact) MemoryBytes() (bytes int64) {
	e.shape.RLock()
	defer e.shape.RUnlock()
	if e.table != nil {
		_, bytes = e.table.stats()
	}
	if e.filter != nil {
		bytes += e.filter.bytes()
	}
	if e.checked != nil {
		bytes += int64(8 * len(e.checked.recent.slots))
	}
	return bytes
}

// Len returns the number of keys in memory; -1 once the set is spilled.
func (e *Exact) Len() int64 {
	e.shape.RLock()
	defer e.shape.RUnlock()
	if e.table == nil {
		return -1
	}
	n, _ := e.table.stats()
	return n
}
