package container

import (
	"context"
	"fmt"
	"io"
	"slices"

	"octopus"
	"octopus/internal/durable"
)

// Rebuild makes the key files anew from the WARC files, and the tables from
// those, as Open would if all but the WARC files were lost. It keeps writers
// out until it is done. No read may run meanwhile.
//
// What key files speak of and cannot be read leaves the index. lost, if it is not
// nil, is told the keys of those requests before they are forgotten, some twice,
// so that they can be fetched again; its error ends the rebuild.
func (c *Container) Rebuild(ctx context.Context, progress Progress, lost func([]octopus.Key) error) error {
	c.sweeping.Lock()
	defer c.sweeping.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return ErrClosed
	}
	if err := c.sync(); err != nil {
		return err
	}
	c.damage = nil
	if err := c.forgetCheckpoint(); err != nil {
		return err
	}
	again := &rebuild{c.opt.FS, lost}
	err := c.load(ctx, progress, again)
	if err == nil {
		err = again.bereft(c)
	}
	if err != nil {
		return fmt.Errorf("container: rebuild: %w", err)
	}
	c.damage = nil // cut out, or put aside
	return nil
}

// rebuild finds what is lost.
type rebuild struct {
	fsys durable.FS
	lost func([]octopus.Key) error
}

// tell passes on the keys of entries that are pages.
func (r *rebuild) tell(entries []keyEntry) error {
	var keys []octopus.Key
	for i := range entries {
		if entries[i].kind != Tombstone {
			keys = append(keys, entries[i].key)
		}
	}
	if len(keys) == 0 || r.lost == nil {
		return nil
	}
	return r.lost(keys)
}

// compare tells the entries of a segment's key file of which no record was found.
func (r *rebuild) compare(s *segment, before, found []keyEntry) error {
	whole := map[int64]octopus.Key{}
	for _, e := range slices.Concat(found, s.salvaged) {
		whole[e.offset] = e.key
	}
	return r.tell(slices.DeleteFunc(before, func(e keyEntry) bool { return whole[e.offset] == e.key }))
}

// orphan tells all entries of a key file whose segment is gone, and puts the
// file aside.
func (r *rebuild) orphan(name string) error {
	f, err := durable.Open(r.fsys, name)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(f)
	f.Close()
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	var all []keyEntry
	for at := keyHeaderSize; at < len(text); at += keyEntrySize {
		if e, ok := parseKeyEntry(text[at:]); ok {
			all = append(all, e)
		}
	}
	if err := r.tell(all); err != nil {
		return err
	}
	if err := r.fsys.Rename(name, name+".damaged"); err != nil {
		return fmt.Errorf("rename %s: %w", name, err)
	}
	return durable.SyncDir(r.fsys, r.fsys.PathDir(name))
}

// bereft tells the revisits whose payload is in no record any more, where they
// are the newest version of their request.
func (r *rebuild) bereft(c *Container) error {
	for _, s := range c.list() {
		var gone []keyEntry
		err := s.each(func(e keyEntry) error {
			if l := (link{e, e.address(s.number)}); c.bereft(l) && c.isNewest(l) {
				gone = append(gone, e)
			}
			return nil
		})
		if err == nil {
			err = r.tell(gone)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bereft reports whether a version is a revisit whose payload is surely in no
// record.
func (c *Container) bereft(l link) bool {
	if l.kind != Same && l.kind != NotModified {
		return false
	}
	var buf [4]address
	found, err := c.payloads.find(buf[:0], digestHash(l.digest, c.secret))
	if err != nil {
		return false
	}
	for _, at := range found {
		if e, err := c.entryAt(at); err != nil || e.digest == l.digest && e.kind == Full {
			return false
		}
	}
	return true
}

// isNewest reports whether a version is the first of its history.
func (c *Container) isNewest(l link) bool {
	all, err := c.history(l.key)
	return err != nil || len(all) > 0 && all[0].at.place() == l.at.place()
}
