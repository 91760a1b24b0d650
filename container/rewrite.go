package container

import (
	"context"
	"fmt"
	"io"
)

// Rewritten tells what Compact or a purge did.
type Rewritten struct {
	Segments int   // removed
	Moved    int64 // versions copied as they were
	Dropped  int64 // versions and tombstones that are gone
	Promoted int64 // revisits that became full records, since their original went
	Bytes    int64 // length of the removed segments
}

// rewrite copies what lives of some segments to the end of the log and removes
// them. Readers and writers go on. A crash at any point leaves each version at
// least once, and the next rewrite removes what is there twice.
type rewrite struct {
	*Container
	victims map[int]bool
	dead    func(link) bool // asked about versions that are on their chain
	touched map[int]bool    // segments whose key files were changed in place
	sum     Rewritten
}

// Compact removes what is deleted, stored twice, beyond keep versions of a URL
// (0 keeps all), or a revisit whose payload was lost, from every segment of which less than minLive (0 to 1) is
// alive, by bytes; 1 means every segment where anything is dead.
func (c *Container) Compact(ctx context.Context, minLive float64, keep int, progress Progress) (Rewritten, error) {
	c.rewriting.Lock()
	defer c.rewriting.Unlock()
	r := &rewrite{Container: c, victims: map[int]bool{}, touched: map[int]bool{}}
	bereft := map[uint64]bool{} // as it is now: payloads move meanwhile
	r.dead = func(l link) bool { return c.deleted(l, keep) || bereft[l.at.place()] }
	sizes := c.snapshot()
	for _, s := range c.list() {
		live := int64(0)
		err := s.each(func(e keyEntry) error {
			l := link{e, e.address(s.number)}
			if err := ctx.Err(); err != nil || e.end() > sizes[s] {
				return err
			}
			if c.bereft(l) {
				bereft[l.at.place()] = true
			}
			if r.alive(l) {
				live += e.length
			}
			return nil
		})
		if err != nil {
			return r.sum, err
		}
		if all := sizes[s] - s.first; live < all && float64(live) < minLive*float64(all) {
			r.victims[s.number] = true
		}
	}
	err := r.run(ctx, progress)
	return r.sum, err
}

// deleted reports whether a version is hidden by a tombstone, is a tombstone
// that hides nothing any more, or is not among the newest keep.
func (c *Container) deleted(l link, keep int) bool {
	all, err := c.chain(l.key)
	if err != nil {
		return false // what can't be judged is kept
	}
	if l.kind == Tombstone {
		for _, o := range all {
			if o.at.place() != l.at.place() && o.time <= l.time {
				return false
			}
		}
		return true
	}
	for i, v := range visible(all) {
		if v.at.place() == l.at.place() {
			return keep > 0 && i >= keep
		}
	}
	return true
}

// alive reports whether a unit is on its chain and shall stay.
func (r *rewrite) alive(l link) bool { return r.chained(l) && !r.dead(l) }

// chained reports whether a unit is on the chain of its request. One that was
// moved or replaced is not.
func (c *Container) chained(l link) bool {
	if newest, err := c.newestAt(&l.keyEntry); err == nil && newest.place() == l.at.place() {
		return true
	}
	all, err := c.chain(l.key)
	for _, o := range all {
		if o.at.place() == l.at.place() {
			return true
		}
	}
	return err != nil
}

// each calls visit for the entries of a segment until it returns an error.
func (s *segment) each(visit func(keyEntry) error) error { return s.eachFrom(0, visit) }

func (s *segment) eachFrom(i int, visit func(keyEntry) error) error {
	for ; ; i++ {
		e, err := s.entry(i)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = visit(e)
		}
		if err != nil {
			return err
		}
	}
}

// run does the work. The caller holds c.rewriting.
func (r *rewrite) run(ctx context.Context, progress Progress) error {
	if len(r.victims) == 0 {
		return nil
	}
	err := r.prepareRun()
	if err == nil {
		err = r.promote(ctx)
	}
	segments, total := r.list(), int64(0)
	for _, s := range segments {
		if r.victims[s.number] {
			total += s.bytes()
		}
	}
	for _, s := range segments {
		if err == nil && r.victims[s.number] {
			if err = r.move(ctx, s); err == nil {
				err = r.remove(s)
			}
			progress.report(r.sum.Bytes, total)
		}
	}
	r.mu.Lock()
	r.rewritten = false
	r.mu.Unlock()
	if err != nil { // payloads that are dying still stay where they are, and readable
		return fmt.Errorf("container: rewrite: %w", err)
	}
	r.dyingMu.Lock()
	r.dying = nil
	r.dyingMu.Unlock()
	return r.checkpoint()
}

// prepareRun forgets the checkpoint, which knows the old places, and sees to it
// that the active segment is none of the victims.
func (r *rewrite) prepareRun() error {
	r.sweeping.Lock()
	defer r.sweeping.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closing {
		return ErrClosed
	}
	r.rewritten = true
	if err := r.forgetCheckpoint(); err != nil {
		return err
	}
	if r.active == nil || !r.victims[r.active.number] {
		return nil
	}
	if err := r.sealActive(); err != nil {
		return err
	}
	return r.startSegment()
}

