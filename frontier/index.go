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
// Where a shard may grow no more, further keys go into its filter, a tenth of the
// memory: the filter tells for nearly all keys that were never met that they were
// not, and for the others the store is asked.
//
// While the index is complete, a key that is neither in the table nor in the
// filter was never met. It is not complete while an older state is being read in,
// nor where it has no memory at all.
//
// Beside each slot stands how many links were met since the URL's record was last
// written, up to 255.
//
// # Who is raised
//
// A waiting URL becomes heavier when it stands out: with its 8th link, or four
// times as many links as the URLs that are linked have on average, whichever is
// more; and again at 4 and 16 times that. On a site where every page links to 40
// others, all have more than eight: raising all of them would change no order, and
// each raise is a look at the store and a move in the queue.
//
// All methods may be called by many goroutines at once.
type index struct {
	shards [1 << indexShardBits]indexShard
	limit  int64        // slots there may be
	words  int          // of a shard's filter
	slots  atomic.Int64 // slots there are
	filled atomic.Bool  // it has all that the store had
	full   atomic.Bool  // something found room in neither
	linked atomic.Int64 // keys with links
	links  atomic.Int64 // their sum
}

const (
	indexShardBits = 12
	indexDepthMax  = 0xff // deeper URLs share it: the record has the depth
)

type indexShard struct {
	mu    sync.Mutex
	slots []uint64 // guarded by mu; 0 is free
	notes []note   // guarded by mu; of the same places
	used  int      // guarded by mu
	rest  filter   // guarded by mu: keys that did not find room; nil before the first
}

// note is what stands beside a slot.
type note struct {
	links  uint8 // to the URL, since its record was last written
	raised uint8 // how often it was raised; visited where no link makes it heavier any more
}

const (
	maxRaised = 3
	visited   = 0xff
)

// newIndex returns an empty index of at most so many bytes.
func newIndex(bytes int64) *index {
	share := max(bytes, 0) / 10
	return &index{limit: (share*10 - share) / 10, words: int(share / 8 >> indexShardBits)}
}

// filter is a Bloom filter of fingerprints.
type filter []uint64

// each calls visit with the word and the bit of the places of a fingerprint, until
// it returns false.
func (b filter) each(f uint64, visit func(word *uint64, bit uint64) bool) {
	for range 6 {
		f = (f ^ f>>29) * 0x94d049bb133111eb
		at, _ := bits.Mul64(f, 64*uint64(len(b)))
		if !visit(&b[at/64], 1<<(at%64)) {
			return
		}
	}
}

func (b filter) add(f uint64) {
	b.each(f, func(word *uint64, bit uint64) bool { *word |= bit; return true })
}

// has reports whether f may be in b.
func (b filter) has(f uint64) (maybe bool) {
	if len(b) == 0 {
		return false
	}
	maybe = true
	b.each(f, func(word *uint64, bit uint64) bool { maybe = maybe && *word&bit != 0; return maybe })
	return maybe
}

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
// where the index cannot tell: the URL is too deep, or only the filter has it, and
// then it may never have been met.
func (x *index) get(k octopus.Key) (c cost, found, sure bool) {
	s, i, found := x.lock(k)
	defer s.mu.Unlock()
	if !found {
		return 0, s.rest.has(fingerprint(k)), false
	}
	c = cost(s.slots[i] & 0xfff)
	return c, true, c>>4 < indexDepthMax
}

// meet reports whether the index knows a key for certain at no greater cost, and
// counts the link to it in that case. With raise a link that makes a URL heavier
// is not met: the Core has to see it.
func (x *index) meet(k octopus.Key, c cost, raise bool) bool {
	s, i, found := x.lock(k)
	defer s.mu.Unlock()
	if !found {
		return false
	}
	if known := cost(s.slots[i] & 0xfff); known>>4 >= indexDepthMax || known > c {
		return false
	}
	if raise && x.raises(s, i) {
		return false
	}
	x.count(s, i)
	return true
}

