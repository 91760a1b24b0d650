package seen

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"octopus"
	"octopus/kv"
)

// allowed is the white list of a filter: keys that are to be taken as fresh
// once more, whatever the filter says. It is asked before the filter. A key
// leaves the list in the batch that it is staged in:
//
//	+--------+---+----------+
//	| prefix | a | key (16) |  ->  nothing
//	+--------+---+----------+
type allowed struct {
	store  kv.Store
	prefix []byte
	size   atomic.Int64 // of keys, so that an empty list costs no lock

	mu   sync.Mutex
	keys map[octopus.Key]bool // true once Add has called it fresh
}

// keyAllowed is the kind of a white-listed key.
const keyAllowed = 'a'

func openAllowed(store kv.Store, prefix []byte) (*allowed, error) {
	a := &allowed{store: store, prefix: append(slices.Clone(prefix), keyAllowed), keys: map[octopus.Key]bool{}}
	err := store.Scan(a.prefix, kv.PrefixEnd(a.prefix), func(key, _ []byte) error {
		if len(key) != len(a.prefix)+16 {
			return fmt.Errorf("seen: damaged: white list key %x", key)
		}
		a.keys[octopus.Key(key[len(a.prefix):])] = false
		return nil
	})
	a.size.Store(int64(len(a.keys)))
	return a, err
}

// put adds keys, durably.
func (a *allowed) put(keys []octopus.Key) error {
	var b kv.Batch
	for _, k := range keys {
		b.Set(append(slices.Clone(a.prefix), k[:]...), nil)
	}
	if err := a.store.Apply(&b, kv.Sync); err != nil {
		return fmt.Errorf("seen: allow: %w", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, k := range keys {
		a.keys[k] = false
	}
	a.size.Store(int64(len(a.keys)))
	return nil
}

// take reports whether k is to be taken as fresh now; it is so once.
func (a *allowed) take(k octopus.Key) bool {
	if a == nil || a.size.Load() == 0 {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if taken, ok := a.keys[k]; !ok || taken {
		return false
	}
	a.keys[k] = true
	return true
}

// waits reports whether k is on the list and was not taken.
func (a *allowed) waits(k octopus.Key) bool {
	if a == nil || a.size.Load() == 0 {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	taken, ok := a.keys[k]
	return ok && !taken
}

// stage takes keys that were taken off the list.
func (a *allowed) stage(b *kv.Batch, keys []octopus.Key) {
	if a.size.Load() == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, k := range keys {
		if a.keys[k] {
			b.Delete(append(slices.Clone(a.prefix), k[:]...))
			b.OnCommit(func() { a.drop(k) })
		}
	}
}

func (a *allowed) drop(k octopus.Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.keys, k)
	a.size.Store(int64(len(a.keys)))
}
