package sink

import (
	"encoding/binary"
	"fmt"

	"octopus/kv"
	"octopus/queue"
)

// Inspection is what an outbox holds, for people.
type Inspection struct {
	Queue   queue.State
	Records int64 // that wait
	Bytes   int64 // their sizes, keys and framing left out
	Cursors []Cursor
}

// Cursor is the place of one sink, also of one that no run has had lately.
type Cursor struct {
	Name    string
	Next    int64 // first record not delivered
	Pending int64 // numbers from Next to the end
}

// Inspect reads the outbox under prefix, and changes nothing that counts. No
// Outbox may be open on it.
func Inspect(store kv.Store, prefix []byte) (in Inspection, err error) {
	q, err := queue.Open(store, append(append([]byte(nil), prefix...), 'q'), queue.Options{})
	if err != nil {
		return in, err
	}
	in.Queue = q.Inspect()
	for from := in.Queue.Head; from < in.Queue.Committed; {
		items, next, err := q.Peek(from, peekStep)
		if err != nil {
			return in, err
		}
		for _, item := range items {
			in.Records++
			in.Bytes += int64(len(item.Data))
		}
		from = next
	}
	in.Cursors, err = cursors(store, prefix, in.Queue)
	return in, err
}

// cursors returns the places of all sinks.
func cursors(store kv.Store, prefix []byte, q queue.State) (all []Cursor, err error) {
	lo := append(append([]byte(nil), prefix...), 'c')
	err = store.Scan(lo, kv.PrefixEnd(lo), func(key, value []byte) error {
		if len(value) < 8 {
			return fmt.Errorf("output %s: damaged: cursor %x", key[len(lo):], value)
		}
		next := max(int64(binary.BigEndian.Uint64(value)), q.Head)
		all = append(all, Cursor{string(key[len(lo):]), next, max(q.Committed-next, 0)})
		return nil
	})
	return all, err
}

// peekStep is the number of records that Inspect reads at once.
const peekStep = 1024
