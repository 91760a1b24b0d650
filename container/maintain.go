package container

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"octopus/warc"
)

// Report is what Verify found.
type Report struct {
	Segments, Records, Pages int64
	Bytes                    int64   // of segments read
	Errors                   []error // each names file and offset; at most 1000
}

// Verify reads every record of every segment and checks form, CRC and payload
// digest, the entry that the key file has of it, and that revisits find their
// payload. The error is that of the context or of the disk; what is wrong with
// the data is in the report. Compaction waits meanwhile.
func (c *Container) Verify(ctx context.Context, progress Progress) (Report, error) {
	c.rewriting.Lock()
	defer c.rewriting.Unlock()
	rep := Report{Errors: c.Damage()}
	segments := c.list()
	total := int64(0)
	for _, s := range segments {
		total += s.bytes()
	}
	for _, s := range segments {
		if err := c.verifySegment(ctx, s, &rep, func(n int64) { progress.report(rep.Bytes+n, total) }); err != nil {
			return rep, err
		}
		rep.Segments++
		rep.Bytes += s.bytes()
	}
	return rep, nil
}

const maxErrors = 1000

func (r *Report) add(err error) {
	if len(r.Errors) < maxErrors {
		r.Errors = append(r.Errors, err)
	}
}

func (c *Container) verifySegment(ctx context.Context, s *segment, rep *Report, at func(int64)) error {
	from, to := int64(0), s.bytes()
	next := 0 // entry of the key file
	for from < to {
		bad, err := scanUnits(s.warc, from, to, func(e keyEntry) {
			rep.Records++
			at(e.offset)
			next = c.verifyMissing(s, next, e.offset, rep)
			if err := c.verifyUnit(s, e); err != nil {
				rep.add(err)
			} else if e.kind != Tombstone {
				rep.Pages++
			}
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			break
		}
		err = fmt.Errorf("%s%s: %w", s.path, s.suffix, err)
		if !errors.Is(err, warc.ErrFormat) {
			return err
		}
		rep.add(err)
		if from = nextMember(s.warc, bad+1, to); from < 0 {
			break
		}
	}
	next = c.verifyMissing(s, next, to, rep)
	// What follows was stored meanwhile, or the file has lost its end.
	err := s.eachFrom(next, func(e keyEntry) error {
		if e.end() > s.bytes() {
			rep.add(fmt.Errorf("%s%s: the record at offset %d is behind the end of the file: %w", s.path, s.suffix, e.offset, ErrCorrupt))
		}
		return ctx.Err()
	})
	if errors.Is(err, ErrCorrupt) {
		rep.add(err)
		return nil
	}
	return err
}

// verifyMissing reports the entries from the n-th on that speak of records
// before offset, which were not found, and returns the number of the entry after
// the one of offset.
func (c *Container) verifyMissing(s *segment, n int, offset int64, rep *Report) int {
	for ; ; n++ {
		e, err := s.entry(n)
		switch {
		case err == io.EOF || err == nil && e.offset > offset:
			return n
		case err != nil:
			rep.add(err)
		case e.offset == offset:
			return n + 1
		default:
			rep.add(fmt.Errorf("%s%s: the record at offset %d is not readable: %w", s.path, s.suffix, e.offset, ErrCorrupt))
		}
	}
}

// verifyUnit compares what the WARC says of a unit with its key entry.
func (c *Container) verifyUnit(s *segment, e keyEntry) error {
	k, err := s.find(e.offset)
	if err != nil {
		return err
	}
	if k.key != e.key || k.digest != e.digest || k.length != e.length || k.time != e.time || k.kind != e.kind {
		return fmt.Errorf("%s%s: the entry of the record at offset %d says something else than the record: %w", s.path, keySuffix, e.offset, ErrCorrupt)
	}
	// A revisit that is deleted may outlive its payload, until it is compacted too.
	if l := (link{k, k.address(s.number)}); c.bereft(l) && c.chained(l) && !c.deleted(l, 0) {
		return fmt.Errorf("%s%s at offset %d: its payload %s is not stored: %w", s.path, s.suffix, e.offset, warc.FormatDigest(e.digest), ErrCorrupt)
	}
	return nil
}

// Scan calls visit for what Get gives of every URL, with payload, in the order in
// which they were last stored. The visit function may use the container, but
// compaction and purges wait until the end. Versions stored after the scan began
// may be missing. An error of visit ends it.
func (c *Container) Scan(ctx context.Context, visit func(*Stored) error) error {
	c.rewriting.Lock()
	defer c.rewriting.Unlock()
	return c.scanNewest(ctx, visit)
}

// scanNewest is Scan for who holds c.rewriting.
func (c *Container) scanNewest(ctx context.Context, visit func(*Stored) error) error {
	for _, s := range c.list() {
		err := s.each(func(e keyEntry) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			l := link{e, e.address(s.number)}
			v, err := again(func() (*Stored, error) { return c.newestFrom(l) })
			if err == nil && v != nil {
				err = c.follow(v)
			}
			if err != nil || v == nil {
				return err
			}
			return visit(v)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// newestFrom reads the newest version of the request whose chain begins with l;
// nil where it does not, or where all is deleted. Only of a late one is that not
// l itself.
func (c *Container) newestFrom(l link) (*Stored, error) {
	head, err := c.newestAt(&l.keyEntry)
	if err != nil || head.place() != l.at.place() || l.kind == Tombstone && !head.late() {
		return nil, err
	}
	if head.late() {
		all, err := c.history(l.key)
		if err != nil || len(all) == 0 {
			return nil, err
		}
		head = all[0].at
	}
	v, _, err := c.read(head)
	return v, err
}

// entry returns the i-th entry, or io.EOF.
func (s *segment) entry(i int) (keyEntry, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if i >= s.written {
		if i -= s.written; i < len(s.waiting) {
			return s.waiting[i], nil
		}
		return keyEntry{}, io.EOF
	}
	return s.readEntry(i)
}

// list returns the segments in the order of their numbers.
func (c *Container) list() []*segment {
	c.segMu.RLock()
	defer c.segMu.RUnlock()
	all := make([]*segment, 0, len(c.segments))
	for _, s := range c.segments {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *segment) int { return cmp.Compare(a.number, b.number) })
	return all
}

// bytes returns the length of the whole records in the WARC file.
func (s *segment) bytes() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.size
}

// Stat is a snapshot of a container's size.
type Stat struct {
	Segments     int
	URLs         int64 // distinct, deleted ones included
	Payloads     int64 // distinct
	Versions     int64 // entries of all key files, tombstones included
	SegmentBytes int64 // of WARC files
	KeyBytes     int64 // of key files
	IndexBytes   int64 // memory of the address index
	DigestBytes  int64 // memory of the payload index
	Damage       int   // see Damage
}

// Stat returns the figures of now. It reads no page.
func (c *Container) Stat() Stat {
	var st Stat
	for _, s := range c.list() {
		s.mu.RLock()
		st.Segments++
		st.SegmentBytes += s.size
		st.Versions += int64(s.written + len(s.waiting))
		st.KeyBytes += int64(keyHeaderSize + s.written*keyEntrySize)
		s.mu.RUnlock()
	}
	st.URLs, st.IndexBytes = c.urls.size()
	st.Payloads, st.DigestBytes = c.payloads.size()
	st.Damage = len(c.Damage())
	return st
}
