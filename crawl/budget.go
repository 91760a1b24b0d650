package crawl

import (
	"context"
	"math"
	"sync"
)

// budget counts the leases that may still become pages. A lease takes one unit;
// an outcome that brought no page gives it back. So a page limit is never
// passed, and never missed because of redirects and errors.
type budget struct {
	mu      sync.Mutex
	free    int64         // guarded by mu: units left
	out     int64         // guarded by mu: units taken by leases under way
	changed chan struct{} // guarded by mu: closed when free or out changes while somebody waits
}

// newBudget returns a budget of limit pages, of which before are spent; without
// limit it never runs out.
func newBudget(limit, before int64) *budget {
	if limit <= 0 {
		return &budget{free: math.MaxInt64 / 2}
	}
	return &budget{free: max(limit-before, 0)}
}

// take takes 1 to most units. It waits while all units are with leases under
// way, and returns 0 once none is left at all, or ctx ends.
func (b *budget) take(ctx context.Context, most int) int {
	for {
		b.mu.Lock()
		if n := min(int64(most), b.free); n > 0 {
			b.free -= n
			b.out += n
			b.mu.Unlock()
			return int(n)
		}
		if b.out == 0 {
			b.mu.Unlock()
			return 0
		}
		if b.changed == nil {
			b.changed = make(chan struct{})
		}
		wait := b.changed
		b.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return 0
		}
	}
}

// giveBack returns n units of leases that became no page.
func (b *budget) giveBack(n int) { b.settle(n, n) }

// spend settles one lease that became a page.
func (b *budget) spend() { b.settle(1, 0) }

func (b *budget) settle(out, free int) {
	if out == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.out -= int64(out)
	b.free += int64(free)
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}
