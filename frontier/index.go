package frontier

import (
	"encoding/binary"
	"math/bits"
	"sync"
	"sync/atomic"

	"octopus"
)

// index is the table of known URLs in memory: key -> the cheapest way the URL
// was met, so that a link that is known already costs one probe and no look-up
// in the store. A slot:
//
//	63                    12      4     0
//	| 52 bits of fingerprint | depth | hop |
//
// 12 more bits of the fingerprint choose the shard, so 64 bits tell keys apart:
// among n URLs a fresh one is taken for a known one with probability n/2^64. A
// shard is a table with linear probing, at most 0.85 full; it grows by a
// quarter, and the shards start at staggered sizes, so that they do not grow
// together. That makes about 13 bytes per URL.
//
// While the index is complete, a key that is not in it was never met. It is not
// complete while an older state is being read in, nor once it is full.
//
// Beside each slot stands a byte that counts the links met since the URL's record
// was last written, up to 255, and whether the URL was visited.
//
// All methods may be called by many goroutines at once.
type index struct {
	shards [1 << indexShardBits]indexShard
	limit  int64        // slots there may be
	slots  atomic.Int64 // slots there are
	filled atomic.Bool  // it has all that the store had
	full   atomic.Bool  // something did not find room
}

const (
	indexShardBits = 12
	indexDepthMax  = 0xff // deeper URLs share it: the record has the depth
)

type indexShard struct {
	mu    sync.Mutex
	slots []uint64 // guarded by mu; 0 is free
	links []uint8  // guarded by mu; of the same places
	left  []bool   // guarded by mu; the same: visited, so that no link makes it heavier
	used  int      // guarded by mu
}

// newIndex returns an empty index of at most so many bytes.
func newIndex(bytes int64) *index { return &index{limit: max(bytes, 0) / 10} }

// fingerprint mixes both halves of a key; the first is the same for all URLs of
// a host.
func fingerprint(k octopus.Key) uint64 {
	a, b := binary.LittleEndian.Uint64(k[:8]), binary.LittleEndian.Uint64(k[8:])
	h := (a*0x9e3779b97f4a7c15 ^ b) * 0xbf58476d1ce4e5b9
	return h ^ h>>32
}

// complete reports whether a key that is not in the index was never met.
func (x *index) complete() bool { return x.filled.Load() && !x.full.Load() }

// get returns the cost of a key and whether it is in the index. sure is false
// where the URL is too deep for the index to tell how deep.
func (x *index) get(k octopus.Key) (c cost, found, sure bool) {
	f := fingerprint(k)
	s := &x.shards[f>>(64-indexShardBits)]
	s.mu.Lock()
	defer s.mu.Unlock()
	i, found := s.find(f << indexShardBits)
	if !found {
		return 0, false, false
	}
	c = cost(s.slots[i] & 0xfff)
	return c, true, c>>4 < indexDepthMax
}

// meet reports whether the index knows a key for certain at no greater cost, and
// counts the link to it in that case. With raise a link that makes a URL heavier
// (raises) that was never visited is not met: the Core has to see it.
func (x *index) meet(k octopus.Key, c cost, raise bool) bool {
	f := fingerprint(k)
	s := &x.shards[f>>(64-indexShardBits)]
	s.mu.Lock()
	defer s.mu.Unlock()
	i, found := s.find(f << indexShardBits)
	if !found {
		return false
	}
	if known := cost(s.slots[i] & 0xfff); known>>4 >= indexDepthMax || known > c {
		return false
	}
	if raise && !s.left[i] && raises(s.links[i]+1) {
		return false
	}
	s.count(i)
	return true
}

// count counts one link more for the slot at i, up to 255, and returns how many
// there are. The caller holds mu.
func (s *indexShard) count(i int) uint8 {
	if s.links[i] < 255 {
		s.links[i]++
	}
	return s.links[i]
}

// link counts a link to a key, where the index has it, and returns how many there
// are since the URL's record was last written.
func (x *index) link(k octopus.Key) uint8 {
	f := fingerprint(k)
	s := &x.shards[f>>(64-indexShardBits)]
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, found := s.find(f << indexShardBits); found {
		return s.count(i)
	}
	return 0
}

// takeLinks returns how many links to a key, which was visited, were counted, and
// starts anew.
func (x *index) takeLinks(k octopus.Key) (n uint8) {
	f := fingerprint(k)
	s := &x.shards[f>>(64-indexShardBits)]
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, found := s.find(f << indexShardBits); found {
		n, s.links[i], s.left[i] = s.links[i], 0, true
	}
	return n
}

// leave notes that the URL of a key was visited.
func (x *index) leave(k octopus.Key) {
	f := fingerprint(k)
	s := &x.shards[f>>(64-indexShardBits)]
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, found := s.find(f << indexShardBits); found {
		s.left[i] = true
	}
}

// set notes that a key was met at cost c; it never raises one.
func (x *index) set(k octopus.Key, c cost) {
	low := uint64(min(c>>4, indexDepthMax)<<4 | c&0xf)
	f := fingerprint(k)
	s := &x.shards[f>>(64-indexShardBits)]
	tag := f << indexShardBits
	s.mu.Lock()
	defer s.mu.Unlock()
	i, found := s.find(tag)
	if found {
		s.slots[i] = tag | min(low, s.slots[i]&0xfff)
		return
	}
	if (s.used+1)*20 > len(s.slots)*17 {
		if !x.grow(s, int(f>>(64-indexShardBits))) {
			x.full.Store(true)
			return
		}
		i, _ = s.find(tag)
	}
	s.slots[i] = tag | low | freeGuard(tag|low)
	s.used++
}

// freeGuard keeps the one fingerprint that would look like a free slot apart.
func freeGuard(slot uint64) uint64 {
	if slot == 0 {
		return 1 // hop 1 instead of 0: at worst one look-up more
	}
	return 0
}

// find returns the slot of a tag, or the free one where it belongs.
func (s *indexShard) find(tag uint64) (int, bool) {
	n := len(s.slots)
	if n == 0 {
		return 0, false
	}
	hi, _ := bits.Mul64(tag, uint64(n))
	for i := int(hi); ; {
		switch v := s.slots[i]; {
		case v == 0:
			return i, false
		case v&^0xfff == tag:
			return i, true
		}
		if i++; i == n {
			i = 0
		}
	}
}

// grow makes s a quarter larger; false means that the index is full.
func (x *index) grow(s *indexShard, number int) bool {
	size := 16 + 4*number>>indexShardBits
	if n := len(s.slots); n > 0 {
		size = n + n/4
	}
	if x.slots.Add(int64(size-len(s.slots))) > x.limit {
		x.slots.Add(int64(len(s.slots) - size))
		return false
	}
	slots, links, left := s.slots, s.links, s.left
	s.slots, s.links, s.left = make([]uint64, size), make([]uint8, size), make([]bool, size)
	for j, v := range slots {
		if v != 0 {
			i, _ := s.find(v &^ 0xfff)
			s.slots[i], s.links[i], s.left[i] = v, links[j], left[j]
		}
	}
	return true
}
