package seen

import (
	"context"
	"errors"
	"fmt"
	"time"

	"octopus"
	"octopus/kv"
)

// BloomOptions sizes a Bloom set. They count when the set is new; one that is
// on disk keeps the size it was made with.
type BloomOptions struct {
	// Capacity is the number of keys that the error rate holds for. 0 means
	// 10 million. A set that gets more grows, see ErrorRate.
	Capacity int64

	// ErrorRate is the share of new keys that are taken for known once the set
	// has Capacity keys. 0 means 1e-6. Past the capacity the set grows by
	// layers and errs with less than twice the rate.
	ErrorRate float64

	// BitsPerKey sizes the set in place of ErrorRate: 32 is the best of
	// measured choices for a whole crawl. 0 means that ErrorRate counts.
	BitsPerKey float64

	// Mapped keeps the filter in memory-mapped files: it need not fit into
	// memory, and opens at once, but the kernel writes changed pages back all
	// the time. The batches of its keys must be committed with kv.Sync: a bit
	// may reach the disk at any moment. Unix only.
	Mapped bool

	// Confirm is asked where the filter says "maybe": with it no page is lost
	// to the filter's error. It may be nil.
	Confirm Confirm
}

func (o BloomOptions) sizing() (sizing, error) {
	if o.Capacity == 0 {
		o.Capacity = 10_000_000
	}
	if o.ErrorRate == 0 {
		o.ErrorRate = 1e-6
	}
	if o.BitsPerKey > 0 {
		o.ErrorRate = min(split8.err(o.BitsPerKey), twoLine16.err(o.BitsPerKey))
	}
	if _, err := PlanFor(o.Capacity, 1, o.ErrorRate); err != nil {
		return sizing{}, fmt.Errorf("seen: bloom: %w", err)
	}
	return sizing{o.Capacity, o.ErrorRate}, nil
}

// Bloom is a Set that remembers keys in a Bloom filter: a few bits each, and a
// share of new keys is taken for known. It grows instead of saturating.
//
// One from OpenBloom is a Stager: every fresh key must be staged, and enters
// the filter when its batch is committed. One from NewBloom is in memory only.
type Bloom struct {
	layers  *layers
	vault   *vault   // nil in memory
	checked *checked // nil in memory
	allowed *allowed // nil in memory
}

var (
	_ Stager     = (*Bloom)(nil)
	_ Maintainer = (*Bloom)(nil)
)

// NewBloom returns an empty set in memory; Stage does nothing.
func NewBloom(o BloomOptions) (*Bloom, error) {
	if o.Mapped || o.Confirm != nil {
		return nil, errors.New("seen: bloom: Mapped and Confirm are for a set that is kept: use OpenBloom")
	}
	s, err := o.sizing()
	if err != nil {
		return nil, err
	}
	return &Bloom{layers: newLayers(s, inMemory)}, nil
}

// OpenBloom opens the set kept at p.
func OpenBloom(p Place, o BloomOptions) (*Bloom, error) {
	s, err := o.sizing()
	if err != nil {
		return nil, err
	}
	v, err := openVault(p, "bloom", s, o.Mapped)
	if err != nil {
		return nil, err
	}
	a, err := openAllowed(p.Store, p.Prefix)
	if err != nil {
		return nil, err
	}
	b := &Bloom{layers: v.layers, vault: v, allowed: a}
	b.checked = &checked{filter: v.layers, pending: newPending(), confirm: o.Confirm}
	if o.Confirm != nil {
		b.checked.recent = newRecent(4 << 20)
	}
	return b, nil
}

// Add implements Set.
func (s *Bloom) Add(ctx context.Context, _ time.Time, keys []octopus.Key, fresh []bool) error {
	if err := check(ctx, keys, fresh); err != nil {
		return err
	}
	return each(keys, s.layers.touch, func(i int, fp uint64) (err error) {
		if s.checked == nil {
			fresh[i] = s.layers.add(fp)
			return nil
		}
		if s.allowed.take(keys[i]) {
			fresh[i] = true
			return nil
		}
		fresh[i], err = s.checked.add(keys[i], fp)
		return err
	})
}

// Contains implements Set.
func (s *Bloom) Contains(ctx context.Context, _ time.Time, keys []octopus.Key, known []bool) error {
	if err := check(ctx, keys, known); err != nil {
		return err
	}
	return each(keys, s.layers.touch, func(i int, fp uint64) (err error) {
		if s.checked == nil {
			known[i] = s.layers.has(fp)
			return nil
		}
		if s.allowed.waits(keys[i]) {
			known[i] = false
			return nil
		}
		known[i], err = s.checked.has(keys[i], fp)
		return err
	})
}

// Stage implements Stager.
func (s *Bloom) Stage(b *kv.Batch, _ time.Time, keys []octopus.Key) {
	if s.vault == nil || len(keys) == 0 {
		return
	}
	s.allowed.stage(b, keys)
	fps := fingerprints(keys)
	s.vault.journal.stage(b, fps, func() {
		s.layers.fill(fps)
		for _, fp := range fps {
			s.checked.pending.remove(fp)
		}
	})
}

// Allow puts keys on the white list, durably: each is taken as fresh once more,
// although the filter may take it for known.
func (s *Bloom) Allow(keys []octopus.Key) error {
	if s.allowed == nil {
		return errors.New("seen: bloom: a white list is for a set that is kept: use OpenBloom")
	}
	return s.allowed.put(keys)
}

// Maintain implements Maintainer: it writes a snapshot when the journal is long.
func (s *Bloom) Maintain(ctx context.Context, _ time.Time) error {
	if s.vault == nil || !s.vault.due() {
		return ctx.Err()
	}
	return s.vault.snapshot()
}

// Fill tells how full the filter is, and measures its error.
func (s *Bloom) Fill() Fill { return s.layers.stats() }
