package sink

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"octopus"
	"octopus/kv"
	"octopus/queue"
)

// Target is a sink with the name its cursor is stored under. The name must stay
// the same from run to run; "jsonl:" and the absolute path, say.
type Target struct {
	Name string
	Sink Sink
}

// Options configures an outbox.
type Options struct {
	// Targets are the sinks. With none, Append does nothing and costs nothing.
	Targets []Target

	// Batch bounds the records of one Write. 0 means 256. A batch also ends at
	// 4 MiB of JSON. A Gatherer says its own.
	Batch int

	// Limit is the number of records that may wait for one sink before Room
	// blocks. 0 means no limit.
	Limit int64

	// RetryMin and RetryMax bound the wait before a failed Write is tried
	// again; it doubles from one to the other. 0 means 1 s and 1 min.
	RetryMin, RetryMax time.Duration

	// OnError hears of every failed Write, and how long the sender waits before
	// it tries again. It may be nil.
	OnError func(name string, err error, wait time.Duration)
}

// Outbox stands between the frontier's commits and the sinks. Run sends; the
// other methods may be called by many goroutines at once.
type Outbox struct {
	store   kv.Store
	prefix  []byte
	queue   *queue.Queue
	o       Options
	targets []*target
	absent  []Cursor

	hurried context.Context // ends with the first Flush: nothing is gathered any more
	hurry   func()

	mu    sync.Mutex    // guards the fields of targets below, and moved
	moved chan struct{} // closed, and made anew, when a cursor moves
}

// target is a sink at its place in the outbox. Its sender alone moves next.
type target struct {
	Target
	next int64  // first number not delivered
	last string // last error, empty after a success
}

// Open opens the outbox under prefix and its sinks, which belong to it from
// then on. A sink that is new to this outbox gets what is staged from now on.
// After an error the sinks are closed.
func Open(store kv.Store, prefix []byte, o Options) (*Outbox, error) {
	b := &Outbox{store: store, prefix: append([]byte(nil), prefix...), o: o.withDefaults(), moved: make(chan struct{})}
	b.hurried, b.hurry = context.WithCancel(context.Background())
	if err := b.open(); err != nil {
		for _, t := range o.Targets {
			t.Sink.Close()
		}
		return nil, err
	}
	return b, nil
}

func (o Options) withDefaults() Options {
	if o.Batch <= 0 {
		o.Batch = 256
	}
	if o.RetryMin <= 0 {
		o.RetryMin = time.Second
	}
	if o.RetryMax <= 0 {
		o.RetryMax = time.Minute
	}
	if o.OnError == nil {
		o.OnError = func(string, error, time.Duration) {}
	}
	return o
}

func (o *Outbox) open() (err error) {
	if o.queue, err = queue.Open(o.store, append(o.prefix, 'q'), queue.Options{}); err != nil {
		return err
	}
	var b kv.Batch
	seen := map[string]bool{}
	for _, t := range o.o.Targets {
		if seen[t.Name] {
			return fmt.Errorf("output %s: %w", t.Name, ErrTwice)
		}
		seen[t.Name] = true
		opened, err := o.resume(t)
		if err != nil {
			return fmt.Errorf("output %s: %w", t.Name, err)
		}
		o.targets = append(o.targets, opened)
		o.stageCursor(&b, opened, opened.next)
	}
	if err := o.findAbsent(seen); err != nil || len(o.targets) == 0 {
		return err
	}
	// A new sink's place, and that a file is open, must be known before its
	// first record is written.
	return o.store.Apply(&b, kv.Sync)
}

// findAbsent notes the sinks that have a place and records to come, and are not
// among the targets.
func (o *Outbox) findAbsent(present map[string]bool) error {
	all, err := cursors(o.store, o.prefix, o.queue.Inspect())
	for _, c := range all {
		if !present[c.Name] && c.Pending > 0 {
			o.absent = append(o.absent, c)
		}
	}
	return err
}

// Absent returns the sinks of earlier runs that did not get all records and are
// not among the targets. The records they lack leave the outbox once the
// targets have them.
func (o *Outbox) Absent() []Cursor { return o.absent }

