package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"octopus/internal/durable"
)

// Progress is told how far a long operation is: bytes of segments done, of all.
// It may be nil.
type Progress func(done, total int64)

func (p Progress) report(done, total int64) {
	if p != nil {
		p(done, total)
	}
}

// position is a place in the log: everything before it is durable and in the
// tables.
type position struct {
	segment int
	offset  int64 // in the WARC file
	entries int   // in the key file
}

// load opens all segments and builds the tables: from the checkpoint and the
// key entries after it, or from all key files where there is no checkpoint.
// Key files are healed from the WARC files where they have gaps. For a rebuild
// neither checkpoint nor key files are believed; but what these say tells it what
// is lost.
func (c *Container) load(ctx context.Context, progress Progress, again *rebuild) error {
	names, err := c.segmentFiles()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := c.openSegment(name); err != nil {
			return err
		}
	}
	if err := c.findLost(again); err != nil {
		return err
	}
	var start position
	if again == nil {
		start = c.readCheckpoint()
	}
	if start.segment == 0 {
		c.urls, c.payloads = c.newTables()
	}
	done, total := int64(0), int64(0)
	for _, s := range c.list() {
		total += s.size
	}
	for s := c.after(0); s != nil; s = c.after(s.number) {
		done += s.size // before anything of it is cut
		if err := ctx.Err(); err != nil {
			return err
		}
		from := position{s.number, 0, 0}
		if s.number == start.segment {
			from = start
		}
		if s.number >= start.segment {
			if again == nil {
				if from, err = c.enterWhole(s, from, c.after(s.number) == nil); err != nil {
					return err
				}
			}
			if err := c.recover(s, from, c.after(s.number) == nil, again); err != nil {
				return err
			}
			at := position{} // what a rebuild makes is not whole before its end
			if again == nil {
				at = position{s.number, s.size, s.written}
			}
			if err := c.spill(at); err != nil {
				return err
			}
		}
		if s.size == 0 && s.written == 0 { // torn at birth: nothing was ever acknowledged in it
			if err := c.drop(s); err != nil {
				return err
			}
			continue
		}
		c.active = s
		progress.report(min(done, total), total)
	}
	return nil
}

func (c *Container) newTables() (urls, payloads *table) {
	disk := c.opt.IndexMemory > 0
	return newTable(wideSlot, disk), newTable(narrowSlot, disk)
}

