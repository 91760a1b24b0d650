package frontier

import (
	"context"
	"time"

	"octopus/kv"
)

// signal tells the committer that there is something to write.
func (f *Frontier) signal() {
	select {
	case f.work <- struct{}{}:
	default:
	}
}

// commitLoop writes what the Core has changed, batch by batch: everything that
// came while the batch before was written goes into one. It ends with Close,
// once all is written.
func (f *Frontier) commitLoop() {
	for {
		select {
		case <-f.work:
			f.gather()
			f.commit()
		case <-f.closed:
			f.commit()
			return
		}
	}
}

// gather waits for more callers to join the batch.
func (f *Frontier) gather() {
	if f.opt.CommitDelay <= 0 {
		return
	}
	timer := time.NewTimer(f.opt.CommitDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-f.closed:
	}
}

// commit writes one batch and lets its callers go.
func (f *Frontier) commit() {
	f.mu.Lock()
	if !f.core.Pending() || f.err != nil {
		err := f.err
		c := f.open
		f.open = newCommit()
		f.mu.Unlock()
		c.finish(err)
		return
	}
	batch, n, err := f.core.Flush()
	c := f.open
	f.open, f.last = newCommit(), c
	f.mu.Unlock()

	if err == nil {
		err = f.apply(batch)
	}
	if err != nil {
		err = f.fail(err)
	} else {
		f.write.Lock()
		f.mu.Lock()
		f.core.Reuse(batch)
		f.core.Written(n, f.cache)
		f.core.Evict()
		empty := f.core.Idle(f.opt.Now())
		f.mu.Unlock()
		f.write.Unlock()
		if empty && f.opt.OnEmpty != nil {
			defer f.opt.OnEmpty()
		}
	}
	c.finish(err)
}

func (c *commit) finish(err error) {
	c.err = err
	close(c.done)
}

// apply writes a batch with the durability that the options ask for.
func (f *Frontier) apply(b *kv.Batch) error {
	d := kv.Sync
	if f.opt.NoSync {
		d = kv.NoSync
	}
	return f.opt.Store.Apply(b, d)
}

// ticket returns the commit that everything changed so far is in. The caller
// holds mu.
func (f *Frontier) ticket() *commit {
	if f.core.Pending() {
		f.signal()
		return f.open
	}
	return f.last
}

// await returns once the commit is written.
func (f *Frontier) await(ctx context.Context, c *commit) error {
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
		return ctx.Err()
	}
}
