package seen

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"octopus"
	"octopus/kv"
)

// ExpiringOptions configures an Expiring set.
type ExpiringOptions struct {
	// TTL is how long a key is known after it was fresh. It must be at least a
	// second; fractions of a second are rounded up.
	TTL time.Duration
}

// Expiring is a Set that knows a key for a time after it was fresh, exactly:
// 64-bit fingerprints with their expiry, about 21 bytes each. Meeting a key
// again does not prolong its life, and it is never fresh again sooner than TTL
// after it was.
//
// A clock that goes back makes keys live longer. One that jumps ahead by more
// than ten minutes is believed once it has gone on from there for ten minutes.
// It is a Stager where it has a store: every fresh key must be staged, and
// records are, under the prefix, big-endian numbers and little-endian
// fingerprints:
//
//	+--------+---+------------------------+------------+      +---------------------------+
//	| prefix | e | expiry, Unix seconds (8) | number (8) |  ->  | fingerprint (8), repeated |
//	+--------+---+------------------------+------------+      +---------------------------+
type Expiring struct {
	ttl    int64    // seconds
	store  kv.Store // nil in memory
	prefix []byte
	next   atomic.Int64 // number of the next record
	steady steady
	swept  atomic.Int64 // shards cleaned, in all
	shards [256]expiringShard
}

// expiringShard is a part of the table, by the top bits of the fingerprint:
// open addressing with linear probing.
type expiringShard struct {
	mu    sync.Mutex // guards the rest
	slots []expiry
	n     int
}

// expiry is a slot; a fingerprint of 0 makes it empty.
type expiry struct {
	fp    uint64
	until int64 // Unix seconds
}

var (
	_ Stager     = (*Expiring)(nil)
	_ Maintainer = (*Expiring)(nil)
)

// NewExpiring returns an empty set in memory; Stage does nothing.
func NewExpiring(o ExpiringOptions) (*Expiring, error) {
	if o.TTL < time.Second {
		return nil, fmt.Errorf("seen: expiring: a time to live of %v: must be at least 1s", o.TTL)
	}
	return &Expiring{ttl: int64((o.TTL + time.Second - 1) / time.Second)}, nil
}

// OpenExpiring opens the set kept under prefix in store.
func OpenExpiring(store kv.Store, prefix []byte, o ExpiringOptions) (*Expiring, error) {
	e, err := NewExpiring(o)
	if err != nil {
		return nil, err
	}
	e.store, e.prefix = store, append(slices.Clone(prefix), keyExpiry)
	return e, e.load()
}

func (e *Expiring) load() error {
	return e.store.Scan(e.prefix, kv.PrefixEnd(e.prefix), func(key, value []byte) error {
		if len(key) != len(e.prefix)+16 || len(value)%8 != 0 {
			return fmt.Errorf("seen: expiring: damaged: key %x with %d bytes", key, len(value))
		}
		until := int64(binary.BigEndian.Uint64(key[len(e.prefix):]))
		number := int64(binary.BigEndian.Uint64(key[len(e.prefix)+8:]))
		e.next.Store(max(e.next.Load(), number+1))
		for ; len(value) > 0; value = value[8:] {
			fp := binary.LittleEndian.Uint64(value)
			e.shard(fp).put(nonzero(fp), until)
		}
		return nil
	})
}

// Add implements Set.
func (e *Expiring) Add(ctx context.Context, now time.Time, keys []octopus.Key, fresh []bool) error {
	if err := check(ctx, keys, fresh); err != nil {
		return err
	}
	present := e.steady.at(now)
	for i, k := range keys {
		fp := fingerprint(k)
		fresh[i] = e.shard(fp).add(nonzero(fp), present, present+e.ttl)
	}
	return nil
}

// Contains implements Set.
func (e *Expiring) Contains(ctx context.Context, now time.Time, keys []octopus.Key, known []bool) error {
	if err := check(ctx, keys, known); err != nil {
		return err
	}
	present := e.steady.at(now)
	for i, k := range keys {
		fp := fingerprint(k)
		known[i] = e.shard(fp).has(nonzero(fp), present)
	}
	return nil
}

// Stage implements Stager.
func (e *Expiring) Stage(b *kv.Batch, now time.Time, keys []octopus.Key) {
	if e.store == nil || len(keys) == 0 {
		return
	}
	value := make([]byte, 0, 8*len(keys))
	for _, k := range keys {
		value = binary.LittleEndian.AppendUint64(value, fingerprint(k))
	}
	b.Set(e.key(e.steady.at(now)+e.ttl, e.next.Add(1)-1), value)
}