// findLost notes the segments of which only the key file is left: their pages
// are gone, and nobody should take the container for whole. A key file without
// entries is what a crash at a segment's birth leaves; it speaks of no page. A
// rebuild puts it aside.
func (c *Container) findLost(again *rebuild) error {
	all, err := c.opt.FS.List(c.opt.Dir)
	if err != nil {
		return fmt.Errorf("list %s: %w", c.opt.Dir, err)
	}
	for _, name := range all {
		stem, isKey := strings.CutSuffix(name, keySuffix)
		if !isKey || slices.Contains(all, stem+gzipSuffix) || slices.Contains(all, stem+zstdSuffix) {
			continue
		}
		name = c.opt.FS.PathJoin(c.opt.Dir, name)
		if info, err := c.opt.FS.Stat(name); err != nil || info.Size() < keyHeaderSize+keyEntrySize {
			continue
		}
		c.damage = append(c.damage, fmt.Errorf("%s%s: %w: the segment is missing, its key file is there", c.opt.FS.PathJoin(c.opt.Dir, stem), gzipSuffix, ErrCorrupt))
		if again != nil {
			if err := again.orphan(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// after returns the segment with the next number, nil after the last.
func (c *Container) after(number int) *segment {
	for _, s := range c.list() {
		if s.number > number {
			return s
		}
	}
	return nil
}

// segmentFiles lists the WARC files in the order of their numbers.
func (c *Container) segmentFiles() ([]string, error) {
	all, err := c.opt.FS.List(c.opt.Dir)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", c.opt.Dir, err)
	}
	number := func(name string) int { n, _, _ := parseSegmentName(name); return n }
	names := slices.DeleteFunc(all, func(name string) bool { return number(name) == 0 })
	slices.SortFunc(names, func(a, b string) int { return number(a) - number(b) })
	for i := 1; i < len(names); i++ {
		if number(names[i]) == number(names[i-1]) {
			return nil, fmt.Errorf("%s: two segments have one number: %s and %s; move one away", c.opt.Dir, names[i-1], names[i])
		}
	}
	return names, nil
}

// openSegment opens the files of a segment, unless they are open.
func (c *Container) openSegment(name string) (err error) {
	number, stem, suffix := parseSegmentName(name)
	c.lastNumber = max(c.lastNumber, number)
	if c.segments[number] != nil {
		return nil
	}
	s := &segment{number: number, path: c.opt.FS.PathJoin(c.opt.Dir, stem), suffix: suffix}
	if s.warc, err = durable.OpenWrite(c.opt.FS, s.path+s.suffix); err != nil {
		return err
	}
	if s.size, err = durable.Size(s.warc); err != nil {
		return errors.Join(fmt.Errorf("%s%s: %w", s.path, s.suffix, err), s.close())
	}
	if err := c.openKeys(s); err != nil {
		return errors.Join(err, s.close())
	}
	c.segMu.Lock()
	defer c.segMu.Unlock()
	c.segments[number] = s
	return nil
}

// openKeys opens the key file, or makes an empty one where there is none that
// belongs to the WARC file, and sets s.first and s.written.
func (c *Container) openKeys(s *segment) error {
	name := s.path + keySuffix
	if f, err := durable.OpenWrite(c.opt.FS, name); err == nil {
		if s.adopt(f) {
			return nil
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	if err := c.firstUnit(s); err != nil {
		return err
	}
	info, err := s.info(s.first)
	if err != nil {
		return err
	}
	err = durable.WriteFile(c.opt.FS, name, func(w io.Writer) error {
		_, err := w.Write(keyHeader{s.first, durable.CRC(info)}.append(nil, s.number))
		return err
	})
	if err != nil {
		return err
	}
	s.key, err = durable.OpenWrite(c.opt.FS, name)
	return err
}

// adopt takes f as the key file if its header is whole and of this segment. A
// segment that was cut inside its warcinfo keeps the file, whose entries tell
// what is lost.
func (s *segment) adopt(f durable.File) bool {
	var b [keyHeaderSize]byte
	f.ReadAt(b[:], 0) // what is missing does not parse
	h, ok := parseKeyHeader(b[:], s.number)
	size, err := durable.Size(f)
	if !ok || err != nil {
		return false
	}
	entries := int(size-keyHeaderSize) / keyEntrySize
	info, err := s.info(h.first)
	if err != nil || len(info) == int(h.first) && durable.CRC(info) != h.info || len(info) < int(h.first) && entries == 0 {
		return false
	}
	s.key, s.first, s.written = f, h.first, entries
	return true
}

// info returns the first n bytes of the WARC file, or what there is of them.
func (s *segment) info(n int64) ([]byte, error) {
	b := make([]byte, min(n, s.size, maxInfo))
	if _, err := s.warc.ReadAt(b, 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read %s%s: %w", s.path, s.suffix, err)
	}
	return b, nil
}

// piece is the number of key entries that are read at once, maxPlaced that of
// addresses that are put into the tables at once.
const (
	piece     = 16 << 10
	maxPlaced = 16 * piece
)

// pending are units whose key entries were read, on their way into the tables.
type pending struct{ urls, payloads []placed }

// enterWhole enters the key entries from a position on into the tables, as long
// as each begins where the one before ends and nobody has to look at its record.
// It returns the position behind them.
func (c *Container) enterWhole(s *segment, from position, last bool) (position, error) {
	from.offset = max(from.offset, s.first)
	buf := make([]byte, min(piece, s.written-from.entries)*keyEntrySize)
	var p pending
	for whole := true; whole && from.entries < s.written; {
		var err error
		if whole, err = c.readWhole(s, &from, last, buf, &p); err != nil {
			return from, err
		}
		if whole && from.entries < s.written && len(p.urls) < maxPlaced && c.opt.IndexMemory == 0 {
			continue
		}
		if err := errors.Join(c.urls.putAll(p.urls), c.payloads.putAll(p.payloads)); err != nil {
			return from, err
		}
		c.since, c.changed = c.since+len(p.urls), c.changed || len(p.urls) > 0
		p = pending{p.urls[:0], p.payloads[:0]}
		if err := c.spill(from); err != nil {
			return from, err
		}
	}
	return from, nil
}

// readWhole reads the key entries at a position, as many as fit buf, and moves
// the position behind those that are whole. It reports whether all of them were.
func (c *Container) readWhole(s *segment, from *position, last bool, buf []byte, to *pending) (whole bool, err error) {
	n := min(len(buf), (s.written-from.entries)*keyEntrySize)
	n, err = s.key.ReadAt(buf[:n], int64(keyHeaderSize+from.entries*keyEntrySize))
	if err != nil && err != io.EOF {
		return false, fmt.Errorf("read %s%s: %w", s.path, keySuffix, err)
	}
	for at := 0; at+keyEntrySize <= n; at += keyEntrySize {
		e, ok := parseKeyEntry(buf[at:])
		if !ok || e.offset != from.offset || e.length == 0 || e.end() > s.size || last && e.flags&flagUnsynced != 0 {
			return false, nil
		}
		to.urls = append(to.urls, placed{e.hash(c.secret), e.address(s.number)})
		if e.hasPayload() {
			to.payloads = append(to.payloads, placed{digestHash(e.digest, c.secret), e.address(s.number)})
		}
		from.offset, from.entries = e.end(), from.entries+1
	}
	return n > 0 && n%keyEntrySize == 0, nil
}

// recover makes a segment's key file whole from a position on, and enters its
// units into the tables. last tells that nothing was written after this
// segment, so that its tail may be torn.
func (c *Container) recover(s *segment, from position, last bool, again *rebuild) error {
	buf := make([]byte, max(0, s.written-from.entries)*keyEntrySize)
	n, err := s.key.ReadAt(buf, int64(keyHeaderSize+from.entries*keyEntrySize))
	if err != nil && err != io.EOF {
		return fmt.Errorf("read %s%s: %w", s.path, keySuffix, err)
	}
	before := believable(buf[:n], s, max(from.offset, s.first), last)
	kept := before
	if again != nil {
		kept = nil
	}
	pos := max(from.offset, s.first)
	var entries []keyEntry
	scanned := false
	for i := 0; i <= len(kept); i++ {
		end := s.size // of the gap before entry i
		if i < len(kept) {
			end = kept[i].offset
		}
		if pos < end {
			found, err := c.scan(s, pos, end, last && i == len(kept), again)
			if err != nil {
				return err
			}
			entries, scanned = append(entries, found...), true
		}
		if i < len(kept) {
			entries, pos = append(entries, kept[i]), kept[i].end()
		}
	}
	if again != nil {
		if err := again.compare(s, before, entries); err != nil {
			return err
		}
	}
	if pos > s.size {
		c.damage = append(c.damage, fmt.Errorf("%s%s: %w: it ends at offset %d, stored were %d bytes", s.path, s.suffix, ErrCorrupt, s.size, pos))
		s.short = true
	}
	if scanned { // a key entry vouches for a durable record
		if err := s.warc.Sync(); err != nil {
			return fmt.Errorf("sync %s%s: %w", s.path, s.suffix, err)
		}
	}
	if err := c.enter(s, entries); err != nil {
		return err
	}
	if !scanned && from.entries+len(entries) == s.written {
		return nil
	}
	return c.rewriteKeys(s, from.entries, entries)
}

// believable returns the entries that are whole and in order. One beyond the
// end of the segment is kept, so that a read of it fails instead of finding
// nothing; but not where nobody vouched for the record.
func believable(buf []byte, s *segment, end int64, last bool) []keyEntry {
	entries := make([]keyEntry, 0, len(buf)/keyEntrySize)
	for ; len(buf) >= keyEntrySize; buf = buf[keyEntrySize:] {
		e, ok := parseKeyEntry(buf)
		if ok && e.offset >= end && e.length > 0 && (e.end() <= s.size || e.flags&flagUnsynced == 0) {
			entries, end = append(entries, e), e.end()
		}
	}
	for last && len(entries) > 0 && entries[len(entries)-1].flags&flagUnsynced != 0 {
		entries = entries[:len(entries)-1]
	}
	return entries
}

// errAhead: the checkpoint knows a unit whose key entry was lost, so nobody knows
// what its request had before.
var errAhead = errors.New("the checkpoint is ahead of the key files")

// enter puts units into the tables in the order they were written. Links that
// a scan could not know are made.
func (c *Container) enter(s *segment, entries []keyEntry) (err error) {
	for i := range entries {
		e := &entries[i]
		if e.prev == unlinked {
			if e.prev, err = c.newestAt(e); err != nil {
				return err
			}
			if e.prev.place() >= e.address(s.number).place() {
				return errAhead
			}
			if e.prev != 0 && c.laterThan(e, s, entries[:i]) {
				e.flags |= flagLate
			}
		}
		if err := c.index(e, e.address(s.number)); err != nil {
			return err
		}
	}
	c.since += len(entries)
	return nil
}

// laterThan reports whether the version before e, which may be among the
// entries not yet in the key file, is of a later time.
func (c *Container) laterThan(e *keyEntry, s *segment, fresh []keyEntry) bool {
	if e.prev.late() {
		return true
	}
	if e.prev.segment() == s.number {
		i, ok := slices.BinarySearchFunc(fresh, e.prev.offset(), func(f keyEntry, o int64) int { return int(f.offset - o) })
		if ok {
			return fresh[i].hides(e)
		}
	}
	before, err := c.entryAt(e.prev)
	return err != nil || before.hides(e) // in doubt, the whole chain is looked at
}

// rewriteKeys replaces the entries of a key file from the n-th on. A crash
// meanwhile leaves entries that are whole or not, which the next Open sorts out.
func (c *Container) rewriteKeys(s *segment, n int, entries []keyEntry) error {
	buf := make([]byte, 0, len(entries)*keyEntrySize)
	for i := range entries {
		entries[i].flags &^= flagUnsynced
		buf = entries[i].append(buf)
	}
	name := s.path + keySuffix
	if _, err := s.key.WriteAt(buf, int64(keyHeaderSize+n*keyEntrySize)); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	s.written, s.waiting = n+len(entries), nil
	if err := s.key.Sync(); err != nil { // a checkpoint comes to rely on it
		return fmt.Errorf("sync %s: %w", name, err)
	}
	size := int64(keyHeaderSize + s.written*keyEntrySize)
	if old, err := durable.Size(s.key); err != nil || old <= size {
		return err
	}
	if err := s.key.Close(); err != nil {
		return err
	}
	s.key = nil
	if err := durable.Truncate(c.opt.FS, name, size); err != nil {
		return err
	}
	var err error
	s.key, err = durable.OpenWrite(c.opt.FS, name)
	return err
}

// drop removes a segment and its files, the key file first: alone, it would say
// that pages are lost.
func (c *Container) drop(s *segment) error {
	c.segMu.Lock()
	delete(c.segments, s.number)
	c.segMu.Unlock()
	if err := s.close(); err != nil {
		return err
	}
	for _, suffix := range []string{keySuffix, s.suffix} {
		if err := c.removeFile(s.path + suffix); err != nil {
			return err
		}
	}
	return nil
}

// removeFile removes a file, durably, if it is there.
func (c *Container) removeFile(name string) error {
	if err := c.opt.FS.Remove(name); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return fmt.Errorf("remove %s: %w", name, err)
	}
	return durable.SyncDir(c.opt.FS, c.opt.Dir)
}
