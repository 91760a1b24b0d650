package container

import (
	"context"
	"fmt"
	"slices"
	"time"

	"octopus"
	"octopus/warc"
)

// Version is one line of a URL's history.
type Version struct {
	Time   time.Time
	Kind   Kind
	Digest string // of the payload; empty where there is none
	Ref    Ref
}

// link is an entry of a chain and where its unit lies.
type link struct {
	keyEntry
	at address
}

// maxVersions bounds the walk along a chain: the files are damaged where one is
// longer.
const maxVersions = 1 << 20

// chain returns all entries stored for a request, the one stored last first. A
// rewrite moves versions to the front of their chain; who walks it meanwhile might
// miss one, and walks again.
func (c *Container) chain(k octopus.Key) ([]link, error) {
	moves := c.movesOf(keyHash(k, c.secret))
	for range 8 {
		before := moves.Load()
		if all, err := c.walk(k); before%2 == 0 && before == moves.Load() {
			return all, err
		}
	}
	c.mu.Lock() // nobody comes here who holds it: then nothing moves
	defer c.mu.Unlock()
	return c.walk(k)
}

func (c *Container) walk(k octopus.Key) ([]link, error) {
	var all []link
	at, err := c.newestAt(&keyEntry{key: k})
	for at != 0 {
		e, err := c.entryAt(at)
		if err != nil {
			return all, err
		}
		if len(all) == maxVersions {
			return all, fmt.Errorf("key %v: more than %d versions: its chain leads back to itself; octopus store rebuild makes the key files anew", k, maxVersions)
		}
		all = append(all, link{e, at})
		at = e.prev
	}
	return all, err
}

// history returns the versions of a request that are not deleted, newest
// first: by time, and among those of one time the one stored last first. What
// was stored twice counts once. Requests of other URLs with the same hash, which
// nobody meets but by intent, are still among them.
func (c *Container) history(k octopus.Key) ([]link, error) {
	all, err := c.chain(k)
	return visible(all), err
}

func visible(all []link) []link {
	deleted := int64(-1 << 62)
	for i := range all {
		if all[i].kind == Tombstone {
			deleted = max(deleted, all[i].time)
		}
	}
	all = slices.DeleteFunc(slices.Clone(all), func(l link) bool { return l.kind == Tombstone || l.time <= deleted })
	slices.SortStableFunc(all, func(a, b link) int {
		if a.time != b.time {
			return int(max(-1, min(1, b.time-a.time)))
		}
		return int(a.kind) - int(b.kind) // a full record before the revisit that it replaces
	})
	return slices.CompactFunc(all, func(a, b link) bool {
		return a.time == b.time && a.digest == b.digest && a.key == b.key && a.digest != [20]byte{}
	})
}

// newestOf finds the newest version of u that is not later than until (in
// milliseconds) by its whole history, reading records until one is u's.
func (c *Container) newestOf(u octopus.URL, until int64) (*Stored, address, error) {
	all, err := c.history(u.Key)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", u.Text, err)
	}
	for _, l := range all {
		if l.time > until {
			continue
		}
		s, key, err := c.read(l.at)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", u.Text, err)
		}
		if s.URL == u.Text && sameRequest(key, u) {
			return s, l.at, nil
		}
	}
	return nil, 0, fmt.Errorf("%s: %w", u.Text, ErrNotFound)
}

// Versions returns what is stored of a URL and not deleted, newest first. It
// reads key files only.
func (c *Container) Versions(ctx context.Context, u octopus.URL) ([]Version, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all, err := again(func() ([]link, error) { return c.history(u.Key) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u.Text, err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: %w", u.Text, ErrNotFound)
	}
	versions := make([]Version, len(all))
	for i := range all {
		versions[i] = all[i].version()
	}
	return versions, nil
}

func (l *link) version() Version {
	v := Version{Time: l.when(), Kind: l.kind, Ref: Ref{l.at.segment(), l.offset, l.length}}
	if l.digest != [20]byte{} {
		v.Digest = warc.FormatDigest(l.digest)
	}
	return v
}

// At returns the version that was newest at t: the last whose capture began at
// t or before. It is ErrNotFound where there was none, or it was deleted.
func (c *Container) At(ctx context.Context, u octopus.URL, t time.Time) (*Stored, error) {
	return again(func() (*Stored, error) { return c.at(ctx, u, t) })
}

func (c *Container) at(ctx context.Context, u octopus.URL, t time.Time) (*Stored, error) {
	all, err := c.Versions(ctx, u)
	if err != nil {
		return nil, err
	}
	for _, v := range all {
		if v.Time.After(t) {
			continue
		}
		s, err := c.Read(ctx, v.Ref)
		if err != nil {
			return nil, err
		}
		if s.URL == u.Text {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%s at %s: %w", u.Text, t.UTC().Format(time.RFC3339), ErrNotFound)
}

// Read returns the version at a Ref that Put, Versions or Get gave. It is ErrGone
// where a rewrite has moved it since: ask for the versions again.
func (c *Container) Read(ctx context.Context, r Ref) (*Stored, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, _, err := c.read(makeAddress(r.Segment, r.Offset, r.Length))
	if err != nil {
		return nil, err
	}
	return s, c.follow(s)
}

// CDX returns the index lines of a URL's versions, newest first: what a CDX
// server answers for an exact match.
func (c *Container) CDX(ctx context.Context, u octopus.URL) ([]warc.CDX, error) {
	return again(func() ([]warc.CDX, error) { return c.lines(ctx, u) })
}

func (c *Container) lines(ctx context.Context, u octopus.URL) ([]warc.CDX, error) {
	versions, err := c.Versions(ctx, u)
	if err != nil {
		return nil, err
	}
	var lines []warc.CDX
	for _, v := range versions {
		s, _, err := c.read(makeAddress(v.Ref.Segment, v.Ref.Offset, v.Ref.Length))
		if err != nil {
			return nil, err
		}
		line, err := c.cdx(s)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}
