package article

import (
	"encoding/binary"
	"fmt"
	"math"
)

// model is a forest of decision trees made by gradient boosting; their sum is
// the log of the odds that a block belongs to the content.
type model struct {
	nodes []treeNode
	roots []int32
}

// treeNode is an inner node, or a leaf where left is 0: no tree begins inside
// another, so no node has node 0 as its child.
type treeNode struct {
	feature     int32
	threshold   float32 // rows with no more go left; in a leaf, the value
	left, right int32
}

// score returns the log of the odds for one row of features.
func (m *model) score(row []float32) float64 {
	sum := 0.0
	for _, at := range m.roots {
		n := &m.nodes[at]
		for n.left != 0 {
			at = n.right
			if row[n.feature] <= n.threshold {
				at = n.left
			}
			n = &m.nodes[at]
		}
		sum += float64(n.threshold)
	}
	return sum
}

// Numbers of features.
const (
	firstWidth  = 107
	secondWidth = firstWidth + 21
)

// The model as a file, little-endian:
//
//	+--------+--------+---------------------+-------------------------------+
//	| trees  | nodes  | root of each tree   | nodes: feature u16, left u16, |
//	| u32    | u32    | u32 …               | right u16, threshold f32      |
//	+--------+--------+---------------------+-------------------------------+
//
// Children count from the tree's root.
const nodeSize = 10

func (m *model) encode() []byte {
	le := binary.LittleEndian
	out := le.AppendUint32(nil, uint32(len(m.roots)))
	out = le.AppendUint32(out, uint32(len(m.nodes)))
	for _, r := range m.roots {
		out = le.AppendUint32(out, uint32(r))
	}
	root := int32(0)
	next := 1
	for i, n := range m.nodes {
		if next < len(m.roots) && m.roots[next] == int32(i) {
			root = m.roots[next]
			next++
		}
		l, r := n.left, n.right
		if l != 0 {
			l, r = l-root, r-root
		}
		out = le.AppendUint16(out, uint16(n.feature))
		out = le.AppendUint16(out, uint16(l))
		out = le.AppendUint16(out, uint16(r))
		out = le.AppendUint32(out, math.Float32bits(n.threshold))
	}
	return out
}

// decodeModel reads what encode wrote, for rows of the given width.
func decodeModel(p []byte, width int) (*model, error) {
	le := binary.LittleEndian
	if len(p) < 8 {
		return nil, fmt.Errorf("model of %d bytes: too short", len(p))
	}
	trees, nodes := int(le.Uint32(p)), int(le.Uint32(p[4:]))
	if trees > len(p) || nodes > len(p) || len(p) != 8+4*trees+nodeSize*nodes {
		return nil, fmt.Errorf("model of %d bytes: want %d trees and %d nodes", len(p), trees, nodes)
	}
	m := &model{nodes: make([]treeNode, nodes), roots: make([]int32, trees)}
	for i := range m.roots {
		m.roots[i] = int32(le.Uint32(p[8+4*i:]))
		if r := m.roots[i]; r < 0 || int(r) >= nodes {
			return nil, fmt.Errorf("model: root %d of %d nodes", r, nodes)
		}
	}
	p = p[8+4*trees:]
	root, next := int32(0), 1
	for i := range m.nodes {
		if next < trees && m.roots[next] == int32(i) {
			root = m.roots[next]
			next++
		}
		q := p[i*nodeSize:]
		n := treeNode{feature: int32(le.Uint16(q)), left: int32(le.Uint16(q[2:])), right: int32(le.Uint16(q[4:])), threshold: math.Float32frombits(le.Uint32(q[6:]))}
		if n.left != 0 {
			n.left, n.right = n.left+root, n.right+root
			if int(n.left) >= nodes || int(n.right) >= nodes || int(n.left) <= i || int(n.right) <= i || int(n.feature) >= width {
				return nil, fmt.Errorf("model: node %d is wrong", i)
			}
		}
		m.nodes[i] = n
	}
	return m, nil
}

// encode writes both forests: the length of the first, then the two.
func (f *forests) encode() []byte {
	one := f.one.encode()
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(one)))
	return append(append(out, one...), f.two.encode()...)
}

func decodeForests(p []byte) (*forests, error) {
	if len(p) < 4 {
		return nil, fmt.Errorf("model of %d bytes: too short", len(p))
	}
	n := binary.LittleEndian.Uint32(p)
	if p = p[4:]; int64(n) > int64(len(p)) {
		return nil, fmt.Errorf("model: first forest of %d bytes in a file of %d", n, len(p))
	}
	one, err := decodeModel(p[:n], firstWidth)
	if err != nil {
		return nil, err
	}
	two, err := decodeModel(p[n:], secondWidth)
	if err != nil {
		return nil, err
	}
	return &forests{one, two}, nil
}