// link counts a link to a key, where the index has it, and reports whether it
// makes the URL heavier.
func (x *index) link(k octopus.Key) (raised bool) {
	s, i, found := x.lock(k)
	defer s.mu.Unlock()
	if !found {
		return false
	}
	if raised = x.raises(s, i); raised {
		s.notes[i].raised++
	}
	x.count(s, i)
	return raised
}

// raises reports whether the next link to the URL at i makes it heavier. The
// caller holds mu.
func (x *index) raises(s *indexShard, i int) bool {
	n, steps := int64(s.notes[i].links)+1, s.notes[i].raised
	if n < 8 || n > 255 || steps >= maxRaised {
		return false
	}
	average := x.links.Load() / max(x.linked.Load(), 1)
	return n >= max(8, 4*average)<<(2*steps)
}

// count counts one link more for the slot at i. The caller holds mu.
func (x *index) count(s *indexShard, i int) {
	n := &s.notes[i].links
	switch *n {
	case 255:
		return
	case 0:
		x.linked.Add(1)
	}
	*n++
	x.links.Add(1)
}

// takeLinks returns how many links to a key, which was visited, were counted, and
// starts anew.
func (x *index) takeLinks(k octopus.Key) (n uint8) {
	s, i, found := x.lock(k)
	defer s.mu.Unlock()
	if !found {
		return 0
	}
	if n = s.notes[i].links; n > 0 {
		x.linked.Add(-1)
		x.links.Add(-int64(n))
	}
	s.notes[i] = note{raised: visited}
	return n
}

// linksTo returns how many links to a key were counted since its record was
// written.
func (x *index) linksTo(k octopus.Key) uint8 {
	s, i, found := x.lock(k)
	defer s.mu.Unlock()
	if !found {
		return 0
	}
	return s.notes[i].links
}

// tallies returns the counts of a shard, in any order.
func (x *index) tallies(shard int) (list []tally) {
	s := &x.shards[shard]
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, n := range s.notes {
		if n.links > 0 {
			list = append(list, tally{uint32(s.slots[i] >> 32), uint64(n.links)})
		}
	}
	return list
}

// leave notes that the URL of a key was visited.
func (x *index) leave(k octopus.Key) {
	s, i, found := x.lock(k)
	defer s.mu.Unlock()
	if found {
		s.notes[i].raised = visited
	}
}

// lock returns the place of a key, and its shard with mu held.
func (x *index) lock(k octopus.Key) (s *indexShard, i int, found bool) {
	f := fingerprint(k)
	s = &x.shards[f>>(64-indexShardBits)]
	s.mu.Lock()
	i, found = s.find(f << indexShardBits)
	return s, i, found
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
			x.keepRest(s, f)
			return
		}
		i, _ = s.find(tag)
	}
	s.slots[i] = tag | low | freeGuard(tag|low)
	s.used++
}

// reopen has no link to a key count as known, where the index has it: the Core
// may take the next one.
func (x *index) reopen(k octopus.Key) {
	s, i, found := x.lock(k)
	defer s.mu.Unlock()
	if found {
		s.slots[i] |= indexDepthMax << 4
	}
}

// keepRest puts a key that found no room in the table into the filter.
func (x *index) keepRest(s *indexShard, f uint64) {
	if x.words == 0 {
		x.full.Store(true)
		return
	}
	if s.rest == nil {
		s.rest = make(filter, x.words)
	}
	s.rest.add(f)
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

// grow makes s a quarter larger; false means that there is no room for that.
func (x *index) grow(s *indexShard, number int) bool {
	size := 16 + 4*number>>indexShardBits
	if n := len(s.slots); n > 0 {
		size = n + n/4
	}
	if x.slots.Add(int64(size-len(s.slots))) > x.limit {
		x.slots.Add(int64(len(s.slots) - size))
		return false
	}
	slots, notes := s.slots, s.notes
	s.slots, s.notes = make([]uint64, size), make([]note, size)
	for j, v := range slots {
		if v != 0 {
			i, _ := s.find(v &^ 0xfff)
			s.slots[i], s.notes[i] = v, notes[j]
		}
	}
	return true
}
