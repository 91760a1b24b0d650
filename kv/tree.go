package kv

import (
	"bytes"
	"slices"
	"sort"
)

// Limits of a node; one that passes them is split in two.
const (
	maxKids  = 64
	maxSlots = 64
	maxData  = 8 << 10 // bytes of a leaf with more than one key
)

// node is a node of a B+ tree. A leaf holds keys and values as bytes that the
// garbage collector need not look into; all leaves are equally deep. Nodes that
// become empty go, others are never joined.
type node struct {
	age uint64

	slots []slot // of a leaf, in the order of their keys
	data  []byte // of a leaf: keys and values, in the order they came
	dead  int    // bytes of data that belong to no slot

	kids []*node  // of a node that is no leaf: at least one
	from [][]byte // from[i] is above all keys below kids[i], and not above those below kids[i+1]
}

// slot is a key with its value behind it, at an offset of a leaf's data.
type slot struct{ at, key, value uint32 }

func (s slot) size() int { return int(s.key + s.value) }

func (n *node) key(i int) []byte {
	s := n.slots[i]
	return n.data[s.at : s.at+s.key]
}

func (n *node) value(i int) []byte {
	s := n.slots[i]
	return n.data[s.at+s.key : s.at+s.key+s.value]
}

// find returns the slot of the first key that is not below key, and whether it
// is key.
func (n *node) find(key []byte) (int, bool) {
	i := sort.Search(len(n.slots), func(i int) bool { return bytes.Compare(n.key(i), key) >= 0 })
	return i, i < len(n.slots) && bytes.Equal(n.key(i), key)
}

// child returns the kid below which key belongs.
func (n *node) child(key []byte) int {
	return sort.Search(len(n.from), func(i int) bool { return bytes.Compare(n.from[i], key) > 0 })
}

// walk visits the keys of [lo, hi) below n in order.
func (n *node) walk(lo, hi []byte, visit func(key, value []byte) error) error {
	if n.kids != nil {
		for i := n.child(lo); i < len(n.kids); i++ {
			if i > 0 && len(hi) > 0 && bytes.Compare(n.from[i-1], hi) >= 0 {
				return nil
			}
			if err := n.kids[i].walk(lo, hi, visit); err != nil {
				return err
			}
		}
		return nil
	}
	for i, _ := n.find(lo); i < len(n.slots); i++ {
		key := n.key(i)
		if len(hi) > 0 && bytes.Compare(key, hi) >= 0 {
			return nil
		}
		if err := visit(key, n.value(i)); err != nil {
			return err
		}
	}
	return nil
}

// tree changes trees in one age.
type tree struct {
	age     uint64
	watched bool // scans are under way
}

// own returns n if nobody looks at it, else a copy.
func (t tree) own(n *node) *node {
	if n.age == t.age || !t.watched {
		return n
	}
	return &node{age: t.age, slots: slices.Clone(n.slots), data: slices.Clone(n.data), dead: n.dead,
		kids: slices.Clone(n.kids), from: slices.Clone(n.from)}
}

// set returns the tree with the key in it.
func (t tree) set(root *node, key, value []byte) *node {
	root = t.own(root)
	if right, from := t.insert(root, key, value); right != nil {
		return &node{age: t.age, kids: []*node{root, right}, from: [][]byte{from}}
	}
	return root
}

// insert puts the key below n, which is owned. Where n was split, it returns the
// new node to the right of it, and what its keys begin from.
func (t tree) insert(n *node, key, value []byte) (right *node, from []byte) {
	if n.kids == nil {
		n.put(key, value)
		if len(n.slots) > maxSlots || len(n.data)-n.dead > maxData && len(n.slots) > 1 {
			return n.splitLeaf()
		}
		return nil, nil
	}
	i := n.child(key)
	n.kids[i] = t.own(n.kids[i])
	if right, from = t.insert(n.kids[i], key, value); right == nil {
		return nil, nil
	}
	n.kids, n.from = slices.Insert(n.kids, i+1, right), slices.Insert(n.from, i, from)
	if len(n.kids) <= maxKids {
		return nil, nil
	}
	return n.splitKids()
}

