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
// takes 20.5 bytes an address, a narrow one 15.4. Methods may be called by many
// goroutines at once; a reader waits for nothing but the growth of its shard.
//
// Of an index on disk only what changed since the checkpoint is in memory, and
// hides what the checkpoint has: see tabledisk.go. Errors are of reading that.
type table struct {
	words  int  // per slot: 4 wide, 3 narrow
	disk   bool // of an index on disk
	shards [shardCount]shard
	bufs   sync.Pool // of *[readBytes]byte
}

type shard struct {
	mu    sync.RWMutex // guards what follows
	slots []uint32     // words per slot; an address of 0 marks a free slot
	used  int
	disk  diskShard
}

// firstSlots is the capacity of the first shard to begin with.
const firstSlots = 8

func newTable(words int, disk bool) *table { return &table{words: words, disk: disk} }

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
func (t *table) find(dst []address, hash uint64) ([]address, error) {
	s := &t.shards[hash>>(64-shardBits)]
	rest := t.rest(hash)
	s.mu.RLock()
	defer s.mu.RUnlock()
	if t.disk {
		return t.findBoth(dst, s, rest)
	}
	return t.inMemory(dst, s, rest), nil
}

// inMemory appends the addresses of a hash that are in memory.
func (t *table) inMemory(dst []address, s *shard, rest uint64) []address {
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
func (t *table) put(hash uint64, a address) error {
	return t.insert(hash, a, func(address) bool { return true })
}

// add stores a under hash beside the addresses that are there; the same place
// is not stored twice.
func (t *table) add(hash uint64, a address) error {
	return t.insert(hash, a, func(at address) bool { return at.place() == a.place() })
}

// insert stores a under hash, in the first slot of that hash that replace
// accepts, or in a free one.
func (t *table) insert(hash uint64, a address, replace func(address) bool) error {
	s := &t.shards[hash>>(64-shardBits)]
	rest := t.rest(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	hides, err := t.hides(s, rest, a)
	if err != nil {
		return err
	}
	if hides && t.words == 3 && !hasPlace(t.inMemory(nil, s, rest), a) {
		return nil // it is on disk
	}
	t.set(s, int(hash>>(64-shardBits)), a, rest, hides, replace)
	return nil
}

// set is insert in memory. hides tells that the slot will hide one on disk.
func (t *table) set(s *shard, index int, a address, rest uint64, hides bool, replace func(address) bool) {
	n := len(s.slots) / t.words
	if 25*(s.used+1) > 22*n {
		n = t.grow(s, index)
	}
	for i := t.home(rest, n); ; {
		at, r := t.load(s.slots, i)
		if at == 0 {
			s.used++
			s.disk.count(a, hides, +1)
		} else if r == rest && replace(at) {
			s.disk.count(at, hides, -1)
			s.disk.count(a, hides, +1)
		} else {
			if i++; i == n {
				i = 0
			}
			continue
		}
		t.store(s.slots, i, a, rest)
		return
	}
}

// grow makes room in s, which is locked, and returns the new capacity.
func (t *table) grow(s *shard, index int) int {
	old := s.slots
	n := larger(len(old)/t.words, index)
	s.slots = make([]uint32, n*t.words)
	t.each(old, func(a address, rest uint64) { t.fill(s.slots, a, rest) })
	return n
}

// larger is the capacity that follows n in shard index.
func larger(n, index int) int {
	if n == 0 {
		return startSlots(index)
	}
	return n + n/4 + 1
}

// each calls visit for the slots that are in use.
func (t *table) each(slots []uint32, visit func(a address, rest uint64)) {
	for i := range len(slots) / t.words {
		if a, rest := t.load(slots, i); a != 0 {
			visit(a, rest)
		}
	}
}

// fill stores a in a free slot.
func (t *table) fill(slots []uint32, a address, rest uint64) {
	n := len(slots) / t.words
	i := t.home(rest, n)
	for {
		if at, _ := t.load(slots, i); at == 0 {
			break
		}
		if i++; i == n {
			i = 0
		}
	}
	t.store(slots, i, a, rest)
}

// remove takes the address a out from under hash.
func (t *table) remove(hash uint64, a address) error {
	s := &t.shards[hash>>(64-shardBits)]
	rest := t.rest(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	known := t.inMemory(nil, s, rest)
	here := hasPlace(known, a)
	if !t.disk {
		if here {
			t.cut(s, rest, a)
		}
		return nil
	}
	found, err := t.onDisk(nil, s, rest)
	if err != nil {
		return err
	}
	// Also where it is in memory only: a checkpoint under way may have it.
	if there := hasPlace(found, a); here || there && (t.words == 3 || len(known) == 0) {
		t.set(s, int(hash>>(64-shardBits)), a.gone(), rest, there || t.words == 4 && len(found) > 0, func(at address) bool { return at.place() == a.place() })
	}
	return nil
}

// cut frees the slot of an address that is in memory. The slots behind it move up,
// so that no probe meets a gap.
func (t *table) cut(s *shard, rest uint64, a address) {
	n := len(s.slots) / t.words
	i := t.home(rest, n)
	for {
		if at, r := t.load(s.slots, i); r == rest && at.place() == a.place() {
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

// size returns the number of addresses and the bytes of memory their slots take.
func (t *table) size() (addresses, bytes int64) {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.RLock()
		addresses += int64(s.used + s.disk.more())
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
