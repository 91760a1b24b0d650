package kv

import "sync"

// Memory is a Store in memory: the reference that other stores are tested
// against, and the store of a crawl that keeps nothing. Closing it forgets
// everything.
//
// A Scan walks the tree as it was when it began, while batches go on: it begins
// a new age, and until it ends, nodes of an earlier age are copied before they
// change.
type Memory struct {
	mu    sync.RWMutex
	root  *node  // guarded by mu
	age   uint64 // guarded by mu
	scans int    // guarded by mu: those under way
}

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{root: new(node)} }

// Get implements Store.
func (m *Memory) Get(key []byte) ([]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n := m.root
	for n.kids != nil {
		n = n.kids[n.child(key)]
	}
	if i, ok := n.find(key); ok {
		return append([]byte{}, n.value(i)...), nil
	}
	return nil, ErrNotFound
}

// Scan implements Store.
func (m *Memory) Scan(lo, hi []byte, visit func(key, value []byte) error) error {
	root := m.begin()
	defer m.end()
	err := root.walk(lo, hi, visit)
	if err == ErrStop {
		return nil
	}
	return err
}

// begin returns the tree as it is now and keeps it so until end.
func (m *Memory) begin() *node {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.age++
	m.scans++
	return m.root
}

func (m *Memory) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.scans--
}

// Apply implements Store; there is nothing that Sync could wait for.
func (m *Memory) Apply(b *Batch, _ Durability) error {
	m.apply(b)
	b.Committed()
	return nil
}

func (m *Memory) apply(b *Batch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := tree{age: m.age, watched: m.scans > 0}
	for _, op := range b.Ops() {
		switch op.Kind {
		case OpSet:
			m.root = t.set(m.root, op.Key, op.Value)
		case OpDelete:
			m.root = t.root(t.remove(m.root, op.Key))
		case OpDeleteRange:
			m.root = t.root(t.removeRange(m.root, op.Key, op.Value))
		}
	}
}

// Close implements Store.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.root = new(node)
	return nil
}
