package redisseen

import (
	"crypto/md5"
	"encoding/binary"
)

// Positions returns the block of an entry, -1 where there is only one, and the
// bits in it, as filter.lua computes them.
func Positions(s *Set, member []byte) (block int, bits []uint64) {
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
	if s.size.blocks == 1 {
		return -1, list
	}
	return int(h[3]>>8) % s.size.blocks, list
}
