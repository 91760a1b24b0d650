package queue

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"octopus/kv"
)

// Kinds of keys under the prefix.
const (
	keyRecord   = 'r'
	keyHead     = 'h'
	keyTail     = 't'
	keyCapacity = 'c'
)

// maxSeq is above every number.
const maxSeq = math.MaxInt64

// What was acknowledged is deleted once the queue is empty, or there are so many
// records of it, or so many bytes; and up to fewDeletes records one by one. A
// range tombstone costs every later read of the memtable something, so it must
// pay. A ring does so with every acknowledgement, before its slots are used
// again.
const (
	trimRecords = 16 << 10
	trimBytes   = 4 << 20
	fewDeletes  = 32
)

func (q *Queue) key(kind byte) []byte {
	return append(append(make([]byte, 0, len(q.prefix)+9), q.prefix...), kind)
}

func (q *Queue) slotKey(slot int64) []byte {
	return binary.BigEndian.AppendUint64(q.key(keyRecord), uint64(slot))
}

// slot returns where a record lies.
func (q *Queue) slot(seq int64) (slot, lap int64) {
	if q.capacity == 0 {
		return seq, 0
	}
	return seq % q.capacity, seq / q.capacity
}

// slots is a range of slots, hi exclusive.
type slots struct{ lo, hi int64 }

// ranges returns where the numbers [from, end) lie, in order. end - from is at
// most the capacity.
func (q *Queue) ranges(from, end int64) []slots {
	if from >= end {
		return nil
	}
	lo, lapLo := q.slot(from)
	hi, lapHi := q.slot(end - 1)
	if lapLo == lapHi {
		return []slots{{lo, hi + 1}}
	}
	return []slots{{lo, q.capacity}, {0, hi + 1}}
}

// stageDelete removes the records [from, end).
func (q *Queue) stageDelete(b *kv.Batch, from, end int64) {
	if end-from <= fewDeletes {
		for seq := from; seq < end; seq++ {
			slot, _ := q.slot(seq)
			b.Delete(q.slotKey(slot))
		}
		return
	}
	for _, r := range q.ranges(from, end) {
		b.DeleteRange(q.slotKey(r.lo), q.slotKey(r.hi))
	}
}

// number reads one of the queue's own values; a missing one is 0.
func (q *Queue) number(kind byte) (int64, error) {
	v, err := q.store.Get(q.key(kind))
	if errors.Is(err, kv.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if len(v) != 8 || v[0] > 0x7f {
		return 0, fmt.Errorf("damaged: value of key %q is %x", kind, v)
	}
	return int64(binary.BigEndian.Uint64(v)), nil
}

func be(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
