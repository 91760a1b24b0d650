package seen

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"octopus/kv"
)

// log is a journal whose records are folded into chunks, so that reopening
// reads few large values. Nothing is ever merged or rewritten: every
// fingerprint comes once. Beside the records there are
//
//	+--------+---+------------+      +-----------------------------+
//	| prefix | s | number (8) |  ->  | fingerprint (8), repeated   |   chunks
//	| prefix | n |                -> | fingerprints in chunks (8), next chunk number (8) |
//	+--------+---+                   +-----------------------------+
//
// Folding reads what is committed, never what is in memory: a fingerprint that
// Add recorded may belong to a batch that never commits, and must not outlive
// the process then.
type log struct {
	*journal
	after  int   // records that make folding worth while
	folded int64 // fingerprints in chunks; Maintain's alone, after opening
	chunk  int64 // number of the next chunk; the same
}

// chunkKeys is the number of fingerprints that make a chunk.
const chunkKeys = 1 << 16

// foldKeys bounds the fingerprints of one fold, and so its batch: 8 MiB.
const foldKeys = 1 << 20

func openLog(store kv.Store, prefix []byte, after int) (*log, error) {
	if after <= 0 {
		after = 1 << 16
	}
	l := &log{journal: newJournal(store, prefix), after: after}
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

// chunks gives the folded fingerprints to load, a chunk at a time.
func (l *log) chunks(load func([]uint64)) error {
	return l.scan(keyChunk, func(_ int64, fps []uint64) error {
		load(fps)
		return nil
	})
}

// fold moves stored records into chunks, where there are enough of them.
func (l *log) fold(ctx context.Context) error {
	if records, _ := l.size(); records < l.after {
		return nil
	}
	f := folding{log: l, chunk: l.chunk, wanted: map[int64]bool{}}
	for _, n := range l.take() {
		f.wanted[n] = true
	}
	err := l.scan(keyRecord, func(number int64, fps []uint64) error {
		if f.keys >= foldKeys {
			return kv.ErrStop
		}
		f.take(number, fps)
		return ctx.Err()
	})
	if err == nil {
		err = f.commit()
	}
	if err != nil {
		f.giveBack(f.taken)
		f.giveBack(f.left())
		return fmt.Errorf("seen %q: fold the log: %w", l.prefix, err)
	}
	f.giveBack(f.left())
	l.folded, l.chunk = l.folded+f.keys, f.chunk
	return nil
}

// folding is one fold under way.
type folding struct {
	*log
	batch  kv.Batch
	wanted map[int64]bool // stored records not folded yet
	taken  []int64        // folded ones
	keys   int64          // fingerprints in them
	part   []byte         // fingerprints of the chunk being filled
	chunk  int64          // its number
}

// take folds one record. One that the scan sees before its commit was noted
// waits for the next fold.
func (f *folding) take(number int64, fps []uint64) {
	if !f.wanted[number] {
		return
	}
	delete(f.wanted, number)
	f.taken = append(f.taken, number)
	f.keys += int64(len(fps))
	for _, x := range fps {
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

// commit writes chunks, totals and deletions. It waits for no disk: a crash may
// take the batch back, together with everything after it.
func (f *folding) commit() error {
	f.flush()
	f.drop(&f.batch, f.taken)
	totals := binary.BigEndian.AppendUint64(nil, uint64(f.folded+f.keys))
	f.batch.Set(f.key(keyTotals), binary.BigEndian.AppendUint64(totals, uint64(f.chunk)))
	return f.store.Apply(&f.batch, kv.NoSync)
}

// left returns the records that were not folded.
func (f *folding) left() (numbers []int64) {
	for n := range f.wanted {
		numbers = append(numbers, n)
	}
	return numbers
}

// giveBack returns records to the journal, for the next fold.
func (f *folding) giveBack(numbers []int64) {
	for _, n := range numbers {
		f.note(n, 0)
	}
}
