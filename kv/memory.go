package kv

import (
	"bytes"
	"hash/maphash"
	"sync"
)

// Memory is a Store in memory: the reference that other stores are tested
// against, and the store of a crawl that keeps nothing. Closing it forgets
// everything.
//
// It is a treap: a binary search tree whose shape is that of a heap by a hash of
// the keys. A Scan walks the tree as it was when it began, while batches go on:
// it begins a new age, and nodes of an earlier age are copied before they change.
type Memory struct {
	seed maphash.Seed

	mu   sync.RWMutex
	root *node  // guarded by mu
	age  uint64 // guarded by mu
}

// node is immutable once its age is over.
type node struct {
	key, value  []byte
	rank        uint64 // hash of key; a parent's rank is at least its children's
	age         uint64
	left, right *node
}

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{seed: maphash.MakeSeed()} }

// Get implements Store.
func (m *Memory) Get(key []byte) ([]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for n := m.root; n != nil; {
		switch c := bytes.Compare(key, n.key); {
		case c == 0:
			return append([]byte{}, n.value...), nil
		case c < 0:
			n = n.left
		default:
			n = n.right
		}
	}
	return nil, ErrNotFound
}

// Scan implements Store.
func (m *Memory) Scan(lo, hi []byte, visit func(key, value []byte) error) error {
	m.mu.Lock()
	root := m.root
	m.age++
	m.mu.Unlock()
	err := walk(root, lo, hi, visit)
	if err == ErrStop {
		return nil
	}
	return err
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
	t := tree{age: m.age}
	for _, op := range b.Ops() {
		switch op.Kind {
		case OpSet:
			m.root = t.insert(m.root, m.node(op.Key, op.Value))
		case OpDelete:
			m.root = t.remove(m.root, op.Key)
		case OpDeleteRange:
			m.root = t.removeRange(m.root, op.Key, op.Value)
		}
	}
}

// Close implements Store.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.root = nil
	return nil
}

// node makes a node that owns its bytes: the batch will be used again.
func (m *Memory) node(key, value []byte) *node {
	data := append(append(make([]byte, 0, len(key)+len(value)), key...), value...)
	return &node{key: data[:len(key):len(key)], value: data[len(key):], rank: maphash.Bytes(m.seed, key), age: m.age}
}

// walk visits the keys of [lo, hi) below n in order.
func walk(n *node, lo, hi []byte, visit func(key, value []byte) error) error {
	if n == nil {
		return nil
	}
	above := bytes.Compare(n.key, lo) >= 0
	below := len(hi) == 0 || bytes.Compare(n.key, hi) < 0
	if above {
		if err := walk(n.left, lo, hi, visit); err != nil {
			return err
		}
		if below {
			if err := visit(n.key, n.value); err != nil {
				return err
			}
		}
	}
	if below {
		return walk(n.right, lo, hi, visit)
	}
	return nil
}

// tree changes trees in one age.
type tree struct{ age uint64 }

// own returns n, or a copy of it where it is of an earlier age.
func (t tree) own(n *node) *node {
	if n.age == t.age {
		return n
	}
	copied := *n
	copied.age = t.age
	return &copied
}

// insert returns the tree with x in it, in place of a node of the same key.
// Equal keys have equal ranks, so the key cannot lie below a node of lower rank.
func (t tree) insert(n, x *node) *node {
	if n == nil {
		return x
	}
	c := bytes.Compare(x.key, n.key)
	if c == 0 {
		x.left, x.right = n.left, n.right
		return x
	}
	if x.rank > n.rank {
		x.left, x.right = t.split(n, x.key)
		return x
	}
	n = t.own(n)
	if c < 0 {
		n.left = t.insert(n.left, x)
	} else {
		n.right = t.insert(n.right, x)
	}
	return n
}

// remove returns the tree without key.
func (t tree) remove(n *node, key []byte) *node {
	if n == nil {
		return nil
	}
	c := bytes.Compare(key, n.key)
	if c == 0 {
		return t.join(n.left, n.right)
	}
	n = t.own(n)
	if c < 0 {
		n.left = t.remove(n.left, key)
	} else {
		n.right = t.remove(n.right, key)
	}
	return n
}

// removeRange returns the tree without the keys of [lo, hi).
func (t tree) removeRange(n *node, lo, hi []byte) *node {
	if bytes.Compare(lo, hi) >= 0 {
		return n
	}
	below, rest := t.split(n, lo)
	_, above := t.split(rest, hi)
	return t.join(below, above)
}

// split returns the keys below key, and the others.
func (t tree) split(n *node, key []byte) (below, rest *node) {
	if n == nil {
		return nil, nil
	}
	n = t.own(n)
	if bytes.Compare(n.key, key) < 0 {
		n.right, rest = t.split(n.right, key)
		return n, rest
	}
	below, n.left = t.split(n.left, key)
	return below, n
}

// join returns the tree of both, where every key of a is below every one of b.
func (t tree) join(a, b *node) *node {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.rank >= b.rank:
		a = t.own(a)
		a.right = t.join(a.right, b)
		return a
	default:
		b = t.own(b)
		b.left = t.join(a, b.left)
		return b
	}
}
