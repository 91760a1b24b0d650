package container

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"octopus"
	"octopus/internal/durable"
)

// Store is what a container does for those who keep pages in it: one directory
// (Container), several (Partitions), or a server on the network.
type Store interface {
	Put(ctx context.Context, e Entry) (Result, error)
	Get(ctx context.Context, u octopus.URL) (*Stored, error)
	Versions(ctx context.Context, u octopus.URL) ([]Version, error)
	Digest(digest string) (url string, ok bool)
}

var (
	_ Store = (*Container)(nil)
	_ Store = (*Partitions)(nil)
)

// Partitions is several containers, each with an equal part of the key space:
// over several disks, or the parts of a key range that moves between nodes. The
// number and order of the directories must stay the same; a file PARTITION in each
// says which it is. Pages of one site lie in one partition. A payload is stored once in each partition that has it;
// Digest looks in all.
type Partitions struct{ parts []*Container }

// OpenPartitions opens a container in each directory, with opt for the rest.
func OpenPartitions(opt Options, dirs ...string) (*Partitions, error) {
	if len(dirs) == 0 {
		return nil, errors.New("container: no directory for the partitions")
	}
	p := &Partitions{}
	for _, dir := range dirs {
		opt.Dir = dir
		c, err := Open(opt)
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		p.parts = append(p.parts, c)
	}
	if err := p.mark(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// partitionFile holds one line such as "2 of 3".
const partitionFile = "PARTITION"

// mark writes which partition each directory is, where all of them are new, and
// compares it else: with directories missing, swapped or added pages would not be
// found any more.
func (p *Partitions) mark() error {
	marks, marked := make([]string, len(p.parts)), 0
	for i, c := range p.parts {
		var err error
		if marks[i], err = c.partition(); err != nil {
			return err
		}
		if marks[i] != "" {
			marked++
		} else if len(p.parts) > 1 && c.Stat().Versions > 0 {
			return fmt.Errorf("container: %s has pages and was no partition before; import them", c.opt.Dir)
		}
	}
	for i, c := range p.parts {
		want := fmt.Sprintf("%d of %d", i+1, len(p.parts))
		if marked > 0 && marks[i] != want {
			return fmt.Errorf("container: %s should be partition %s, and is %q; name the directories that were there in their order", c.opt.Dir, want, marks[i])
		}
		if marked > 0 {
			continue
		}
		err := durable.WriteFile(c.opt.FS, c.opt.FS.PathJoin(c.opt.Dir, partitionFile), func(w io.Writer) error {
			_, err := io.WriteString(w, want+"\n")
			return err
		})
		if err != nil {
			return fmt.Errorf("container: %w", err)
		}
	}
	return nil
}

// partition returns what partitionFile says, "" where there is none.
func (c *Container) partition() (string, error) {
	f, err := c.opt.FS.Open(c.opt.FS.PathJoin(c.opt.Dir, partitionFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("container: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, 64))
	return strings.TrimSpace(string(text)), errors.Join(err, f.Close())
}

// Of returns the partition that has a URL.
func (p *Partitions) Of(u octopus.URL) *Container {
	n := uint64(binary.BigEndian.Uint32(u.Key[:4])) * uint64(len(p.parts)) >> 32
	return p.parts[n]
}

// All returns the partitions, in the order of their directories.
func (p *Partitions) All() []*Container { return p.parts }

// Put implements Store; see Container.Put.
func (p *Partitions) Put(ctx context.Context, e Entry) (Result, error) {
	if e.Page == nil {
		return Result{}, errors.New("container: a page without URL")
	}
	return p.Of(e.Page.URL()).Put(ctx, e)
}

// Get implements Store; see Container.Get.
func (p *Partitions) Get(ctx context.Context, u octopus.URL) (*Stored, error) {
	return p.Of(u).Get(ctx, u)
}

// At returns the version that was newest at t; see Container.At.
func (p *Partitions) At(ctx context.Context, u octopus.URL, t time.Time) (*Stored, error) {
	return p.Of(u).At(ctx, u, t)
}

// Versions implements Store; see Container.Versions.
func (p *Partitions) Versions(ctx context.Context, u octopus.URL) ([]Version, error) {
	return p.Of(u).Versions(ctx, u)
}

// Delete stores a tombstone; see Container.Delete.
func (p *Partitions) Delete(ctx context.Context, u octopus.URL) error { return p.Of(u).Delete(ctx, u) }

// Digest implements Store.
func (p *Partitions) Digest(digest string) (url string, ok bool) {
	for _, c := range p.parts {
		if url, ok = c.Digest(digest); ok {
			return url, true
		}
	}
	return "", false
}

// Close closes all partitions.
func (p *Partitions) Close() error {
	var errs []error
	for i, c := range p.parts {
		if err := c.Close(); err != nil {
			errs = append(errs, fmt.Errorf("partition %d: %w", i, err))
		}
	}
	return errors.Join(errs...)
}
