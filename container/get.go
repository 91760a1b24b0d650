package container

import (
	"bytes"
	"cmp"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"octopus"
	"octopus/warc"
)

// Get returns the newest version of a URL, or ErrNotFound. For the page of a
// request with method or body, u.Key must be that of the request (canon.Key).
func (c *Container) Get(ctx context.Context, u octopus.URL) (*Stored, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return again(func() (*Stored, error) {
		s, _, err := c.newest(u)
		if err != nil {
			return nil, err
		}
		return s, c.follow(s)
	})
}

// Digest returns the URL of the record that holds the payload with a digest.
// Only committed pages are known.
func (c *Container) Digest(digest string) (url string, ok bool) {
	sum, ok := warc.ParseDigest(digest)
	if !ok {
		return "", false
	}
	_, at, ok := c.byDigest(sum)
	if !ok {
		return "", false
	}
	rec, err := c.head(at)
	if err != nil {
		return "", false
	}
	return rec.TargetURI, true
}

// newest reads the newest version of u; a revisit is not followed yet.
func (c *Container) newest(u octopus.URL) (*Stored, address, error) {
	at, err := c.newestAt(&keyEntry{key: u.Key})
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", u.Text, err)
	}
	if at == 0 {
		return nil, 0, fmt.Errorf("%s: %w", u.Text, ErrNotFound)
	}
	if !at.late() {
		s, key, err := c.read(at)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", u.Text, err)
		}
		if s.URL == u.Text && sameRequest(key, u) {
			if s.Kind == Tombstone {
				err = fmt.Errorf("%s: %w", u.Text, ErrNotFound)
			}
			return s, at, err
		}
	}
	return c.newestOf(u, math.MaxInt64)
}

// sameRequest compares the key a record carries, if any, with that of u.
func sameRequest(key string, u octopus.URL) bool {
	if key != "" {
		return strings.HasSuffix(key, u.Key.String()[16:])
	}
	sum := md5.Sum([]byte(u.Text))
	return bytes.Equal(sum[:8], u.Key[8:])
}

// payloadOf finds the record that holds the payload of u's newest version that is
// not later than until, in milliseconds.
func (c *Container) payloadOf(u octopus.URL, until int64) (keyEntry, address, bool) {
	s, at, err := c.newest(u)
	if err == nil && s.Time.UnixMilli() > until {
		_, at, err = c.newestOf(u, until)
	}
	if err != nil {
		return keyEntry{}, 0, false
	}
	e, err := c.entryAt(at)
	if err != nil || e.digest == [20]byte{} {
		return e, at, false
	}
	return c.byDigest(e.digest) // never e itself: a rewrite may be about to drop it
}

// byDigest finds the record that holds the payload with a digest.
func (c *Container) byDigest(sum [20]byte) (keyEntry, address, bool) {
	var buf [4]address
	found, _ := c.payloads.find(buf[:0], digestHash(sum, c.secret)) // what can't be read is stored again
	for _, at := range found {
		if e, err := c.entryAt(at); err == nil && e.digest == sum && e.kind == Full {
			return e, at, true
		}
	}
	return keyEntry{}, 0, false
}

// follow gives a revisit its payload: one more read, of the record that the
// payload index knows, or else of the one that the revisit's key entry names.
func (c *Container) follow(s *Stored) error {
	if s.Kind == Full {
		return nil
	}
	sum, _ := warc.ParseDigest(s.Digest)
	var buf [4]address
	candidates, cause := c.payloads.find(buf[:0], digestHash(sum, c.secret))
	if at := c.dyingAt(sum); at != 0 {
		candidates = append(candidates, at)
	}
	if len(candidates) == 0 {
		if e, err := c.entryAt(makeAddress(s.Ref.Segment, s.Ref.Offset, s.Ref.Length)); err == nil && e.target != 0 {
			candidates = append(candidates, e.target)
		}
	}
	cause = cmp.Or(cause, ErrCorrupt)
	for _, at := range candidates {
		o, _, err := c.read(at)
		if err != nil {
			cause = err
			continue
		}
		if o.Kind != Full || o.Digest != s.Digest {
			continue
		}
		s.Body, s.RefersTo, s.RefersToTime, s.Truncated = o.Body, o.URL, o.Time, o.Truncated
		if s.Kind == NotModified {
			s.Status, s.Header = o.Status, o.Header
		}
		return nil
	}
	return fmt.Errorf("%s: segment %d at offset %d: the payload %s that it refers to can't be read: %w", s.URL, s.Ref.Segment, s.Ref.Offset, s.Digest, cause)
}

