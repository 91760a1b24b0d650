package seen

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"octopus/kv"
)

// journal keeps fingerprints on disk until somebody has them in another form.
// They come in the batches of their user, a record per batch; numbers are
// big-endian, so that they sort, fingerprints little-endian:
//
//	+--------+---+------------+      +-----------------------------+
//	| prefix | l | number (8) |  ->  | fingerprint (8), repeated   |
//	+--------+---+------------+      +-----------------------------+
type journal struct {
	store  kv.Store
	prefix []byte
	next   atomic.Int64 // number of the next record

	mu        sync.Mutex
	committed []int64 // numbers of the records that are stored
	keys      int64   // fingerprints in them
}

// Kinds of keys under a prefix.
const (
	keyRecord = 'l' // a record of a journal
	keyChunk  = 's' // a chunk of a log
	keyTotals = 'n' // totals of a log
	keyWindow = 'w' // a window, or the clock
	keyExpiry = 'e' // an expiry
)

func newJournal(store kv.Store, prefix []byte) *journal {
	return &journal{store: store, prefix: slices.Clone(prefix)}
}

// stage puts fps into b as one record; done is called with them once b is
// committed.
func (j *journal) stage(b *kv.Batch, fps []uint64, done func()) {
	value := make([]byte, 0, 8*len(fps))
	for _, f := range fps {
		value = binary.LittleEndian.AppendUint64(value, f)
	}
	number := j.next.Add(1) - 1
	b.Set(j.numbered(keyRecord, number), value)
	b.OnCommit(func() {
		done()
		j.note(number, len(fps))
	})
}

// note counts a stored record.
func (j *journal) note(number int64, keys int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.committed = append(j.committed, number)
	j.keys += int64(keys)
}

// size returns the stored records and the fingerprints in them.
func (j *journal) size() (records int, keys int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.committed), j.keys
}

// take hands over the numbers of the stored records: whoever took them puts
// their fingerprints into another form and drops them then.
func (j *journal) take() []int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	numbers := j.committed
	j.committed, j.keys = nil, 0
	return numbers
}

// drop stages the deletion of records, run by run: they may have been committed
// in another order than they were numbered.
func (j *journal) drop(b *kv.Batch, numbers []int64) { dropRuns(b, j.key(keyRecord), numbers) }

// dropRuns stages the deletion of the numbered keys under prefix.
func dropRuns(b *kv.Batch, prefix []byte, numbers []int64) {
	numbered := func(n int64) []byte { return binary.BigEndian.AppendUint64(slices.Clone(prefix), uint64(n)) }
	slices.Sort(numbers)
	for len(numbers) > 0 {
		n := 1
		for n < len(numbers) && numbers[n] == numbers[0]+int64(n) {
			n++
		}
		b.DeleteRange(numbered(numbers[0]), numbered(numbers[0]+int64(n)))
		numbers = numbers[n:]
	}
}

// replay gives the fingerprints of the stored records to load, many at once.
func (j *journal) replay(load func([]uint64)) error {
	var part []uint64
	err := j.scan(keyRecord, func(number int64, fps []uint64) error {
		j.next.Store(number + 1)
		j.note(number, len(fps))
		if part = append(part, fps...); len(part) >= chunkKeys {
			load(part)
			part = part[:0]
		}
		return nil
	})
	load(part)
	return err
}

// scan visits the values of one kind in order; fps is valid during the call.
func (j *journal) scan(kind byte, visit func(number int64, fps []uint64) error) error {
	lo := j.key(kind)
	var fps []uint64
	return j.store.Scan(lo, kv.PrefixEnd(lo), func(key, value []byte) error {
		if len(key) != len(lo)+8 || len(value)%8 != 0 {
			return fmt.Errorf("seen %q: damaged: key %x with %d bytes", j.prefix, key, len(value))
		}
		fps = fps[:0]
		for i := 0; i < len(value); i += 8 {
			fps = append(fps, binary.LittleEndian.Uint64(value[i:]))
		}
		return visit(int64(binary.BigEndian.Uint64(key[len(lo):])), fps)
	})
}

func (j *journal) key(kind byte) []byte {
	return append(append(make([]byte, 0, len(j.prefix)+9), j.prefix...), kind)
}

func (j *journal) numbered(kind byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(j.key(kind), uint64(n))
}
