package sink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"octopus"
	"octopus/kv"
	"octopus/queue"
)

// Run delivers until ctx ends or the outbox itself cannot be read or written;
// then it closes the sinks. A sink that fails is tried again, with a growing
// wait, for as long as Run runs. Run is called once.
func (o *Outbox) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var senders sync.WaitGroup
	for _, t := range o.targets {
		senders.Go(func() {
			if err := o.send(ctx, t); ctx.Err() == nil {
				stop(err)
			}
		})
	}
	<-ctx.Done()
	senders.Wait()
	err := o.close()
	if cause := context.Cause(ctx); cause != ctx.Err() {
		return errors.Join(cause, err)
	}
	return err
}

// close closes the sinks and stores what they remember then.
func (o *Outbox) close() error {
	if len(o.targets) == 0 {
		return nil
	}
	var errs []error
	var b kv.Batch
	for _, t := range o.targets {
		if err := t.Sink.Close(); err != nil {
			errs = append(errs, fmt.Errorf("output %s: close: %w", t.Name, err))
			continue
		}
		o.stageCursor(&b, t, t.next)
	}
	return errors.Join(append(errs, o.store.Apply(&b, kv.Sync))...)
}

// send is the life of one sink: wait, read, write, move the cursor. It returns
// an error always: that of ctx, or why the outbox cannot be used.
func (o *Outbox) send(ctx context.Context, t *target) error {
	for {
		if err := o.queue.Wait(ctx, t.next); err != nil {
			return err
		}
		if err := o.gather(ctx, t); err != nil {
			return err
		}
		items, next, err := o.peek(t)
		if err != nil {
			return err
		}
		if err := o.write(ctx, t, items); err != nil {
			return err
		}
		if err := o.move(t, next); err != nil {
			return fmt.Errorf("output %s: %w", t.Name, err)
		}
	}
}

// gather waits for the company that a Gatherer wants for the next record.
func (o *Outbox) gather(ctx context.Context, t *target) error {
	g, ok := t.Sink.(Gatherer)
	if !ok {
		return nil
	}
	records, _, wait := g.Gather()
	enough, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	defer context.AfterFunc(o.hurried, cancel)()
	_ = o.queue.Wait(enough, t.next+int64(records)-1) // an error says that the time is up
	return ctx.Err()
}

// peek reads the next batch of a sink.
func (o *Outbox) peek(t *target) (items []queue.Item, next int64, err error) {
	g, ok := t.Sink.(Gatherer)
	if !ok {
		return o.queue.Peek(t.next, o.o.Batch)
	}
	records, size, _ := g.Gather()
	next = t.next
	for next < o.queue.Inspect().Committed && len(items) < records && size > 0 {
		var more []queue.Item
		if more, next, err = o.queue.Peek(next, records-len(items)); err != nil {
			return nil, 0, err
		}
		for _, it := range more {
			size -= len(it.Data)
		}
		items = append(items, more...)
	}
	return items, next, nil
}

// write gives items to the sink until it takes them; it fails only when ctx
// ends or a record cannot be decoded.
func (o *Outbox) write(ctx context.Context, t *target, items []queue.Item) error {
	if len(items) == 0 {
		return nil
	}
	try, err := attempt(t.Sink, items)
	if err != nil {
		return fmt.Errorf("output %s: %w", t.Name, err)
	}
	for wait := o.o.RetryMin; ; wait = min(2*wait, o.o.RetryMax) {
		err := try(ctx)
		o.note(t, err)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		o.o.OnError(t.Name, err, wait)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// attempt returns the call that writes items in the form the sink takes.
func attempt(s Sink, items []queue.Item) (func(context.Context) error, error) {
	if l, ok := s.(LineWriter); ok {
		lines := make([][]byte, len(items))
		for i, it := range items {
			lines[i] = it.Data
		}
		return func(ctx context.Context) error { return l.WriteLines(ctx, lines) }, nil
	}
	recs := make([]octopus.Record, len(items))
	for i, it := range items {
		if err := json.Unmarshal(it.Data, &recs[i]); err != nil {
			return nil, fmt.Errorf("record %d of the outbox is damaged: %w", it.Seq, err)
		}
	}
	return func(ctx context.Context) error { return s.Write(ctx, recs) }, nil
}

// note keeps the result of an attempt for Status.
func (o *Outbox) note(t *target, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t.last = ""
	if err != nil {
		t.last = err.Error()
	}
}

// move stores a sink's new place, and removes what every sink has. Neither
// waits for the disk: a place that a crash takes back only repeats a delivery,
// which the sink undoes or recognizes.
func (o *Outbox) move(t *target, next int64) error {
	var b kv.Batch
	o.stageCursor(&b, t, next)
	if err := o.store.Apply(&b, kv.NoSync); err != nil {
		return err
	}
	o.mu.Lock()
	t.next = next
	low := o.lowest()
	close(o.moved)
	o.moved = make(chan struct{})
	o.mu.Unlock()
	return o.queue.Ack(low-1, kv.NoSync)
}
