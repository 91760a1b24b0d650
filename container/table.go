package container

import (
	"math"
	"math/bits"
	"sync"
)

// shardBits is the number of hash bits that choose a shard. Only one shard at a
// time grows, so the longest pause is that of 1/4096 of the table.
const (
	shardBits  = 12
	shardCount = 1 << shardBits
)

// table maps hashes to addresses: open addressing with linear probing, in
// shards that grow one by one. A hash may have several addresses; the caller
// tells them apart by reading what lies there. A slot is three or four words of
// 32 bits:
//
//	wide   (index of URLs)     | address, 2 words | hash bits 51..0, 2 words |
//	narrow (index of payloads) | address, 2 words | hash bits 51..20         |
//
// Slots are filled to 0.88 before a shard grows by 1.25; first capacities are
// staggered so that shards do not grow all at once. On average a wide table
// takes 20.0 bytes an address, a narrow one 15.0. Methods may be called by many
// goroutines at once; a reader waits for nothing but the growth of its shard.
type table struct {
	words  int // per slot: 4 wide, 3 narrow
	shards [shardCount]shard
}

type shard struct {
	mu    sync.RWMutex // guards slots and used
	slots []uint32     // words per slot; an address of 0 marks a free slot
	used  int
}

// firstSlots is the capacity of the first shard to begin with.
const firstSlots = 8

func newTable(words int) *table { return &table{words: words} }

// startSlots is the first capacity of shard i: between 8 and 10.
func startSlots(i int) int {
	return int(math.Ceil(firstSlots * math.Pow(1.25, float64(i)/shardCount)))
}

// rest is the part of a hash that is kept in a slot, in the high bits.
func (t *table) rest(hash uint64) uint64 {
	r := hash << shardBits
	if t.words == 3 {
		r &= 0xffffffff << 32
	}
	return r
}

func (t *table) home(rest uint64, capacity int) int {
	h, _ := bits.Mul64(rest, uint64(capacity))
	return int(h)
}

func (t *table) load(s []uint32, i int) (address, uint64) {
	w := s[i*t.words:]
	rest := uint64(w[2]) << 32
	if t.words == 4 {
		rest |= uint64(w[3])
	}
	return address(uint64(w[0]) | uint64(w[1])<<32), rest
}

func (t *table) store(s []uint32, i int, a address, rest uint64) {
	w := s[i*t.words:]
	w[0], w[1], w[2] = uint32(a), uint32(a>>32), uint32(rest>>32)
	if t.words == 4 {
		w[3] = uint32(rest)
	}
}

// find appends the addresses stored under hash to dst.
func (t *table) find(dst []address, hash uint64) []address {
	s := &t.shards[hash>>(64-shardBits)]
	rest := t.rest(hash)
	s.mu.RLock()
	defer s.mu.RUnlock()
	n := len(s.slots) / t.words
	if n == 0 {
		return dst
	}
	for i := t.home(rest, n); ; {
		a, r := t.load(s.slots, i)
		if a == 0 {
			return dst
		}
		if r == rest {
			dst = append(dst, a)
		}
		if i++; i == n {
			i = 0
		}
	}
}

// put stores a under hash, in place of the address that is there.
func (t *table) put(hash uint64, a address) {
	t.insert(hash, a, func(address) bool { return true })
}

// add stores a under hash beside the addresses that are there; the same place
// is not stored twice.
func (t *table) add(hash uint64, a address) {
	t.insert(hash, a, func(at address) bool { return at.place() == a.place() })
}

// insert stores a under hash, in the first slot of that hash that replace
// accepts, or in a free one.
func (t *table) insert(hash uint64, a address, replace func(address) bool) {
	s := &t.shards[hash>>(64-shardBits)]
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.slots) / t.words
	if 25*(s.used+1) > 22*n {
		n = t.grow(s, int(hash>>(64-shardBits)))
	}
	rest := t.rest(hash)
	for i := t.home(rest, n); ; {
		at, r := t.load(s.slots, i)
		if at == 0 {
			s.used++
		}
		if at == 0 || r == rest && replace(at) {
			t.store(s.slots, i, a, rest)
			return
		}
		if i++; i == n {
			i = 0
		}
	}
}

// grow makes room in s, which is locked, and returns the new capacity.
func (t *table) grow(s *shard, index int) int {
	n := len(s.slots) / t.words
	bigger := n + n/4 + 1
	if n == 0 {
		bigger = startSlots(index)
	}
	slots := make([]uint32, bigger*t.words)
	for i := range n {
		a, rest := t.load(s.slots, i)
		if a == 0 {
			continue
		}
		j := t.home(rest, bigger)
		for {
			if at, _ := t.load(slots, j); at == 0 {
				break
			}
			if j++; j == bigger {
				j = 0
			}
		}
		t.store(slots, j, a, rest)
	}
	s.slots = slots
	return bigger
}

// remove takes the address a out from under hash. The slots behind it move up,
// so that no probe meets a gap.
func (t *table) remove(hash uint64, a address) {
	s := &t.shards[hash>>(64-shardBits)]
	rest := t.rest(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.slots) / t.words
	if n == 0 {
		return
	}
	i := t.home(rest, n)
	for {
		at, r := t.load(s.slots, i)
		if at == 0 {
			return
		}
		if r == rest && at.place() == a.place() {
			break
		}
		if i++; i == n {
			i = 0
		}
	}
	s.used--
	for j := i; ; {
		if j++; j == n {
			j = 0
		}
		at, r := t.load(s.slots, j)
		if at == 0 {
			break
		}
		// What is at j may fill the hole at i if its home is not between.
		if (j-t.home(r, n)+n)%n >= (j-i+n)%n {
			t.store(s.slots, i, at, r)
			i = j
		}
	}
	t.store(s.slots, i, 0, 0)
}

// size returns the number of addresses and the bytes their slots take.
func (t *table) size() (addresses, bytes int64) {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.RLock()
		addresses += int64(s.used)
		bytes += int64(len(s.slots)) * 4
		s.mu.RUnlock()
	}
	return addresses, bytes
}

// mix scrambles a hash with a secret, so that nobody outside can choose URLs
// that all fall into one place. It is a bijection.
func mix(h, secret uint64) uint64 {
	h ^= secret
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
