package container

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"runtime"
	"sync"
)

// shardBits is the number of hash bits that choose a shard. Only one shard at a
// time grows, so the longest pause is that of 1/4096 of the table.
const (
	shardBits  = 12
	shardCount = 1 << shardBits
)

// table maps hashes to addresses: open addressing with linear probing, in
// shards that grow one by one. A digest may have several addresses; the caller
// tells them apart by reading what lies there. A slot is 16 bytes, wide, or 12; in
// memory it looks as in the checkpoint:
//
//	0         8                  12                16
//	| address | hash bits 51..20 | 19..0, then zeros |   index of URLs
//	| address | hash bits 51..20 |                       index of payloads
//	  u64       u32                u32
//
// Slots are filled to 0.88 before a shard grows by 1.25; first capacities are
// staggered so that shards do not grow all at once. On average a wide table
// takes 20.5 bytes an address, a narrow one 15.4. Methods may be called by many
// goroutines at once; a reader waits for nothing but the growth of its shard.
//
// Of an index on disk only what changed since the checkpoint is in memory, and
// hides what the checkpoint has: see tabledisk.go. Errors are of reading that.
type table struct {
	slot   int  // bytes of one: 16 wide, 12 narrow
	disk   bool // of an index on disk
	shards [shardCount]shard
	bufs   sync.Pool // of *[readBytes]byte
}

type shard struct {
	mu    sync.RWMutex // guards what follows
	slots []byte       // an address of 0 marks a free slot
	used  int
	disk  diskShard
}

// firstSlots is the capacity of the first shard to begin with.
const firstSlots = 8

func newTable(slot int, disk bool) *table { return &table{slot: slot, disk: disk} }

// Slots of the two tables.
const (
	wideSlot   = 16
	narrowSlot = 12
)

// wide tells that a hash has one address at most.
func (t *table) wide() bool { return t.slot == wideSlot }

// startSlots is the first capacity of shard i: between 8 and 10.
func startSlots(i int) int {
	return int(math.Ceil(firstSlots * math.Pow(1.25, float64(i)/shardCount)))
}

// rest is the part of a hash that is kept in a slot, in the high bits.
func (t *table) rest(hash uint64) uint64 {
	r := hash << shardBits
	if !t.wide() {
		r &= 0xffffffff << 32
	}
	return r
}

func (t *table) home(rest uint64, capacity int) int {
	h, _ := bits.Mul64(rest, uint64(capacity))
	return int(h)
}

// load returns the slot that p begins with.
func (t *table) load(p []byte) (address, uint64) {
	le := binary.LittleEndian
	rest := uint64(le.Uint32(p[8:])) << 32
	if t.wide() {
		rest |= uint64(le.Uint32(p[12:]))
	}
	return address(le.Uint64(p)), rest
}

func (t *table) store(p []byte, a address, rest uint64) {
	le := binary.LittleEndian
	le.PutUint64(p, uint64(a))
	le.PutUint32(p[8:], uint32(rest>>32))
	if t.wide() {
		le.PutUint32(p[12:], uint32(rest))
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
	n := len(s.slots) / t.slot
	if n == 0 {
		return dst
	}
	for i := t.home(rest, n); ; {
		a, r := t.load(s.slots[i*t.slot:])
		if a == 0 {
			return dst
		}
		if r == rest {
			if dst = append(dst, a); t.wide() {
				return dst
			}
		}
		if i++; i == n {
			i = 0
		}
	}
}

// put stores a under hash: in a wide table in place of the address that is there,
// in a narrow one beside those that are there, but the same place not twice.
func (t *table) put(hash uint64, a address) error {
	s := &t.shards[hash>>(64-shardBits)]
	rest := t.rest(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	hides, err := t.hides(s, rest, a)
	if err != nil {
		return err
	}
	if hides && !t.wide() && !hasPlace(t.inMemory(nil, s, rest), a) {
		return nil // it is on disk
	}
	t.set(s, int(hash>>(64-shardBits)), a, rest, hides, func(at address) bool { return t.wide() || at.place() == a.place() })
	return nil
}

// placed is an address on its way into a table, under its hash.
type placed struct {
	hash uint64
	at   address
}

func (p placed) shard() int { return int(p.hash >> (64 - shardBits)) }

// putAll puts many, in order for each hash, with all processors. Each has shards
// of its own, one after the other: so a shard is in the processor's cache.
func (t *table) putAll(all []placed) error {
	var begin [shardCount + 1]int // of each shard in sorted
	for _, p := range all {
		begin[p.shard()+1]++
	}
	for i := range shardCount {
		begin[i+1] += begin[i]
	}
	sorted, next := make([]placed, len(all)), begin
	for _, p := range all {
		sorted[next[p.shard()]] = p
		next[p.shard()]++
	}
	errs := make([]error, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for w := range errs {
		wg.Go(func() {
			for _, p := range sorted[begin[w*shardCount/len(errs)]:begin[(w+1)*shardCount/len(errs)]] {
				if errs[w] = t.put(p.hash, p.at); errs[w] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// set stores a in memory, in the first slot of that hash that replace accepts, or
// in a free one. hides tells that the slot will hide one on disk.
func (t *table) set(s *shard, index int, a address, rest uint64, hides bool, replace func(address) bool) {
	n := len(s.slots) / t.slot
	if 25*(s.used+1) > 22*n {
		n = t.grow(s, index)
	}
	for i := t.home(rest, n); ; {
		at, r := t.load(s.slots[i*t.slot:])
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
		t.store(s.slots[i*t.slot:], a, rest)
		return
	}
}

// grow makes room in s, which is locked, and returns the new capacity.
func (t *table) grow(s *shard, index int) int {
	old := s.slots
	n := larger(len(old)/t.slot, index)
	s.slots = make([]byte, n*t.slot)
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
func (t *table) each(slots []byte, visit func(a address, rest uint64)) {
	for ; len(slots) > 0; slots = slots[t.slot:] {
		if a, rest := t.load(slots); a != 0 {
			visit(a, rest)
		}
	}
}

// fill stores a in a free slot.
func (t *table) fill(slots []byte, a address, rest uint64) {
	n := len(slots) / t.slot
	i := t.home(rest, n)
	for {
		if at, _ := t.load(slots[i*t.slot:]); at == 0 {
			break
		}
		if i++; i == n {
			i = 0
		}
	}
	t.store(slots[i*t.slot:], a, rest)
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
	if there := hasPlace(found, a); here || there && (!t.wide() || len(known) == 0) {
		t.set(s, int(hash>>(64-shardBits)), a.gone(), rest, there || t.wide() && len(found) > 0, func(at address) bool { return at.place() == a.place() })
	}
	return nil
}

// cut frees the slot of an address that is in memory. The slots behind it move up,
// so that no probe meets a gap.
func (t *table) cut(s *shard, rest uint64, a address) {
	n := len(s.slots) / t.slot
	i := t.home(rest, n)
	for {
		if at, r := t.load(s.slots[i*t.slot:]); r == rest && at.place() == a.place() {
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
		at, r := t.load(s.slots[j*t.slot:])
		if at == 0 {
			break
		}
		// What is at j may fill the hole at i if its home is not between.
		if (j-t.home(r, n)+n)%n >= (j-i+n)%n {
			t.store(s.slots[i*t.slot:], at, r)
			i = j
		}
	}
	t.store(s.slots[i*t.slot:], 0, 0)
}

// size returns the number of addresses and the bytes of memory their slots take.
func (t *table) size() (addresses, bytes int64) {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.RLock()
		addresses += int64(s.used + s.disk.more())
		bytes += int64(len(s.slots))
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
