package container

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"

	"octopus"
	"octopus/canon"
	"octopus/internal/durable"
	"octopus/warc"
)

// unlinked marks the prev of an entry made from a WARC record: chains are not
// in the WARC.
const unlinked = ^address(0)

// firstUnit sets s.first: the end of the warcinfo record. Where a new segment
// was torn before that was written, it is written again.
func (c *Container) firstUnit(s *segment) error {
	r := warc.NewReader(io.NewSectionReader(s.warc, 0, s.size), 0)
	rec, err := r.Next()
	if err == nil && rec.Type == warc.Warcinfo {
		if err = finish(r); err == nil {
			s.first = r.Offset()
			return nil
		}
	}
	s.first = 0
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, warc.ErrFormat) {
		return fmt.Errorf("%s%s: %w", s.path, s.suffix, err)
	}
	return nil
}

// scan reads the WARC file between two offsets and returns an entry for each
// unit in it. Damage is noted, and the scan goes on at the next whole record.
// In the tail, where there is none any more, the file is cut. A rebuild cuts it at
// the first damage everywhere, so that what stays is a clean WARC file.
func (c *Container) scan(s *segment, from, to int64, tail bool, again *rebuild) ([]keyEntry, error) {
	var found []keyEntry
	for from < to {
		bad, err := scanUnits(s.warc, from, to, func(e keyEntry) { found = append(found, e) })
		if err == nil {
			return found, nil
		}
		if !errors.Is(err, warc.ErrFormat) {
			return nil, fmt.Errorf("%s%s: %w", s.path, s.suffix, err)
		}
		next := nextMember(s.warc, bad+1, to)
		if tail || again != nil {
			if again != nil || next >= 0 && !neverWritten(s.warc, bad, next) {
				if err := c.salvage(s, bad, next, err); err != nil {
					return nil, err
				}
			}
			return found, c.cut(s, bad)
		}
		c.damage = append(c.damage, fmt.Errorf("%s%s: %w: %w", s.path, s.suffix, ErrCorrupt, err))
		if next < 0 {
			return found, nil
		}
		from = next
	}
	return found, nil
}

// salvage copies the whole records that follow a broken one into a segment of
// their own, before the segment is cut. A crash does not leave such records in the
// last segment acknowledged; a disk that forgets what it was told to keep may. The
// bytes that go are kept in a file beside the segment.
func (c *Container) salvage(s *segment, bad, next int64, cause error) error {
	kept := s.path + ".damaged"
	c.damage = append(c.damage, fmt.Errorf("%s%s: %w: %w; it is cut there, whole records after that moved to a new segment; the bytes are in %s",
		s.path, s.suffix, ErrCorrupt, cause, kept))
	err := durable.WriteFile(c.opt.FS, kept, func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(s.warc, bad, s.size-bad))
		return err
	})
	if err != nil {
		return err
	}
	if next < 0 {
		return nil
	}
	enc, err := newEncoder(0, s.suffix == zstdSuffix) // the records are copied as they are
	if err != nil {
		return err
	}
	to, err := c.createSegment(&enc)
	if err != nil {
		return err
	}
	for next >= 0 && err == nil {
		bad, _ = scanUnits(s.warc, next, s.size, func(e keyEntry) {
			data := make([]byte, e.length)
			_, rerr := s.warc.ReadAt(data, e.offset)
			_, werr := to.warc.WriteAt(data, to.size)
			err, to.size = errors.Join(err, rerr, werr), to.size+e.length
			s.salvaged = append(s.salvaged, e)
		})
		next = nextMember(s.warc, bad+1, s.size)
	}
	if err = errors.Join(err, to.warc.Sync()); err != nil {
		return errors.Join(fmt.Errorf("%s%s: %w", to.path, to.suffix, err), to.close())
	}
	c.segMu.Lock()
	defer c.segMu.Unlock()
	c.segments[to.number] = to
	return nil
}

// diskBlock is what a disk writes whole or not at all.
const diskBlock = 4096

// neverWritten reports whether the unreadable bytes between two offsets are what
// a power cut leaves of a write that was not synced: a block of the disk that is
// still zero, as no gzip member is or begins. What follows it was not synced
// either, so nobody was told that it is there.
func neverWritten(f io.ReaderAt, bad, next int64) bool {
	var buf, zero [diskBlock]byte
	for at := bad; at < next; {
		end := at - at%diskBlock + diskBlock
		n, _ := f.ReadAt(buf[:min(end, next)-at], at) // what can't be read is not zero
		if at+int64(n) == end && bytes.Equal(buf[:n], zero[:n]) {
			return true
		}
		at = end
	}
	return false
}

