package seen

import (
	"context"
	"sync"
	"time"

	"octopus"
)

// Memory is the reference Set: a Go map of whole keys. It forgets everything
// when the process ends.
type Memory struct {
	mu   sync.RWMutex
	keys map[octopus.Key]struct{}
}

var _ Set = (*Memory)(nil)

// NewMemory returns an empty set.
func NewMemory() *Memory { return &Memory{keys: map[octopus.Key]struct{}{}} }

// Add implements Set.
func (m *Memory) Add(ctx context.Context, _ time.Time, keys []octopus.Key, fresh []bool) error {
	if err := check(ctx, keys, fresh); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, k := range keys {
		_, known := m.keys[k]
		fresh[i] = !known
		m.keys[k] = struct{}{}
	}
	return nil
}

// Contains implements Set.
func (m *Memory) Contains(ctx context.Context, _ time.Time, keys []octopus.Key, known []bool) error {
	if err := check(ctx, keys, known); err != nil {
		return err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	for i, k := range keys {
		_, known[i] = m.keys[k]
	}
	return nil
}
