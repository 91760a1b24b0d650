package container

import (
	"fmt"
	"time"
)

// batch is the units of one caller, waiting for their commit.
type batch struct {
	units []unit
	err   error
	// wake gets true when this batch's caller shall commit the queue, false
	// when somebody else has done so and err is set.
	wake chan bool
}

// maxGroup bounds the bytes that are written before a sync, maxJoined the memory
// that is kept for writing several units at once.
const (
	maxGroup  = 16 << 20
	maxJoined = 2 << 20
)

// submit commits the batch, together with those of callers that come while a
// commit is under way. One caller at a time leads: it writes everything that is
// queued, and passes the lead to the first that came meanwhile.
func (c *Container) submit(b *batch) error {
	c.queueMu.Lock()
	c.queue = append(c.queue, b)
	follow := c.leading
	c.leading = true
	c.queueMu.Unlock()
	if follow && !<-b.wake {
		return b.err
	}
	group := c.takeGroup()
	err := c.commit(group)
	c.queueMu.Lock()
	if len(c.queue) > 0 {
		c.queue[0].wake <- true
	} else {
		c.leading = false
	}
	c.queueMu.Unlock()
	for _, other := range group[1:] { // group[0] is b
		other.err = err
		other.wake <- false
	}
	return err
}

// takeGroup takes the batches of one commit from the queue, at least one.
func (c *Container) takeGroup() []*batch {
	c.queueMu.Lock()
	defer c.queueMu.Unlock()
	n, bytes := 0, int64(0)
	for n < len(c.queue) && (n == 0 || bytes < maxGroup) {
		for i := range c.queue[n].units {
			bytes += c.queue[n].units[i].entry.length
		}
		n++
	}
	group := c.queue[:n:n]
	c.queue = append([]*batch(nil), c.queue[n:]...)
	return group
}

// commit writes the units of a group. Whole runs of units that fit the active
// segment are written and synced at once.
func (c *Container) commit(group []*batch) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return ErrClosed
	}
	if c.failed != nil {
		return c.failed
	}
	var run []*unit
	var end int64
	for _, b := range group {
		for i := range b.units {
			if c.active == nil || end >= c.opt.SegmentBytes {
				if err := c.write(run); err != nil {
					return err
				}
				run = run[:0]
			}
			if err := c.rotate(); err != nil {
				return err
			}
			if len(run) == 0 {
				end = c.active.size
			}
			u := &b.units[i]
			at, known, err := c.stored(&u.entry)
			if err != nil {
				return err
			}
			if known {
				u.at, u.known = at, true
				continue
			}
			u.entry.offset = end
			end += u.entry.length
			run = append(run, u)
		}
	}
	return c.write(run)
}

// rotate makes sure that there is an active segment with room.
func (c *Container) rotate() error {
	if c.active != nil && c.active.size < c.opt.SegmentBytes && !c.active.short && c.active.suffix == c.enc.suffix {
		return nil
	}
	if c.active != nil {
		if err := c.sealActive(); err != nil {
			return err
		}
	}
	return c.startSegment()
}

// write appends a run of units to the active segment. Readers see them when
// they are as durable as the policy says.
func (c *Container) write(run []*unit) error {
	if len(run) == 0 {
		return nil
	}
	s := c.active
	buf := run[0].data
	if len(run) > 1 {
		buf = c.joined[:0]
		for _, u := range run {
			buf = append(buf, u.data...)
		}
		if cap(buf) <= maxJoined {
			c.joined = buf
		}
	}
	if _, err := s.warc.WriteAt(buf, run[0].entry.offset); err != nil {
		// The next write goes to the same place, so nothing is lost by this.
		return fmt.Errorf("container: write %s%s at offset %d: %w", s.path, s.suffix, run[0].entry.offset, err)
	}
	c.dirty = true
	if c.opt.Sync == Always {
		if err := c.sync(); err != nil {
			return fmt.Errorf("container: %w", err)
		}
	}
	if err := c.publish(run); err != nil {
		c.failed = fmt.Errorf("container: %w; it takes no more pages until it is opened again", err)
		return c.failed
	}
	c.maybeCheckpoint(len(run))
	return c.afterWrite()
}

// publish makes written units known: to the key file's list, then to readers.
// After an error, which only an index on disk can have, the log is ahead of the
// index.
func (c *Container) publish(run []*unit) error {
	s := c.active
	for _, u := range run {
		e := &u.entry
		if err := c.link(e); err != nil {
			return err
		}
		if c.opt.Sync == Never {
			e.flags |= flagUnsynced
		}
		s.mu.Lock()
		s.waiting = append(s.waiting, *e)
		s.size = e.end()
		s.mu.Unlock()
		u.at = e.address(s.number)
		if err := c.index(e, u.at); err != nil {
			return err
		}
		if e.prev == 0 {
			c.total++
		}
	}
	return nil
}

// link chains e to the version that is the newest now.
func (c *Container) link(e *keyEntry) (err error) {
	if e.prev, err = c.newestAt(e); e.prev == 0 {
		return err
	}
	before, err := c.entryAt(e.prev)
	if e.prev.late() || err != nil || before.hides(e) { // in doubt, look at the whole chain
		e.flags |= flagLate
	}
	return nil
}

// hides reports whether e, stored after b, is not the newest version for that:
// b is of a later time, or deleted e's time.
func (b *keyEntry) hides(e *keyEntry) bool {
	return b.time > e.time || b.kind == Tombstone && e.kind != Tombstone && b.time == e.time
}

// newestAt returns the address of the newest version of e's request, 0 if
// there is none.
func (c *Container) newestAt(e *keyEntry) (address, error) {
	var buf [1]address
	if found, err := c.urls.find(buf[:0], e.hash(c.secret)); len(found) > 0 || err != nil {
		return append(found, 0)[0], err
	}
	return 0, nil
}

// index enters e into the tables.
func (c *Container) index(e *keyEntry, at address) error {
	c.changed = true
	if err := c.urls.put(e.hash(c.secret), at); err != nil || !e.hasPayload() {
		return err
	}
	return c.payloads.put(digestHash(e.digest, c.secret), at)
}

// stored reports whether this very visit is there already, and where. Only one
// that is not newer than the newest version needs a look at the chain.
func (c *Container) stored(e *keyEntry) (at address, known bool, err error) {
	at, err = c.newestAt(e)
	if at == 0 || e.kind == Tombstone || err != nil {
		return 0, false, err
	}
	if newest, err := c.entryAt(at); err != nil || newest.time < e.time && !at.late() {
		return 0, false, nil
	}
	all, _ := c.chain(e.key) // what can't be read is stored again
	for _, old := range all {
		if old.key == e.key && old.time == e.time && old.digest == e.digest && old.kind != Tombstone {
			return old.at, true, nil
		}
	}
	return 0, false, nil
}

// entryAt returns the key entry of the unit at an address.
func (c *Container) entryAt(a address) (keyEntry, error) {
	s, err := c.acquire(a.segment())
	if err != nil {
		return keyEntry{}, err
	}
	defer s.release()
	return s.find(a.offset())
}

// afterWrite does what the policy leaves for later.
func (c *Container) afterWrite() error {
	if c.opt.Sync != Interval {
		return c.active.writeKeys()
	}
	if c.timer == nil {
		c.timer = time.AfterFunc(c.opt.SyncInterval, c.onTimer)
	}
	return nil
}

// onTimer syncs what policy Interval left unsynced. An error stays in c.failed
// and is returned by the next Put.
func (c *Container) onTimer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = nil
	if !c.closing {
		c.sync()
	}
}