// cut removes the torn tail of the last segment.
func (c *Container) cut(s *segment, size int64) error {
	if err := s.warc.Close(); err != nil {
		return err
	}
	name := s.path + s.suffix
	err := durable.Truncate(c.opt.FS, name, size)
	if err == nil {
		s.warc, err = durable.OpenWrite(c.opt.FS, name)
	}
	s.size = size
	return err
}

// scanUnits calls visit for each unit between two offsets. bad is the offset
// of the first record that could not be read.
func scanUnits(f io.ReaderAt, from, to int64, visit func(keyEntry)) (bad int64, err error) {
	r := warc.NewReader(io.NewSectionReader(f, from, to-from), from)
	var e keyEntry // the unit that metadata may still follow
	var id string
	flush := func() {
		if e.kind != 0 {
			visit(e)
		}
		e, id = keyEntry{}, ""
	}
	for {
		at := r.Offset()
		rec, err := r.Next()
		if err == io.EOF {
			flush()
			return to, nil
		}
		var next keyEntry
		if err == nil {
			next, err = entryOf(rec)
		}
		if err == nil {
			err = finish(r)
		}
		if err != nil {
			flush()
			return at, err
		}
		if rec.Type == warc.Metadata && next.kind == 0 && id != "" && len(rec.ConcurrentTo) == 1 && rec.ConcurrentTo[0] == id {
			e.length, e.flags = r.Offset()-e.offset, e.flags|flagMeta
			id = ""
			continue
		}
		flush()
		if next.kind != 0 {
			e, id = next, rec.ID
			e.offset, e.length = rec.Offset, r.Offset()-rec.Offset
		}
	}
}

// entryOf makes a key entry of a record, reading its block. Kind 0 means that
// the record is nothing to the container. A payload that is not what the record
// says is an error.
func entryOf(rec *warc.Record) (keyEntry, error) {
	if rec.Type == warc.Warcinfo || rec.TargetURI == "" {
		return keyEntry{}, nil
	}
	block, err := rec.ReadBlock()
	if err != nil {
		return keyEntry{}, err
	}
	e := keyEntry{kind: recordKind(rec, block), time: rec.Date.UnixMilli(), prev: unlinked}
	if e.kind == 0 {
		return keyEntry{}, nil
	}
	if e.key, err = requestKey(rec); err != nil {
		return keyEntry{}, nil // not a URL that anybody could ask for
	}
	if e.kind == Tombstone {
		return e, tombstoneTime(&e, block)
	}
	_, _, body, err := warc.ParseHTTP(block)
	if err != nil {
		return keyEntry{}, fmt.Errorf("%w: %w", warc.ErrFormat, err)
	}
	sum, _ := warc.ParseDigest(rec.PayloadDigest)
	if e.kind == Full && len(body) == 0 {
		return e, nil
	}
	if e.kind == Full && sha1.Sum(body) != sum {
		return keyEntry{}, fmt.Errorf("%w: the payload is not that of %s", warc.ErrFormat, rec.PayloadDigest)
	}
	e.digest = sum
	return e, nil
}

// requestKey returns the key a record is stored under.
func requestKey(rec *warc.Record) (octopus.Key, error) {
	if k := rec.Get(keyField); k != "" {
		return octopus.ParseKey(k)
	}
	u, err := canon.Parse(rec.TargetURI)
	return u.Key, err
}

// nextMember returns the offset of the next whole record between two offsets,
// -1 where there is none. It looks for the first bytes of a gzip member or zstd
// frame and tries each.
func nextMember(f io.ReaderAt, from, to int64) int64 {
	const magic = 3
	buf := make([]byte, 64<<10)
	for from < to {
		n, _ := f.ReadAt(buf[:min(int64(len(buf)), to-from)], from)
		if n < magic {
			return -1
		}
		for at := range n - magic + 1 {
			if m := string(buf[at : at+magic]); (m == "\x1f\x8b\x08" || m == "\x28\xb5\x2f") && wholeRecord(f, from+int64(at), to) {
				return from + int64(at)
			}
		}
		from += int64(n - magic + 1)
	}
	return -1
}

func wholeRecord(f io.ReaderAt, at, to int64) bool {
	r := warc.NewReader(io.NewSectionReader(f, at, to-at), at)
	_, err := r.Next()
	return err == nil && finish(r) == nil
}

// finish ends a record, which has its gzip member for itself.
func finish(r *warc.Reader) error {
	if err := r.Finish(); err != nil || !r.InMember() {
		return err
	}
	return fmt.Errorf("%w: its gzip member does not end with it", warc.ErrFormat)
}
