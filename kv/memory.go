package kv

import (
	"bytes"
	"hash/maphash"
	"sync"
	"sync/atomic"
)

// Memory is a Store in memory: the reference that other stores are tested
// against, and the store of a crawl that keeps nothing. Closing it forgets
// everything.
//
// It is a persistent treap: a binary search tree whose shape is that of a heap
// by a hash of the keys. Nodes never change once they are published, so a Scan
// walks the root it started from while batches go on.
type Memory struct {
	write sync.Mutex // serializes Apply
	root  atomic.Pointer[node]
	seed  maphash.Seed
}

// node is immutable once Memory.root leads to it.
type node struct {
	key, value  []byte
	rank        uint64 // hash of key; a parent's rank is at least its children's
	left, right *node
}

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{seed: maphash.MakeSeed()} }

// Get implements Store.
func (m *Memory) Get(key []byte) ([]byte, error) {
	for n := m.root.Load(); n != nil; {
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
	err := walk(m.root.Load(), lo, hi, visit)
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
	m.write.Lock()
	defer m.write.Unlock()
	root := m.root.Load()
	for _, op := range b.Ops() {
		switch op.Kind {
		case OpSet:
			root = insert(root, m.node(op.Key, op.Value))
		case OpDelete:
			root = remove(root, op.Key)
		case OpDeleteRange:
			root = removeRange(root, op.Key, op.Value)
		}
	}
	m.root.Store(root)
}

// Close implements Store.
func (m *Memory) Close() error {
	m.root.Store(nil)
	return nil
}

// node makes a node that owns its bytes: the batch will be used again.
func (m *Memory) node(key, value []byte) *node {
	data := append(append(make([]byte, 0, len(key)+len(value)), key...), value...)
	return &node{key: data[:len(key):len(key)], value: data[len(key):], rank: maphash.Bytes(m.seed, key)}
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

// insert returns the tree with x in it, in place of a node of the same key.
// Equal keys have equal ranks, so the key cannot lie below a node of lower rank.
func insert(n, x *node) *node {
	if n == nil {
		return x
	}
	c := bytes.Compare(x.key, n.key)
	if c == 0 {
		x.left, x.right = n.left, n.right
		return x
	}
	if x.rank > n.rank {
		x.left, x.right = split(n, x.key)
		return x
	}
	copied := *n
	if c < 0 {
		copied.left = insert(n.left, x)
	} else {
		copied.right = insert(n.right, x)
	}
	return &copied
}

// remove returns the tree without key.
func remove(n *node, key []byte) *node {
	if n == nil {
		return nil
	}
	c := bytes.Compare(key, n.key)
	if c == 0 {
		return join(n.left, n.right)
	}
	copied := *n
	if c < 0 {
		copied.left = remove(n.left, key)
	} else {
		copied.right = remove(n.right, key)
	}
	return &copied
}

// removeRange returns the tree without the keys of [lo, hi).
func removeRange(n *node, lo, hi []byte) *node {
	if bytes.Compare(lo, hi) >= 0 {
		return n
	}
	below, rest := split(n, lo)
	_, above := split(rest, hi)
	return join(below, above)
}

// split returns the keys below key, and the others.
func split(n *node, key []byte) (below, rest *node) {
	if n == nil {
		return nil, nil
	}
	copied := *n
	if bytes.Compare(n.key, key) < 0 {
		copied.right, rest = split(n.right, key)
		return &copied, rest
	}
	below, copied.left = split(n.left, key)
	return below, &copied
}

// join returns the tree of both, where every key of a is below every one of b.
func join(a, b *node) *node {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.rank >= b.rank:
		copied := *a
		copied.right = join(a.right, b)
		return &copied
	default:
		copied := *b
		copied.left = join(a, b.left)
		return &copied
	}
}
