package container

import (
	"errors"
	"fmt"
	"slices"

	"octopus/internal/durable"
)

// An index on disk (Options.IndexMemory) is for tables that are larger than memory.
// The checkpoint is read where it lies, a look-up at a time: one read of about
// 1 KB, from home on. Memory has what was stored or removed since, and hides what
// the checkpoint says of the same request, or of the same payload at the same
// place. The next checkpoint is made of both, shard by shard, in one sequential
// sweep; then memory is empty again. So nothing is ever written at random.
//
// It is read and not mapped: an error of the disk is an error and not a signal,
// and the crash tests see every read.

// diskShard is the part of a shard that lies in the checkpoint.
type diskShard struct {
	file     durable.File // nil: there is none
	at       int64        // offset of the words
	capacity int          // slots
	used     int
	crc      uint32
	hidden   int // slots in memory that hide one here
	gone     int // of those, the ones that say that it is removed
}

// goneClass marks an address as removed. It is the class of no length.
const goneClass = lateBit - 1

func (a address) gone() address { return a | goneClass }

func (a address) isGone() bool { return a&goneClass == goneClass }

// count counts a slot in memory, coming or going.
func (d *diskShard) count(a address, hides bool, by int) {
	if hides {
		d.hidden += by
	}
	if a.isGone() {
		d.gone += by
	}
}

// more is the number of addresses that the shard has beyond its slots in memory.
func (d *diskShard) more() int { return d.used - d.hidden - d.gone }

func hasPlace(all []address, a address) bool {
	for _, b := range all {
		if a.place() == b.place() {
			return true
		}
	}
	return false
}

// findBoth is find where a part is on disk. s.mu is held.
func (t *table) findBoth(dst []address, s *shard, rest uint64) ([]address, error) {
	var room [4]address
	known := t.inMemory(room[:0], s, rest)
	for _, a := range known {
		if !a.isGone() {
			dst = append(dst, a)
		}
	}
	if t.wide() && len(known) > 0 {
		return dst, nil
	}
	var more [4]address
	found, err := t.onDisk(more[:0], s, rest)
	for _, a := range found {
		if !hasPlace(known, a) {
			dst = append(dst, a)
		}
	}
	return dst, err
}

// hides reports whether a slot of a in memory would hide one on disk.
func (t *table) hides(s *shard, rest uint64, a address) (bool, error) {
	var room [4]address
	found, err := t.onDisk(room[:0], s, rest)
	return len(found) > 0 && (t.wide() || hasPlace(found, a)), err
}

// readBytes is what a look-up reads at once: 64 or 85 slots.
const readBytes = 1 << 10

// onDisk appends the addresses that the checkpoint has of a hash.
func (t *table) onDisk(dst []address, s *shard, rest uint64) ([]address, error) {
	if s.disk.capacity == 0 {
		return dst, nil
	}
	buf, ok := t.bufs.Get().(*[readBytes]byte)
	if !ok {
		buf = new([readBytes]byte)
	}
	defer t.bufs.Put(buf)
	n := s.disk.capacity
	i := t.home(rest, n)
	for left := n; left > 0; {
		k := min(readBytes/t.slot, n-i, left)
		if _, err := s.disk.file.ReadAt(buf[:k*t.slot], s.disk.at+int64(i*t.slot)); err != nil {
			return dst, fmt.Errorf("read %s: %w", checkpointFile, err)
		}
		for p := buf[:k*t.slot]; len(p) > 0; p = p[t.slot:] {
			a, r := t.load(p)
			if a == 0 {
				return dst, nil
			}
			if r == rest {
				if dst = append(dst, a); t.wide() {
					return dst, nil
				}
			}
		}
		if left, i = left-k, i+k; i == n {
			i = 0
		}
	}
	return dst, nil
}

// slotsOf reads a shard, into buf if that is large enough, and checks it.
func (t *table) slotsOf(d *diskShard, buf []byte) ([]byte, error) {
	n := d.capacity * t.slot
	if n == 0 {
		return nil, nil
	}
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	slots, used := buf[:n], 0
	if _, err := d.file.ReadAt(slots, d.at); err != nil {
		return nil, fmt.Errorf("read %s: %w", checkpointFile, err)
	}
	t.each(slots, func(address, uint64) { used++ })
	if durable.CRC(slots) != d.crc || used != d.used {
		return nil, fmt.Errorf("%s at offset %d: a shard of %d slots: %w", checkpointFile, d.at, d.capacity, ErrCorrupt)
	}
	return slots, nil
}

// merged returns the slots of a shard, memory and disk together. s.mu is held.
func (t *table) merged(s *shard, index int) ([]byte, error) {
	text, err := t.slotsOf(&s.disk, nil)
	if err != nil {
		return nil, err
	}
	n := s.disk.capacity
	for 25*(s.used+s.disk.more()) > 22*n {
		n = larger(n, index)
	}
	slots := make([]byte, n*t.slot)
	t.each(text, func(a address, rest uint64) {
		var room [4]address
		if known := t.inMemory(room[:0], s, rest); len(known) == 0 || !t.wide() && !hasPlace(known, a) {
			t.fill(slots, a, rest)
		}
	})
	t.each(s.slots, func(a address, rest uint64) {
		if !a.isGone() {
			t.fill(slots, a, rest)
		}
	})
	return slots, nil
}

// stand lets the shards stand on a new checkpoint, and forgets what it has of
// theirs in memory. What was stored since it was written stays.
func (t *table) stand(shards []diskShard, file durable.File) error {
	for i := range t.shards {
		if err := t.standOne(i, shards[i], file); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) standOne(i int, d diskShard, file durable.File) (err error) {
	s := &t.shards[i]
	s.mu.Lock()
	defer s.mu.Unlock()
	slots, used, disk := s.slots, s.used, s.disk
	d.file = file
	s.slots, s.used, s.disk = nil, 0, d
	t.each(slots, func(a address, rest uint64) {
		var room [4]address
		found, ferr := t.onDisk(room[:0], s, rest)
		if err = errors.Join(err, ferr); err != nil {
			return
		}
		hides := len(found) > 0 && (t.wide() || hasPlace(found, a))
		if slices.Contains(found, a) || a.isGone() && !hides {
			return
		}
		t.set(s, i, a, rest, hides, func(address) bool { return false })
	})
	if err != nil {
		s.slots, s.used, s.disk = slots, used, disk
	}
	return err
}
