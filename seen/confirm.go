package seen

import (
	"sync/atomic"

	"octopus"
)

// Confirm tells whether a key is really recorded, from the place that has it
// for certain: the URL records on disk. It must know every key whose batch has
// been committed; it is asked where a filter says "maybe".
type Confirm func(k octopus.Key) (bool, error)

// checked is a filter in front of an exact answer: what the filter does not
// have is fresh, what it may have is asked of confirm. Without confirm the
// filter's word counts.
//
// A key passes through pending while its batch is on its way, and enters the
// filter when it is committed, before it leaves pending: so one of the two has
// it at any moment.
type checked struct {
	filter  interface{ has(fp uint64) bool }
	pending *pending
	confirm Confirm // may be nil
	recent  *recent // confirmed before; nil without confirm
}

// add records a key, and reports whether it is fresh.
func (c *checked) add(k octopus.Key, fp uint64) (bool, error) {
	if c.confirm == nil && c.filter.has(fp) || c.confirm != nil && c.recent.has(fp) {
		return false, nil
	}
	if !c.pending.add(fp) {
		return false, nil
	}
	// Only now: whoever committed the key has put it into the filter before it
	// left pending.
	known, err := c.stored(k, fp)
	if known || err != nil {
		c.pending.remove(fp)
	}
	return !known, err
}

// has reports whether a key was met.
func (c *checked) has(k octopus.Key, fp uint64) (bool, error) {
	if c.pending.has(fp) || c.confirm != nil && c.recent.has(fp) {
		return true, nil
	}
	return c.stored(k, fp)
}

// stored reports whether a key is committed.
func (c *checked) stored(k octopus.Key, fp uint64) (bool, error) {
	if !c.filter.has(fp) {
		return false, nil
	}
	if c.confirm == nil {
		return true, nil
	}
	known, err := c.confirm(k)
	if known && err == nil {
		c.recent.put(fp)
	}
	return known, err
}

// recent is a small table of confirmed fingerprints: a link that is met again
// and again costs one disk read, not many. A newer one overwrites an older.
type recent struct{ slots []uint64 }

func newRecent(bytes int64) *recent { return &recent{make([]uint64, max(bytes/8, 1024))} }

func (r *recent) slot(fp uint64) *uint64 { return &r.slots[fp%uint64(len(r.slots))] }

func (r *recent) has(fp uint64) bool { return atomic.LoadUint64(r.slot(fp)) == nonzero(fp) }
func (r *recent) put(fp uint64)      { atomic.StoreUint64(r.slot(fp), nonzero(fp)) }
