package queue

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"octopus/kv"
)

// ErrFull is what Append returns where the ring has no free slot for all the
// records. The caller waits for acknowledgements and tries again.
var ErrFull = errors.New("queue: full")

// Options configures a queue.
type Options struct {
	// Capacity is the number of slots. 0 means no limit: the queue grows with
	// the disk. It can be changed only while the queue is empty.
	Capacity int64
}

// Item is one record handed out.
type Item struct {
	Seq  int64  // its number; rises, with gaps where a batch was lost
	Data []byte // owned by the receiver
}

// Queue is a durable FIFO. All methods may be called by many goroutines at
// once. It needs no Close: it owns no goroutine, and its store belongs to
// somebody else.
type Queue struct {
	store    kv.Store
	prefix   []byte
	capacity int64

	push sync.Mutex // one Push at a time, so that pushes commit in order
	acks sync.Mutex // one Ack at a time
	take sync.Mutex // one Next reads at a time

	mu    sync.Mutex
	head  int64           // first number not acknowledged
	kept  int64           // acknowledged records from here to head are still stored
	bytes int             // of records read since kept rose: what deleting them gives back, about
	tail  int64           // next number to stage
	done  int64           // every number below is committed, or lost for good
	early map[int64]int64 // committed ranges above done: first number -> end
	next  int64           // where Next goes on
	grown chan struct{}   // closed, and made anew, when done rises
}

// Open reads the state of the queue under prefix, without a scan of its
// records. No two queues may be open on one prefix.
func Open(store kv.Store, prefix []byte, o Options) (*Queue, error) {
	if o.Capacity < 0 {
		return nil, fmt.Errorf("queue: capacity %d: must be 0 (no limit) or more", o.Capacity)
	}
	q := &Queue{
		store: store, prefix: append([]byte(nil), prefix...), capacity: o.Capacity,
		early: map[int64]int64{}, grown: make(chan struct{}),
	}
	if err := q.load(); err != nil {
		return nil, fmt.Errorf("queue %q: %w", prefix, err)
	}
	return q, nil
}

func (q *Queue) load() error {
	capacity, err := q.number(keyCapacity)
	if err != nil {
		return err
	}
	if q.head, err = q.number(keyHead); err != nil {
		return err
	}
	if q.tail, err = q.number(keyTail); err != nil {
		return err
	}
	// Where batches committed in another order than they were staged, the tail
	// may be that of an earlier one.
	q.tail = max(q.tail, q.head)
	if capacity != q.capacity {
		if q.tail > q.head {
			return fmt.Errorf("capacity %d differs from the stored %d, and %d records wait: drain the queue first", q.capacity, capacity, q.tail-q.head)
		}
		var b kv.Batch
		b.DeleteRange(q.key(keyRecord), q.key(keyRecord+1)) // what was acknowledged lies in other slots now
		b.Set(q.key(keyCapacity), be(q.capacity))
		if err := q.store.Apply(&b, kv.NoSync); err != nil {
			return err
		}
	}
	if err := q.findTail(); err != nil {
		return err
	}
	q.done, q.next = q.tail, q.head
	if q.capacity > 0 {
		q.kept = q.head
	}
	return nil
}

// findTail raises the tail above records that lie beyond the stored one: where
// batches committed in another order than they were staged, the last to commit
// may hold a smaller tail.
func (q *Queue) findTail() error {
	end := q.head + q.capacity
	if q.capacity == 0 {
		end = maxSeq
	}
	return q.scan(q.tail, end, func(seq int64, _ []byte) error {
		q.tail = max(q.tail, seq+1)
		return nil
	})
}

// Append stages records into b, the batch of a commit that its caller makes.
// They are handed out once that batch is committed and all records staged
// before them are. A batch that was filled and is then dropped stops the queue
// at its numbers until the queue is opened again. Append stages all records or,
// with an error, none.
func (q *Queue) Append(b *kv.Batch, records ...[]byte) error {
	if len(records) == 0 {
		return nil
	}
	from, err := q.reserve(int64(len(records)))
	if err != nil {
		return err
	}
	var value []byte
	for i, r := range records {
		slot, lap := q.slot(from + int64(i))
		value = append(binary.AppendUvarint(value[:0], uint64(lap)), r...)
		b.Set(q.slotKey(slot), value)
	}
	end := from + int64(len(records))
	b.Set(q.key(keyTail), be(end))
	b.OnCommit(func() { q.committed(from, end) })
	return nil
}

// Push stores records and returns when they are synced.
func (q *Queue) Push(records ...[]byte) error {
	q.push.Lock()
	defer q.push.Unlock()
	var b kv.Batch
	if err := q.Append(&b, records...); err != nil {
		return err
	}
	return q.store.Apply(&b, kv.Sync)
}

// reserve takes n numbers.
func (q *Queue) reserve(n int64) (from int64, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.capacity > 0 && q.tail+n-q.head > q.capacity {
		return 0, fmt.Errorf("%w: %d of %d slots in use, %d more wanted", ErrFull, q.tail-q.head, q.capacity, n)
	}
	from = q.tail
	q.tail += n
	return from, nil
}

// committed notes that the numbers [from, end) are stored, and wakes readers.
func (q *Queue) committed(from, end int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.early[from] = end
	before := q.done
	for end, ok := q.early[q.done]; ok; end, ok = q.early[q.done] {
		delete(q.early, q.done)
		q.done = end
	}
	if q.done > before {
		close(q.grown)
		q.grown = make(chan struct{})
	}
}

// Ack removes the items up to and including seq. With kv.NoSync a crash may
// bring them back. Their space is given back in larger steps, of a ring at once.
func (q *Queue) Ack(seq int64, d kv.Durability) error {
	q.acks.Lock()
	defer q.acks.Unlock()
	q.mu.Lock()
	from, kept, end := q.head, q.kept, min(seq+1, q.done)
	trim := q.capacity > 0 || end == q.done || end-kept >= trimRecords || q.bytes >= trimBytes
	q.mu.Unlock()
	if end <= from {
		return nil
	}
	var b kv.Batch
	if trim {
		q.stageDelete(&b, kept, end)
	}
	b.Set(q.key(keyHead), be(end))
	if err := q.store.Apply(&b, d); err != nil {
		return fmt.Errorf("queue %q: acknowledge %d: %w", q.prefix, seq, err)
	}
	q.mu.Lock()
	q.head, q.next = end, max(q.next, end)
	if trim {
		q.kept, q.bytes = end, 0
	}
	q.mu.Unlock()
	return nil
}

// Wait blocks until there is a committed record with a number of at least from,
// or ctx ends. It does not poll.
func (q *Queue) Wait(ctx context.Context, from int64) error {
	for {
		q.mu.Lock()
		ready, grown := q.done > from, q.grown
		q.mu.Unlock()
		if ready {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-grown:
		}
	}
}

// State is a snapshot of a queue's figures.
type State struct {
	Head      int64 // first number not acknowledged
	Committed int64 // end of the numbers that may be handed out
	Tail      int64 // next number to be staged
	Capacity  int64 // 0: no limit
}

// Inspect returns the figures of now.
func (q *Queue) Inspect() State {
	q.mu.Lock()
	defer q.mu.Unlock()
	return State{Head: q.head, Committed: q.done, Tail: q.tail, Capacity: q.capacity}
}

// Len returns the number of records committed and not acknowledged.
func (q *Queue) Len() int64 {
	s := q.Inspect()
	return s.Committed - s.Head
}
