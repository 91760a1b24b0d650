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
// together. That makes about 11 bytes per URL.
//
// While the index is complete, a key that is not in it was never met. It is not
// complete while an older state is being read in, nor once it is full.
//
// All methods may be called by many goroutines at once.
type index struct {
	shards   [1 << indexShardBits]indexShard
	limit    int64        // slots there may be
	slots    atomic.Int64 // slots there are
	complete atomic.Bool
	full     atomic.Bool
}

const (
	indexShardBits = 12
	indexDepthMax  = 0xff // deeper URLs share it: the record has the depth
)

type indexShard struct {
	mu    sync.Mutex
	slots []uint64 // guarded by mu; 0 is free
	used  int      // guarded by mu
}

// newIndex returns an empty index of at most so many bytes.
func newIndex(bytes int64) *index { return &index{limit: max(bytes, 0) / 8} }

// fingerprint mixes both halves of a key; the first is the same for all URLs of
// a host.
func fingerprint(k octopus.Key) uint64 {
	a, b := binary.LittleEndian.Uint64(k[:8]), binary.LittleEndian.Uint64(k[8:])
	h := (a*0x9e3779b97f4a7c15 ^ b) * 0xbf58476d1ce4e5b9
	return h ^ h>>32
}

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
			x.complete.Store(false)
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
	old := s.slots
	s.slots = make([]uint64, size)
	for _, v := range old {
		if v != 0 {
			i, _ := s.find(v &^ 0xfff)
			s.slots[i] = v
		}
	}
	return true
}