// leastRecord is less than any metadata record takes, in bytes: it has two IDs and
// a URL.
const leastRecord = 100

// unpacker is what reading a unit needs, kept from read to read.
type unpacker struct {
	warc.Decoder
	buf []byte // the unit as it lies on disk; not kept where it is long
}

func (c *Container) unpacker() *unpacker {
	if u, ok := c.unpackers.Get().(*unpacker); ok {
		return u
	}
	return &unpacker{}
}

// load reads length bytes, or what there is of them.
func (u *unpacker) load(f io.ReaderAt, at, length int64) ([]byte, error) {
	buf := u.buf
	if int64(cap(buf)) < length {
		buf = make([]byte, length)
		if length <= maxJoined {
			u.buf = buf
		}
	}
	n, err := f.ReadAt(buf[:length], at)
	if err == io.EOF {
		err = nil
	}
	return buf[:n], err
}

// read reads and checks the unit at an address. key is what the record says of
// its request, if anything.
func (c *Container) read(at address) (s *Stored, key string, err error) {
	seg, err := c.acquire(at.segment())
	if err != nil {
		return nil, "", err
	}
	defer seg.release()
	u := c.unpacker()
	defer c.unpackers.Put(u)
	buf, err := u.load(seg.warc, at.offset(), at.length())
	if err != nil {
		return nil, "", fmt.Errorf("%s%s at offset %d: %w", seg.path, seg.suffix, at.offset(), err)
	}
	s, key, err = u.decode(buf, at)
	if err != nil {
		return nil, "", fmt.Errorf("%s%s at offset %d: %w: %w", seg.path, seg.suffix, at.offset(), ErrCorrupt, err)
	}
	return s, key, nil
}

// decode reads a unit, for which the checksum of its member vouches. What follows
// it in buf is not looked at.
func (u *unpacker) decode(buf []byte, at address) (*Stored, string, error) {
	rec, block, n, err := u.Decode(buf)
	if err != nil {
		return nil, "", err
	}
	s := &Stored{URL: rec.TargetURI, Time: rec.Date, IP: rec.IP, Truncated: rec.Truncated, Digest: rec.PayloadDigest}
	if s.Kind = recordKind(rec, block); s.Kind == 0 {
		return nil, "", fmt.Errorf("a %s record where a page should be", rec.Type)
	}
	if s.Kind != Tombstone {
		if s.Status, s.Header, s.Body, err = warc.ParseHTTP(block); err != nil {
			return nil, "", err
		}
	}
	if s.Kind == Full {
		s.Body = bytes.Clone(s.Body)
	}
	s.record = int64(n)
	s.Ref = Ref{at.segment(), at.offset(), s.record}
	// The next record may be this one's metadata. Where it is not, it may well
	// be cut: the buffer ends somewhere.
	if len(buf)-n < leastRecord {
		return s, rec.Get(keyField), nil
	}
	next, fields, m, err := u.Decode(buf[n:])
	if err == nil && next.Type == warc.Metadata && len(next.ConcurrentTo) == 1 && next.ConcurrentTo[0] == rec.ID {
		s.Meta, s.Ref.Length = warc.ParseFields(fields), int64(n+m)
	}
	return s, rec.Get(keyField), nil
}

// recordKind says what a record is to the container; 0 means nothing.
func recordKind(rec *warc.Record, block []byte) Kind {
	switch {
	case rec.Type == warc.Response && strings.HasPrefix(rec.ContentType, "application/http"):
		return Full
	case rec.Type == warc.Revisit && rec.Profile == warc.SamePayload:
		return Same
	case rec.Type == warc.Revisit && rec.Profile == warc.NotModified:
		return NotModified
	case rec.Type == warc.Metadata && bytes.HasPrefix(block, []byte(tombstoneField+":")):
		return Tombstone
	}
	return 0
}

// head reads the WARC header of the record at an address.
func (c *Container) head(at address) (*warc.Record, error) {
	seg, err := c.acquire(at.segment())
	if err != nil {
		return nil, err
	}
	defer seg.release()
	r, ok := c.readers.Get().(*warc.Reader)
	in := io.NewSectionReader(seg.warc, at.offset(), at.length())
	if ok {
		r.Reset(in, at.offset())
	} else {
		r = warc.NewReader(in, at.offset())
	}
	defer c.readers.Put(r)
	rec, err := r.Next()
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", seg.path, seg.suffix, noEOF(err))
	}
	return rec, nil
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
