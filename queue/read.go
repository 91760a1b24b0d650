package queue

import (
	"context"
	"encoding/binary"
	"fmt"

	"octopus/kv"
)

// readBytes bounds what one read returns, so that large records do not add up;
// a read returns at least one record whatever its size.
const readBytes = 4 << 20

// Next hands out up to max items that were not handed out since Open; it blocks
// until there is one, or ctx ends. Each item goes to one caller.
func (q *Queue) Next(ctx context.Context, max int) ([]Item, error) {
	q.take.Lock()
	defer q.take.Unlock()
	for {
		q.mu.Lock()
		from := q.next
		q.mu.Unlock()
		if err := q.Wait(ctx, from); err != nil {
			return nil, err
		}
		items, next, err := q.read(from, max)
		if err != nil {
			return nil, err
		}
		q.mu.Lock()
		q.next = next
		q.mu.Unlock()
		if len(items) > 0 {
			return items, nil
		}
	}
}

// Peek returns up to max committed items with numbers of at least from, and the
// number to go on with. It changes nothing, and does not block.
func (q *Queue) Peek(from int64, max int) (items []Item, next int64, err error) {
	return q.read(from, max)
}

// read collects up to max items from number from on; next is where to go on,
// past any gap.
func (q *Queue) read(from int64, max int) (items []Item, next int64, err error) {
	q.mu.Lock()
	if from < q.head {
		from = q.head
	}
	end := q.done
	q.mu.Unlock()
	var data []byte // backs the items; earlier slices of it stay valid as it moves
	items = make([]Item, 0, min(int64(max), end-from, 1024))
	next = end
	err = q.scan(from, end, func(seq int64, record []byte) error {
		if len(items) == max || len(items) > 0 && len(data)+len(record) > readBytes {
			next = seq
			return kv.ErrStop
		}
		if data == nil {
			data = make([]byte, 0, min(cap(items)*(len(record)+16), readBytes))
		}
		at := len(data)
		data = append(data, record...)
		items = append(items, Item{Seq: seq, Data: data[at:len(data):len(data)]})
		return nil
	})
	if err != nil {
		return nil, from, fmt.Errorf("queue %q: read from %d: %w", q.prefix, from, err)
	}
	q.mu.Lock()
	q.bytes += len(data)
	q.mu.Unlock()
	return items, next, nil
}

// scan visits the stored records with numbers in [from, end) in order; in a
// ring that is up to two ranges of slots.
func (q *Queue) scan(from, end int64, visit func(seq int64, record []byte) error) error {
	stopped := false
	for _, r := range q.ranges(from, end) {
		err := q.store.Scan(q.slotKey(r.lo), q.slotKey(r.hi), func(key, value []byte) error {
			seq, record, err := q.decode(key, value)
			if err != nil {
				return err
			}
			if seq < from || seq >= end {
				return nil // a record of another lap
			}
			if err := visit(seq, record); err != nil {
				stopped = err == kv.ErrStop
				return err
			}
			return nil
		})
		if err != nil || stopped {
			return err
		}
	}
	return nil
}

func (q *Queue) decode(key, value []byte) (seq int64, record []byte, err error) {
	if len(key) != len(q.prefix)+9 {
		return 0, nil, fmt.Errorf("damaged: record key %x", key)
	}
	slot := int64(binary.BigEndian.Uint64(key[len(q.prefix)+1:]))
	lap, n := binary.Uvarint(value)
	if n <= 0 || q.capacity == 0 && lap != 0 {
		return 0, nil, fmt.Errorf("damaged: record in slot %d begins %x", slot, value[:min(len(value), 10)])
	}
	return int64(lap)*q.capacity + slot, value[n:], nil
}
