package seen

import (
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
)

// Shape of a table.
const (
	shardBits = 10
	numShards = 1 << shardBits
	minSlots  = 8 // slots of the smallest shard of an empty table
)

// table is a set of 64-bit fingerprints: 1024 shards, each an open-addressing
// table with linear probing that grows alone, by a quarter, when it is 85 %
// full. First sizes are staggered, so shards do not grow at the same moment:
// no growth stops the world, and the mean load stays near 77 %, which is 10.4
// bytes per fingerprint.
//
// Look-ups take no lock. A slot goes from 0 to a fingerprint once; a shard that
// grows is copied and replaced, and the copy has all that the original had.
type table struct {
	shards [numShards]shard
}

// shard is one part of a table, by the top bits of the fingerprint.
type shard struct {
	slots atomic.Pointer[[]uint64] // 0 is empty; slots are written under mu
	mu    sync.Mutex               // serializes insert and grow
	n     int                      // slots in use, guarded by mu
}

// newTable returns a table with room for n fingerprints before any shard grows.
func newTable(n int) *table {
	t := &table{}
	perShard := max(minSlots, float64(n)/numShards/0.85)
	if n > 0 {
		perShard += 4 * math.Sqrt(perShard) // shards are not equally full
	}
	for i := range t.shards {
		size := perShard * math.Pow(1.25, float64(i)/numShards)
		if n > 0 {
			size = perShard
		}
		slots := make([]uint64, int(size))
		t.shards[i].slots.Store(&slots)
	}
	return t
}

func (t *table) shard(f uint64) *shard { return &t.shards[f>>(64-shardBits)] }

// home returns where the probing for f begins. It rises with f, so that growth
// copies from front to back.
func home(f uint64, slots int) int {
	hi, _ := bits.Mul64(f<<shardBits, uint64(slots))
	return int(hi)
}

// nonzero keeps 0 for empty slots.
func nonzero(f uint64) uint64 {
	if f == 0 {
		return 1
	}
	return f
}

// find returns the slot of f, or the empty slot where it would go. There is
// always an empty slot.
func find(slots []uint64, f uint64) (at int, found bool) {
	for at = home(f, len(slots)); ; {
		switch atomic.LoadUint64(&slots[at]) {
		case f:
			return at, true
		case 0:
			return at, false
		}
		if at++; at == len(slots) {
			at = 0
		}
	}
}

// has reports whether f is in the table.
func (t *table) has(f uint64) bool {
	f = nonzero(f)
	_, found := find(*t.shard(f).slots.Load(), f)
	return found
}

// touch reads the home slots of many fingerprints, so that the cache misses of
// the look-ups that follow overlap.
func (t *table) touch(fs []uint64) (sum uint64) {
	for _, f := range fs {
		slots := *t.shard(f).slots.Load()
		sum += atomic.LoadUint64(&slots[home(f, len(slots))])
	}
	return sum
}

// byShard returns fs ordered by shard: a counting sort.
func byShard(fs []uint64) []uint64 {
	var at [numShards + 1]int
	for _, f := range fs {
		at[f>>(64-shardBits)+1]++
	}
	for i := range numShards {
		at[i+1] += at[i]
	}
	sorted := make([]uint64, len(fs))
	for _, f := range fs {
		i := f >> (64 - shardBits)
		sorted[at[i]] = f
		at[i]++
	}
	return sorted
}

// load adds fingerprints that are ordered by shard: the insertions of one shard
// take its lock once, and share its cache lines.
func (t *table) load(fs []uint64) {
	for len(fs) > 0 {
		s := t.shard(fs[0])
		n := 1
		for n < len(fs) && t.shard(fs[n]) == s {
			n++
		}
		t.touch(fs[:n])
		s.mu.Lock()
		for _, f := range fs[:n] {
			s.insert(nonzero(f))
		}
		s.mu.Unlock()
		fs = fs[n:]
	}
}

// add records f and reports whether it was not there.
func (t *table) add(f uint64) bool {
	f = nonzero(f)
	s := t.shard(f)
	if _, found := find(*s.slots.Load(), f); found {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.insert(f)
}

// insert records f and reports whether it was not there. The caller holds mu.
func (s *shard) insert(f uint64) bool {
	slots := *s.slots.Load()
	at, found := find(slots, f)
	if found {
		return false
	}
	if s.n+1 > len(slots)*85/100 {
		slots = s.grow()
		at, _ = find(slots, f)
	}
	atomic.StoreUint64(&slots[at], f)
	s.n++
	return true
}

// grow replaces the slots by a larger copy and returns it. The caller holds mu.
// Slots are in the order of their homes, nearly, so the copy is written from
// front to back.
func (s *shard) grow() []uint64 {
	old := *s.slots.Load()
	size := len(old) + len(old)/4 + 1
	slots := make([]uint64, size)
	for _, f := range old {
		if f == 0 {
			continue
		}
		at := home(f, size)
		for slots[at] != 0 {
			if at++; at == size {
				at = 0
			}
		}
		slots[at] = f
	}
	s.slots.Store(&slots)
	return slots
}

// stats returns the number of fingerprints and the bytes of the slots.
func (t *table) stats() (n, bytes int64) {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		n += int64(s.n)
		bytes += int64(8 * len(*s.slots.Load()))
		s.mu.Unlock()
	}
	return n, bytes
}