// resume finds a sink's place and lets it take up its state.
func (o *Outbox) resume(t Target) (*target, error) {
	state := o.queue.Inspect()
	opened := &target{Target: t, next: state.Committed}
	value, err := o.store.Get(o.cursorKey(t.Name))
	var saved json.RawMessage
	switch {
	case errors.Is(err, kv.ErrNotFound):
	case err != nil:
		return nil, err
	case len(value) < 8:
		return nil, fmt.Errorf("damaged: cursor %x", value)
	default:
		opened.next = max(int64(binary.BigEndian.Uint64(value)), state.Head)
		if len(value) > 8 {
			saved = value[8:]
		}
	}
	if r, ok := t.Sink.(Resumer); ok {
		return opened, r.Resume(saved)
	}
	return opened, nil
}

// Append stages a record into b, the batch of the commit that it tells of. The
// order in which the staged batches are filled is the order in the sinks.
func (o *Outbox) Append(b *kv.Batch, rec *octopus.Record) error {
	if len(o.targets) == 0 {
		return nil
	}
	line, err := Encode(rec)
	if err != nil {
		return err
	}
	return o.queue.Append(b, line)
}

// Room returns once no sink has Options.Limit records to catch up, or ctx ends.
// Whoever makes records calls it before, so that the outbox stays bounded.
func (o *Outbox) Room(ctx context.Context) error {
	for {
		end := o.queue.Inspect().Committed
		o.mu.Lock()
		full, moved := o.fullest(end), o.moved
		o.mu.Unlock()
		if full == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-moved:
		}
	}
}

// Full tells which sink keeps Room waiting; false where none does.
func (o *Outbox) Full() (Status, bool) {
	end := o.queue.Inspect().Committed
	o.mu.Lock()
	defer o.mu.Unlock()
	t := o.fullest(end)
	if t == nil {
		return Status{}, false
	}
	return t.status(end), true
}

// fullest returns a sink that has reached the limit, nil where none has. The
// caller holds mu.
func (o *Outbox) fullest(end int64) *target {
	for _, t := range o.targets {
		if o.o.Limit > 0 && end-t.next >= o.o.Limit {
			return t
		}
	}
	return nil
}

// Flush returns once everything that was committed when it was called has been
// delivered to every sink, or ctx ends. It needs Run, and is the end of
// gathering: what comes later is delivered as it comes.
func (o *Outbox) Flush(ctx context.Context) error {
	o.hurry()
	end := o.queue.Inspect().Committed
	for {
		o.mu.Lock()
		low, moved := o.lowest(), o.moved
		o.mu.Unlock()
		if low >= end || len(o.targets) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-moved:
		}
	}
}

// Status tells how far one sink is.
type Status struct {
	Name    string `json:"name"`
	Pending int64  `json:"pending"` // records committed and not delivered
	Error   string `json:"error"`   // why the last write failed; empty where it did not
}

// Status returns the state of every sink, in the order of Options.Targets.
func (o *Outbox) Status() []Status {
	end := o.queue.Inspect().Committed
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []Status
	for _, t := range o.targets {
		all = append(all, t.status(end))
	}
	return all
}

// status is the sink's state where end is the end of what is committed. The
// caller holds mu.
func (t *target) status(end int64) Status {
	return Status{Name: t.Name, Pending: max(end-t.next, 0), Error: t.last}
}

// lowest returns the smallest cursor. The caller holds mu.
func (o *Outbox) lowest() int64 {
	var low int64
	for i, t := range o.targets {
		if i == 0 || t.next < low {
			low = t.next
		}
	}
	return low
}

func (o *Outbox) cursorKey(name string) []byte {
	key := append(append([]byte(nil), o.prefix...), 'c')
	return append(key, name...)
}

// stageCursor puts a sink's place, and what it must remember, into b.
func (o *Outbox) stageCursor(b *kv.Batch, t *target, next int64) {
	value := binary.BigEndian.AppendUint64(nil, uint64(next))
	if r, ok := t.Sink.(Resumer); ok {
		value = append(value, r.State()...)
	}
	b.Set(o.cursorKey(t.Name), value)
}
