package node

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"octopus"
	"octopus/board"
	"octopus/sink"
)

// diskPeriod is the time between two looks at the disk.
const diskPeriod = 250 * time.Millisecond

// valve stops the leasing of a crawl while the disk has no room, and lets it go
// on by itself.
type valve struct {
	mu     sync.Mutex
	reason string        // guarded by mu: why it is shut; empty while it is open
	opened chan struct{} // guarded by mu: closed when it opens; nil while it is open
}

// set shuts the valve with a reason, or opens it with none.
func (v *valve) set(reason string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case reason != "" && v.opened == nil:
		v.opened = make(chan struct{})
	case reason == "" && v.opened != nil:
		close(v.opened)
		v.opened = nil
	}
	v.reason = reason
}

// why returns why the valve is shut; empty while it is open.
func (v *valve) why() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.reason
}

// wait returns once the valve is open, or ctx ends.
func (v *valve) wait(ctx context.Context) error {
	for {
		v.mu.Lock()
		opened := v.opened
		v.mu.Unlock()
		if opened == nil {
			return nil
		}
		select {
		case <-opened:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// gated is the gate behind the valve and the bound of the outbox.
type gated struct {
	*board.Gate
	valve  *valve
	outbox *sink.Outbox // nil without outputs
}

var _ octopus.Releaser = gated{}

// Lease is Gate.Lease, while there is room on the disk and in the outbox.
func (g gated) Lease(ctx context.Context, most int) ([]octopus.Lease, error) {
	if err := g.valve.wait(ctx); err != nil {
		return nil, err
	}
	if g.outbox != nil {
		if err := g.outbox.Room(ctx); err != nil {
			return nil, err
		}
	}
	return g.Gate.Lease(ctx, most)
}

// watchDisk looks at the disk until ctx ends.
func (n *Node) watchDisk(ctx context.Context) {
	tick := time.NewTicker(diskPeriod)
	defer tick.Stop()
	for {
		n.lookAtDisk(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// lookAtDisk shuts the valve where there is no room, makes some where it may, and
// opens it where there is.
func (n *Node) lookAtDisk(ctx context.Context) {
	before, now := n.valve.why(), n.diskFull()
	for now != "" && n.dropOldest(ctx, now) {
		now = n.diskFull()
	}
	n.valve.set(now)
	if (before == "") != (now == "") {
		n.log.Warn("disk", "paused", now != "", "why", now)
	}
}

// dropOldest gives up the oldest pages for room below --max-disk, where the
// configuration says so. It reports whether there was something to give up.
func (n *Node) dropOldest(ctx context.Context, why string) bool {
	if n.cfg.Store.WhenFull != "oldest" || n.pages == nil || n.freeDiskShort() != "" {
		return false
	}
	n.valve.set(why)
	sum, err := n.pages.c.DropOldest(ctx)
	if err != nil {
		n.log.Error("the oldest pages cannot be given up", "err", err)
		return false
	}
	if sum.Segments > 0 {
		n.log.Warn("the oldest pages were given up for room", "pages", sum.Dropped, "bytes", sum.Bytes)
	}
	return sum.Segments > 0
}

// diskFull says why nothing more may be written; empty where it may. What is
// under way may still come: room for it, at most a tenth of the bound, is kept.
func (n *Node) diskFull() string {
	c := &n.cfg
	if limit := int64(c.Store.MaxDisk); limit > 0 {
		used := dirBytes(c.Dir)
		coming := min(limit/10, int64(c.Fetcher.Concurrency)*int64(c.Fetcher.MaxBody))
		if used > limit-coming {
			return fmt.Sprintf("paused: %s holds %s of --max-disk %s", c.Dir, Size(used/1e5*1e5), c.Store.MaxDisk)
		}
	}
	return n.freeDiskShort()
}

// freeDiskShort says that others have filled the disk; empty where they have not.
func (n *Node) freeDiskShort() string {
	c := &n.cfg
	if least := int64(c.Store.MinFreeDisk); least > 0 {
		if free, ok := freeBytes(c.Dir); ok && free < least {
			return fmt.Sprintf("paused: %s free on the disk of %s, less than --min-free-disk %s", Size(free/1e5*1e5), c.Dir, c.Store.MinFreeDisk)
		}
	}
	return ""
}

// dirBytes adds up the files below dir. Files that vanish meanwhile, as those of
// the store do, do not count.
func dirBytes(dir string) (sum int64) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// startDisk looks at the disk once, and then in the background until the
// function it returns is called.
func (n *Node) startDisk(ctx context.Context) (stop func()) {
	c := &n.cfg.Store
	if c.Discard || c.MaxDisk == 0 && c.MinFreeDisk == 0 {
		return func() {}
	}
	n.lookAtDisk(ctx)
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() { n.watchDisk(ctx) })
	return func() { cancel(); done.Wait() }
}