// put puts the key into an owned leaf.
func (n *node) put(key, value []byte) {
	i, ok := n.find(key)
	if ok && len(value) <= int(n.slots[i].value) {
		n.dead += int(n.slots[i].value) - len(value)
		n.slots[i].value = uint32(len(value))
		copy(n.value(i), value)
		return
	}
	s := slot{uint32(len(n.data)), uint32(len(key)), uint32(len(value))}
	n.data = append(append(n.data, key...), value...)
	if !ok {
		n.slots = slices.Insert(n.slots, i, s)
		return
	}
	n.dead += n.slots[i].size()
	n.slots[i] = s
	n.tidy()
}

// tidy clears the data of an owned leaf of what is dead, once that is most of it.
func (n *node) tidy() {
	if n.dead > 512 && n.dead > len(n.data)/2 {
		*n = *n.part(0, len(n.slots))
	}
}

// part returns a leaf with some of the slots.
func (n *node) part(lo, hi int) *node {
	size := 0
	for _, s := range n.slots[lo:hi] {
		size += s.size()
	}
	p := &node{age: n.age, slots: make([]slot, 0, hi-lo+8), data: make([]byte, 0, size+size/4)}
	for _, s := range n.slots[lo:hi] {
		at := uint32(len(p.data))
		p.data = append(p.data, n.data[s.at:s.at+s.key+s.value]...)
		p.slots = append(p.slots, slot{at, s.key, s.value})
	}
	return p
}

// splitLeaf moves half of the keys of an owned leaf to a new one.
func (n *node) splitLeaf() (right *node, from []byte) {
	half := len(n.slots) / 2
	right = n.part(half, len(n.slots))
	*n = *n.part(0, half)
	return right, bytes.Clone(right.key(0))
}

// splitKids is the same for a node that is no leaf.
func (n *node) splitKids() (right *node, from []byte) {
	half := len(n.kids) / 2
	right = &node{age: n.age, kids: slices.Clone(n.kids[half:]), from: slices.Clone(n.from[half:])}
	from = n.from[half-1]
	clear(n.kids[half:])
	clear(n.from[half-1:])
	n.kids, n.from = n.kids[:half], n.from[:half-1]
	return right, from
}

// root returns the tree below n, without needless nodes above it.
func (t tree) root(n *node) *node {
	if n == nil {
		return &node{age: t.age}
	}
	for len(n.kids) == 1 {
		n = n.kids[0]
	}
	return n
}

// remove returns the tree without key; nil where nothing is left.
func (t tree) remove(n *node, key []byte) *node {
	if n.kids != nil {
		i := n.child(key)
		n = t.own(n)
		return n.replace(i, t.remove(n.kids[i], key))
	}
	if i, ok := n.find(key); ok {
		return t.drop(n, i, i+1)
	}
	return n
}

// replace puts a kid in the place of kid i, or takes it out where it is nil. n is
// owned.
func (n *node) replace(i int, kid *node) *node {
	if kid != nil {
		n.kids[i] = kid
		return n
	}
	n.kids = slices.Delete(n.kids, i, i+1)
	if len(n.kids) == 0 {
		return nil
	}
	i = max(i-1, 0)
	n.from = slices.Delete(n.from, i, i+1)
	return n
}

// drop returns the leaf without some of its slots; nil where none is left.
func (t tree) drop(n *node, lo, hi int) *node {
	if lo == hi {
		return n
	}
	if hi-lo == len(n.slots) {
		return nil
	}
	n = t.own(n)
	for _, s := range n.slots[lo:hi] {
		n.dead += s.size()
	}
	n.slots = slices.Delete(n.slots, lo, hi)
	n.tidy()
	return n
}

// removeRange returns the tree without the keys of [lo, hi); nil where nothing is
// left.
func (t tree) removeRange(n *node, lo, hi []byte) *node {
	if bytes.Compare(lo, hi) >= 0 {
		return n
	}
	if n.kids == nil {
		from, _ := n.find(lo)
		to, _ := n.find(hi)
		return t.drop(n, from, to)
	}
	n = t.own(n)
	for i := len(n.kids) - 1; i >= 0 && n != nil; i-- {
		if i < len(n.from) && bytes.Compare(n.from[i], lo) <= 0 {
			break // kid i and those before it end below lo
		}
		begins := i > 0 && bytes.Compare(n.from[i-1], hi) < 0
		if i > 0 && !begins {
			continue
		}
		var kid *node
		if whole := begins && bytes.Compare(lo, n.from[i-1]) <= 0 && i < len(n.from) && bytes.Compare(n.from[i], hi) <= 0; !whole {
			kid = t.removeRange(n.kids[i], lo, hi)
		}
		n = n.replace(i, kid)
	}
	return n
}
