package redisseen

import (
	"crypto/md5"
	"encoding/binary"
)

// CutIntoBlocks makes a filter of several blocks of what would fit into one, so
// that tests need no gigabytes.
func (s *Set) CutIntoBlocks(n int) { s.size.blocks, s.size.bits = n, s.size.bits/int64(n) }

// Positions returns the bits of an entry in a filter of one block, as filter.lua
// computes them.
func Positions(s *Set, member []byte) []uint64 {
	sum := md5.Sum(member)
	var h [4]uint64
	for i := range h {
		h[i] = uint64(binary.BigEndian.Uint32(sum[4*i:]))
	}
	m, k := uint64(s.size.bits), uint64(s.size.hashes)
	list := make([]uint64, 0, maxHashes)
	for j := range (k + 1) / 2 {
		list = append(list, (h[0]+j*h[1])%m)
	}
	for j := range k / 2 {
		list = append(list, (h[2]+j*h[3])%m)
	}
	return list
}
