package container

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"octopus/internal/durable"
	"octopus/warc"
)

// Suffixes of the two files of a segment; the first is one of two.
const (
	gzipSuffix = ".warc.gz"
	zstdSuffix = ".warc.zst"
	keySuffix  = ".key"
)

// segment is a pair of open files: a WARC file and its key file.
type segment struct {
	number int
	path   string // of both files, without suffix
	suffix string // of the WARC file: how its records are compressed
	warc   durable.File
	key    durable.File
	first  int64 // offset of the first unit
	short  bool  // the WARC file lost its end: nothing is appended

	salvaged []keyEntry // copied from its torn tail to a new segment; set while it is opened

	life sync.RWMutex // held for reading by who reads the files, for writing to close them

	mu      sync.RWMutex // guards what follows
	size    int64        // bytes of whole records in the WARC file
	written int          // entries in the key file
	waiting []keyEntry   // entries that follow those, not written yet
}

// segmentName returns the name of a new segment without suffix: the one
// that WARC files usually have, prefix-timestamp-serial.
func segmentName(number int, now time.Time) string {
	return fmt.Sprintf("octopus-%s-%08d", now.UTC().Format("20060102150405"), number)
}

// parseSegmentName returns the number in a file name of ours; 0 for another file.
func parseSegmentName(name string) (number int, stem, suffix string) {
	stem, suffix = cutWARC(name)
	i := strings.LastIndexByte(stem, '-')
	if suffix == "" || i < 0 || !strings.HasPrefix(stem, "octopus-") {
		return 0, "", ""
	}
	number, err := strconv.Atoi(stem[i+1:])
	if err != nil || number <= 0 || number >= 1<<20 {
		return 0, "", ""
	}
	return number, stem, suffix
}

// cutWARC cuts the suffix off the name of a WARC file.
func cutWARC(name string) (stem, suffix string) {
	for _, suffix := range []string{gzipSuffix, zstdSuffix} {
		if stem, ok := strings.CutSuffix(name, suffix); ok {
			return stem, suffix
		}
	}
	return name, ""
}

// createSegment makes the files of a segment, durably: a WARC file with its
// warcinfo record, and a key file without entries.
// Its number is a new one even where an earlier attempt failed.
func (c *Container) createSegment(enc *encoder) (*segment, error) {
	c.lastNumber++
	number, now := c.lastNumber, c.opt.Now()
	if number >= 1<<20 {
		return nil, fmt.Errorf("segment %d: addresses have room for %d", number, 1<<20-1)
	}
	stem := segmentName(number, now)
	s := &segment{number: number, path: c.opt.FS.PathJoin(c.opt.Dir, stem), suffix: enc.suffix}
	info, err := enc.Append(nil, &warc.Record{
		Type: warc.Warcinfo, ID: warc.NewID(), Date: now, Filename: stem + enc.suffix, ContentType: warc.WARCFields,
	}, c.warcinfo())
	if err != nil {
		return nil, err
	}
	s.first, s.size = int64(len(info)), int64(len(info))
	if s.warc, err = durable.Create(c.opt.FS, s.path+s.suffix); err != nil {
		return nil, err
	}
	if s.key, err = durable.Create(c.opt.FS, s.path+keySuffix); err != nil {
		return nil, errors.Join(err, s.close())
	}
	// The key file vouches for what it speaks of, so it comes second.
	_, err = s.warc.WriteAt(info, 0)
	if err == nil {
		err = s.warc.Sync()
	}
	if err == nil {
		_, err = s.key.WriteAt(keyHeader{s.first, durable.CRC(info)}.append(nil, number), 0)
	}
	if err := errors.Join(err, s.key.Sync()); err != nil {
		return nil, errors.Join(fmt.Errorf("new segment %s: %w", s.path, err), s.close())
	}
	if err := durable.SyncDir(c.opt.FS, c.opt.Dir); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// warcinfo is the block of the record that every segment begins with.
func (c *Container) warcinfo() []byte {
	return warc.Fields(
		warc.Field{Name: "software", Value: c.opt.Software},
		warc.Field{Name: "operator", Value: c.opt.Operator},
		warc.Field{Name: "http-header-user-agent", Value: c.opt.UserAgent},
		warc.Field{Name: "format", Value: "WARC File Format 1.1"},
		warc.Field{Name: "conformsTo", Value: "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
	)
}

func (s *segment) close() error {
	var errs []error
	for _, f := range []io.Closer{s.warc, s.key} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// find returns the entry of the unit at offset.
func (s *segment) find(offset int64) (keyEntry, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	byOffset := func(e keyEntry, o int64) int { return int(e.offset - o) }
	if i, ok := slices.BinarySearchFunc(s.waiting, offset, byOffset); ok {
		return s.waiting[i], nil
	}
	_, e, err := s.search(offset)
	return e, err
}

// search finds an entry in the key file, by halving: entries are in the order
// of their offsets. s.mu is held.
func (s *segment) search(offset int64) (index int, e keyEntry, err error) {
	lo, hi := 0, s.written
	for lo < hi {
		mid := (lo + hi) / 2
		e, err := s.readEntry(mid)
		switch {
		case err != nil:
			return 0, e, err
		case e.offset == offset:
			return mid, e, nil
		case e.offset < offset:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0, keyEntry{}, fmt.Errorf("%s%s: no entry for the record at offset %d: %w", s.path, keySuffix, offset, ErrCorrupt)
}

// readEntry reads the i-th entry of the key file.
func (s *segment) readEntry(i int) (keyEntry, error) {
	var buf [keyEntrySize]byte
	at := int64(keyHeaderSize + i*keyEntrySize)
	if _, err := s.key.ReadAt(buf[:], at); err != nil {
		return keyEntry{}, fmt.Errorf("%s%s at offset %d: %w", s.path, keySuffix, at, err)
	}
	e, ok := parseKeyEntry(buf[:])
	if !ok {
		return e, fmt.Errorf("%s%s at offset %d: %w", s.path, keySuffix, at, ErrCorrupt)
	}
	return e, nil
}

// writeKeys writes the waiting entries to the key file. It does not sync.
func (s *segment) writeKeys() error {
	s.mu.RLock()
	waiting, at := s.waiting, int64(keyHeaderSize+s.written*keyEntrySize)
	s.mu.RUnlock()
	if len(waiting) == 0 {
		return nil
	}
	buf := make([]byte, 0, len(waiting)*keyEntrySize)
	for i := range waiting {
		buf = waiting[i].append(buf)
	}
	if _, err := s.key.WriteAt(buf, at); err != nil {
		return fmt.Errorf("write %s%s: %w", s.path, keySuffix, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written += len(waiting)
	s.waiting = nil
	return nil
}

// startSegment makes a new active segment. c.mu is held.
func (c *Container) startSegment() error {
	s, err := c.createSegment(&c.enc)
	if err != nil {
		return err
	}
	c.segMu.Lock()
	defer c.segMu.Unlock()
	c.segments[s.number], c.active = s, s
	return nil
}