// move copies the living units of a segment to the end of the log, and takes
// the others off their chains.
func (r *rewrite) move(ctx context.Context, s *segment) error {
	return s.each(func(e keyEntry) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		old := link{e, e.address(s.number)}
		if !r.chained(old) {
			r.sum.Dropped++
			return nil
		}
		if r.dead(old) {
			r.sum.Dropped++
			return r.replace(old, nil)
		}
		data := make([]byte, e.length)
		if _, err := s.warc.ReadAt(data, e.offset); err != nil {
			return fmt.Errorf("%s%s at offset %d: %w", s.path, s.suffix, e.offset, err)
		}
		// A broken record is not carried on as if it were whole.
		unpacker := r.unpacker()
		_, _, err := unpacker.decode(data, old.at)
		r.unpackers.Put(unpacker)
		if err != nil {
			return fmt.Errorf("%s%s at offset %d: %w: %w; octopus store rebuild takes it out", s.path, s.suffix, e.offset, ErrCorrupt, err)
		}
		if s.suffix != r.enc.suffix {
			if data, err = r.recode(data, e.flags&flagMeta != 0); err != nil {
				return fmt.Errorf("%s%s at offset %d: %w", s.path, s.suffix, e.offset, err)
			}
			e.length = int64(len(data))
		}
		r.sum.Moved++
		return r.replace(old, &unit{entry: e, data: data})
	})
}

// recode compresses the one or two records of a unit the other way.
func (r *rewrite) recode(data []byte, meta bool) (out []byte, err error) {
	u := r.unpacker()
	defer r.unpackers.Put(u)
	records := 1
	if meta {
		records = 2
	}
	for range records {
		content, n, err := u.Unpack(data)
		if err != nil {
			return nil, err
		}
		out, data = r.enc.Pack(out, content), data[n:]
	}
	return out, nil
}

// replace stores u, if any, and takes old off its chain, both at once for all
// who look.
func (r *rewrite) replace(old link, u *unit) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closing {
		return ErrClosed
	}
	if r.failed != nil { // what a failed sync left behind the last record must not be written over in part
		return r.failed
	}
	moves := r.movesOf(old.hash(r.secret))
	moves.Add(1)
	defer moves.Add(1)
	if u != nil {
		if err := r.rotate(); err != nil {
			return err
		}
		u.entry.offset, u.entry.flags = r.active.size, u.entry.flags&flagMeta
		if _, err := r.active.warc.WriteAt(u.data, u.entry.offset); err != nil {
			return fmt.Errorf("write %s%s at offset %d: %w", r.active.path, r.active.suffix, u.entry.offset, err)
		}
		r.dirty = true
		if err := r.publish([]*unit{u}); err != nil {
			r.failed = err
			return err
		}
	}
	if old.kind == Full {
		if err := r.payloads.remove(digestHash(old.digest, r.secret), old.at); err != nil {
			return err
		}
	}
	return r.unlink(old)
}

// unlink takes a unit off its chain: whoever leads to it leads to the one before
// it. c.mu is held.
func (r *rewrite) unlink(old link) error {
	// The chain may have changed since old was read.
	e, err := r.entryAt(old.at)
	if err != nil {
		return err
	}
	hash := e.hash(r.secret)
	head, err := r.newestAt(&e)
	if err != nil {
		return err
	}
	if head.place() == old.at.place() {
		if e.prev == 0 {
			return r.urls.remove(hash, head)
		}
		return r.urls.put(hash, e.prev)
	}
	for at := head; at != 0; {
		newer, err := r.entryAt(at)
		if err != nil {
			return err
		}
		if newer.prev.place() == old.at.place() {
			newer.prev = e.prev
			r.touched[at.segment()] = true
			return r.segments[at.segment()].update(newer)
		}
		at = newer.prev
	}
	return nil
}

// update replaces the entry of a unit in place.
func (s *segment) update(e keyEntry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.waiting {
		if s.waiting[i].offset == e.offset {
			s.waiting[i] = e
			return nil
		}
	}
	i, _, err := s.search(e.offset)
	if err != nil {
		return err
	}
	if _, err := s.key.WriteAt(e.append(nil), int64(keyHeaderSize+i*keyEntrySize)); err != nil {
		return fmt.Errorf("write %s%s: %w", s.path, keySuffix, err)
	}
	return nil
}

// remove deletes a segment that nothing leads to any more, once its copies and
// the changed key files are durable.
func (r *rewrite) remove(s *segment) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.settle(); err != nil {
		return err
	}
	for number := range r.touched {
		if t := r.segments[number]; t != nil {
			if err := t.key.Sync(); err != nil {
				return fmt.Errorf("sync %s%s: %w", t.path, keySuffix, err)
			}
		}
	}
	clear(r.touched)
	r.changed = true // there is no checkpoint now
	r.sum.Segments++
	r.sum.Bytes += s.bytes()
	r.segMu.Lock()
	delete(r.segments, s.number)
	r.segMu.Unlock()
	s.life.Lock() // waits for readers
	defer s.life.Unlock()
	return r.drop(s)
}
