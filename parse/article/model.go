package article

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
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

// width is the number of features.
const width = 107 + evidenceWidth + placedWidth + typeWidth + 1

// A forest in the file, little-endian:
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

// decodeModel reads what encode wrote.
func decodeModel(p []byte) (*model, error) {
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

// The whole file: the length of the forest, the forest, and the two lexicons,
// each the number of its tokens and then token u64, weight f32, by token.
func (j *judgement) encode() []byte {
	forest := j.model.encode()
	out := append(binary.LittleEndian.AppendUint32(nil, uint32(len(forest))), forest...)
	for _, x := range [...]lexicon{j.names, j.words} {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(x)))
		for _, token := range slices.Sorted(maps.Keys(x)) {
			out = binary.LittleEndian.AppendUint64(out, token)
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x[token]))
		}
	}
	return out
}

func decodeJudgement(p []byte) (*judgement, error) {
	forest, p, err := section(p, 1)
	if err != nil {
		return nil, err
	}
	j := &judgement{}
	if j.model, err = decodeModel(forest); err != nil {
		return nil, err
	}
	for _, x := range [...]*lexicon{&j.names, &j.words} {
		var entries []byte
		if entries, p, err = section(p, entrySize); err != nil {
			return nil, err
		}
		*x = make(lexicon, len(entries)/entrySize)
		for ; len(entries) > 0; entries = entries[entrySize:] {
			(*x)[binary.LittleEndian.Uint64(entries)] = math.Float32frombits(binary.LittleEndian.Uint32(entries[8:]))
		}
	}
	if len(p) > 0 {
		return nil, fmt.Errorf("model: %d bytes behind its end", len(p))
	}
	return j, nil
}

const entrySize = 12

// section cuts off a part that begins with the number of its elements.
func section(p []byte, size int) (part, rest []byte, err error) {
	if len(p) < 4 {
		return nil, nil, fmt.Errorf("model: ends within a number")
	}
	n := int64(binary.LittleEndian.Uint32(p)) * int64(size)
	if p = p[4:]; n > int64(len(p)) {
		return nil, nil, fmt.Errorf("model: a part of %d bytes in %d", n, len(p))
	}
	return p[:n], p[n:], nil
}
