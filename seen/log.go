package seen

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"octopus"
	"octopus/kv"
)

// log keeps fingerprints on disk. They come in the batches of their user, a
// record per batch, and are folded into chunks later, so that reopening reads
// few large values. Nothing is ever merged or rewritten: every fingerprint
// comes once. Keys, under the set's prefix; numbers are big-endian, so that
// they sort, fingerprints little-endian:
//
//	+--------+---+------------+      +-----------------------------+
//	| prefix | l | number (8) |  ->  | fingerprint (8), repeated   |   records
//	| prefix | s | number (8) |  ->  | fingerprint (8), repeated   |   chunks
//	+--------+---+------------+      +-----------------------------+
//	| prefix | n |                -> | fingerprints in chunks (8), next chunk number (8) |
//
// Folding reads what is committed, never what is in memory: a fingerprint that
// Add recorded may belong to a batch that never commits, and must not outlive
// the process then.
type log struct {
	store  kv.Store
	prefix []byte
	after  int // records that make folding worth while

	next    atomic.Int64 // number of the next record
	records atomic.Int64 // committed and not folded
	folded  int64        // fingerprints in chunks; Maintain's alone, after opening
	chunk   int64        // number of the next chunk; the same
}

// Kinds of keys under the prefix.
const (
	keyRecord = 'l'
	keyChunk  = 's'
	keyTotals = 'n'
)

// chunkKeys is the number of fingerprints that make a chunk.
const chunkKeys = 1 << 16

// foldKeys bounds the fingerprints of one fold, and so its batch: 8 MiB.
const foldKeys = 1 << 20

func openLog(store kv.Store, prefix []byte, after int) (*log, error) {
	if after <= 0 {
		after = 1 << 16
	}
	l := &log{store: store, prefix: append([]byte(nil), prefix...), after: after}
	v, err := store.Get(l.key(keyTotals))
	switch {
	case errors.Is(err, kv.ErrNotFound):
	case err != nil:
		return nil, err
	case len(v) != 16:
		return nil, fmt.Errorf("seen %q: damaged: totals %x", prefix, v)
	default:
		l.folded = int64(binary.BigEndian.Uint64(v))
		l.chunk = int64(binary.BigEndian.Uint64(v[8:]))
	}
	return l, nil
}

// replay gives every fingerprint to load, a part at a time.
func (l *log) replay(load func([]uint64)) error {
	if err := l.scan(keyChunk, func(_ int64, fs []uint64) error { load(fs); return nil }); err != nil {
		return err
	}
	var part []uint64
	err := l.scan(keyRecord, func(number int64, fs []uint64) error {
		l.next.Store(number + 1)
		l.records.Add(1)
		if part = append(part, fs...); len(part) >= chunkKeys {
			load(part)
			part = part[:0]
		}
		return nil
	})
	load(part)
	return err
}

// scan visits the values of one kind in order; fs is valid during the call.
func (l *log) scan(kind byte, visit func(number int64, fs []uint64) error) error {
	lo := l.key(kind)
	var fs []uint64
	return l.store.Scan(lo, kv.PrefixEnd(lo), func(key, value []byte) error {
		if len(key) != len(lo)+8 || len(value)%8 != 0 {
			return fmt.Errorf("seen %q: damaged: key %x with %d bytes", l.prefix, key, len(value))
		}
		fs = fs[:0]
		for i := 0; i < len(value); i += 8 {
			fs = append(fs, binary.LittleEndian.Uint64(value[i:]))
		}
		return visit(int64(binary.BigEndian.Uint64(key[len(lo):])), fs)
	})
}

// stage puts the fingerprints of keys into b as one record.
func (l *log) stage(b *kv.Batch, keys []octopus.Key) {
	value := make([]byte, 0, 8*len(keys))
	for _, k := range keys {
		value = binary.LittleEndian.AppendUint64(value, fingerprint(k))
	}
	b.Set(l.numbered(keyRecord, l.next.Add(1)-1), value)
	b.OnCommit(func() { l.records.Add(1) })
}

// fold moves the committed records into chunks, where there are enough. Records
// may commit in another order than they were numbered, so only those that were
// read are deleted, run by run.
func (l *log) fold(ctx context.Context) error {
	if l.records.Load() < int64(l.after) {
		return nil
	}
	f := folding{log: l, chunk: l.chunk}
	err := l.scan(keyRecord, func(number int64, fs []uint64) error {
		if f.keys >= foldKeys {
			return kv.ErrStop
		}
		f.take(number, fs)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	f.flush()
	f.closeRun()
	total := l.folded + f.keys
	f.batch.Set(l.key(keyTotals), binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(total)), uint64(f.chunk)))
	// A crash may take this batch back, together with everything after it.
	if err := l.store.Apply(&f.batch, kv.NoSync); err != nil {
		return fmt.Errorf("seen %q: fold the log: %w", l.prefix, err)
	}
	l.folded, l.chunk = total, f.chunk
	l.records.Add(-f.records)
	return nil
}

// folding is one fold under way.
type folding struct {
	*log
	batch   kv.Batch
	part    []byte // fingerprints of the chunk being filled
	chunk   int64  // its number
	lo, hi  int64  // the run of record numbers being collected, where inRun
	inRun   bool
	records int64 // taken so far
	keys    int64 // fingerprints in them
}

func (f *folding) take(number int64, fs []uint64) {
	if f.inRun && number != f.hi {
		f.closeRun()
	}
	if !f.inRun {
		f.lo, f.inRun = number, true
	}
	f.hi = number + 1
	f.records++
	f.keys += int64(len(fs))
	for _, x := range fs {
		f.part = binary.LittleEndian.AppendUint64(f.part, x)
	}
	if len(f.part) >= 8*chunkKeys {
		f.flush()
	}
}

// flush stages the chunk that was being filled.
func (f *folding) flush() {
	if len(f.part) > 0 {
		f.batch.Set(f.numbered(keyChunk, f.chunk), f.part)
		f.chunk++
		f.part = f.part[:0]
	}
}

// closeRun stages the deletion of the records of a run.
func (f *folding) closeRun() {
	if f.inRun {
		f.batch.DeleteRange(f.numbered(keyRecord, f.lo), f.numbered(keyRecord, f.hi))
		f.inRun = false
	}
}

func (l *log) key(kind byte) []byte {
	return append(append(make([]byte, 0, len(l.prefix)+9), l.prefix...), kind)
}

func (l *log) numbered(kind byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(l.key(kind), uint64(n))
}
