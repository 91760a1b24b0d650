package seen

import (
	"context"
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
}

// Exact is a Set that remembers every key, as a 64-bit fingerprint: 8 bytes on
// disk, about 10.4 in memory. "Known" is wrong with n / 2^64 for n keys.
//
// It is a Stager: the keys of a batch are one log record in it. Maintain folds
// the log.
type Exact struct {
	table *table
	log   *log // nil where nothing is kept
}

var (
	_ Stager     = (*Exact)(nil)
	_ Maintainer = (*Exact)(nil)
)

// NewExact returns an empty set that keeps nothing on disk: Stage does nothing.
func NewExact() *Exact { return &Exact{table: newTable(0)} }

// OpenExact opens the set whose log lies under prefix in store.
func OpenExact(store kv.Store, prefix []byte, o ExactOptions) (*Exact, error) {
	l, err := openLog(store, prefix, o.FoldRecords)
	if err != nil {
		return nil, err
	}
	e := &Exact{log: l, table: newTable(int(l.folded))}
	if err := l.replay(e.load); err != nil {
		return nil, err
	}
	return e, nil
}

// load adds the fingerprints of a chunk.
func (e *Exact) load(fs []uint64) { e.table.load(byShard(fs)) }

// byShard returns fs ordered by shard: a counting sort.
func byShard(fs []uint64) []uint64 {
	var at [numShards + 1]int
	for _, f := range fs {
		at[f>>(64-shardBits)+1]++
	}
	for i := range numShards {
		at[i+1] += at[i]
	}
	sorted := make([]uint64, len(fs))
	for _, f := range fs {
		i := f >> (64 - shardBits)
		sorted[at[i]] = f
		at[i]++
	}
	return sorted
}

// Add implements Set.
func (e *Exact) Add(ctx context.Context, _ time.Time, keys []octopus.Key, fresh []bool) error {
	if err := check(ctx, keys, fresh); err != nil {
		return err
	}
	e.each(keys, func(i int, f uint64) { fresh[i] = e.table.add(f) })
	return nil
}

// Contains implements Set.
func (e *Exact) Contains(ctx context.Context, _ time.Time, keys []octopus.Key, known []bool) error {
	if err := check(ctx, keys, known); err != nil {
		return err
	}
	e.each(keys, func(i int, f uint64) { known[i] = e.table.has(f) })
	return nil
}

// group is the number of keys whose cache misses overlap.
const group = 32

// each calls do with the fingerprint of every key, in order, and loads the
// slots of a group of keys before it asks for any of them.
func (e *Exact) each(keys []octopus.Key, do func(i int, f uint64)) {
	var fs [group]uint64
	for at := 0; at < len(keys); at += group {
		n := min(group, len(keys)-at)
		for i := range n {
			fs[i] = fingerprint(keys[at+i])
		}
		e.table.touch(fs[:n])
		for i := range n {
			do(at+i, fs[i])
		}
	}
}

// Stage implements Stager.
func (e *Exact) Stage(b *kv.Batch, _ time.Time, keys []octopus.Key) {
	if e.log != nil && len(keys) > 0 {
		e.log.stage(b, keys)
	}
}

// Maintain implements Maintainer: it folds the log when it is long.
func (e *Exact) Maintain(ctx context.Context, _ time.Time) error {
	if e.log == nil {
		return nil
	}
	return e.log.fold(ctx)
}

// Len returns the number of keys.
func (e *Exact) Len() int64 {
	n, _ := e.table.stats()
	return n
}

// MemoryBytes returns the size of the table.
func (e *Exact) MemoryBytes() int64 {
	_, bytes := e.table.stats()
	return bytes
}