// Maintain implements Maintainer: it drops what expired, from the store, and
// from a few shards of the table each time.
func (e *Expiring) Maintain(ctx context.Context, now time.Time) error {
	present := e.steady.at(now)
	for range 8 {
		e.shards[e.swept.Add(1)%int64(len(e.shards))].sweep(present)
	}
	if e.store == nil || e.swept.Load()%64 != 0 {
		return ctx.Err()
	}
	var b kv.Batch
	b.DeleteRange(e.prefix, e.key(present, 0))
	return e.store.Apply(&b, kv.NoSync)
}

// Len returns the number of keys in memory, expired ones that were not cleaned
// yet included.
func (e *Expiring) Len() (n int64) {
	for i := range e.shards {
		s := &e.shards[i]
		s.mu.Lock()
		n += int64(s.n)
		s.mu.Unlock()
	}
	return n
}

func (e *Expiring) key(until, number int64) []byte {
	key := binary.BigEndian.AppendUint64(slices.Clone(e.prefix), uint64(max(until, 0)))
	return binary.BigEndian.AppendUint64(key, uint64(number))
}

func (e *Expiring) shard(fp uint64) *expiringShard { return &e.shards[fp>>56] }

// find returns the slot of fp, or the empty one where it would go. There must
// be an empty one.
func (s *expiringShard) find(fp uint64) *expiry {
	hi, _ := bits.Mul64(fp<<8, uint64(len(s.slots)))
	for at := int(hi); ; {
		if x := &s.slots[at]; x.fp == fp || x.fp == 0 {
			return x
		}
		if at++; at == len(s.slots) {
			at = 0
		}
	}
}

// add records fp until a time, unless it is known at now.
func (s *expiringShard) add(fp uint64, now, until int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known(fp, now) {
		return false
	}
	s.set(fp, now, until)
	return true
}

func (s *expiringShard) has(fp uint64, now int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known(fp, now)
}

// put records fp, until the later of two times where it has one.
func (s *expiringShard) put(fp uint64, until int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known(fp, until) {
		s.set(fp, 0, until)
	}
}

// known reports whether fp lives on at now. The caller holds mu.
func (s *expiringShard) known(fp uint64, now int64) bool {
	if len(s.slots) == 0 {
		return false
	}
	x := s.find(fp)
	return x.fp == fp && x.until > now
}

// set gives fp a time. Where the shard is full it is copied without what has
// expired, and made larger where that is not much. The caller holds mu.
func (s *expiringShard) set(fp uint64, now, until int64) {
	if s.n+1 > len(s.slots)*85/100 {
		s.rebuild(now)
	}
	x := s.find(fp)
	if x.fp == 0 {
		s.n++
	}
	*x = expiry{fp, until}
}

// rebuild copies the shard without what has expired, with room for a quarter
// more.
func (s *expiringShard) rebuild(now int64) {
	old, live := s.slots, 0
	for _, x := range old {
		if x.fp != 0 && x.until > now {
			live++
		}
	}
	s.n, s.slots = live, make([]expiry, live*5/4*100/85+minSlots)
	for _, x := range old {
		if x.fp != 0 && x.until > now {
			*s.find(x.fp) = x
		}
	}
}

// sweep rebuilds the shard where a quarter of it or more has expired.
func (s *expiringShard) sweep(now int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	dead := 0
	for _, x := range s.slots {
		if x.fp != 0 && x.until <= now {
			dead++
		}
	}
	if dead > 0 && 4*dead >= s.n {
		s.rebuild(now)
	}
}

// steady turns the times of a clock that may jump into a present that does not
// jump ahead. It is pure: it knows only the times it is told.
type steady struct {
	mu      sync.Mutex // guards the rest
	last    time.Time  // the latest time told
	present time.Time  // the latest time believed
	since   time.Time  // where a jump ahead came out; zero where there is none
}

// at returns the present when the clock shows now, in Unix seconds. It never
// goes back.
func (s *steady) at(now time.Time) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	step := now.Sub(s.last)
	switch {
	case s.last.IsZero():
		s.present = now
	case step > settleTime: // a jump ahead begins here
		s.since = now
	case step < -settleTime: // a jump back ends it
		s.since = time.Time{}
	}
	if s.since.IsZero() || now.Sub(s.since) >= settleTime {
		s.since = time.Time{}
		if now.After(s.present) {
			s.present = now
		}
	}
	s.last = now
	return s.present.Unix()
}
