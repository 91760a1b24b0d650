package container

import "math/bits"

// address says where a unit (a page's record and the metadata behind it) lies,
// in 64 bits:
//
//	63       44 43       14 13  12      0
//	| segment  | offset    | L | length |
//
// Segment numbers start at 1, so that no address is 0. The length is rounded up
// to a class, so that one read of the right size brings the whole unit. L (late)
// is set where an older version was stored after a newer one: the chain must be
// searched for the newest.
type address uint64

const lateBit = 1 << 13

// lengthClass rounds n up to 9 significant bits: mantissa 256..511 and exponent,
// at most 0.4 % too large (256 bytes at least). 13 bits reach 2^40.
func lengthClass(n int64) uint64 {
	if n <= 256 {
		return 0
	}
	e := bits.Len64(uint64(n-1)) - 9
	e = max(e, 0)
	m := uint64(n+1<<e-1) >> e // rounded up
	if m == 512 {
		m, e = 256, e+1
	}
	return uint64(e)<<8 | (m - 256)
}

// classLength is the largest n of the class.
func classLength(c uint64) int64 { return int64(256+c&0xff) << (c >> 8) }

func makeAddress(segment int, offset, length int64) address {
	return address(uint64(segment)<<44 | uint64(offset)<<14 | lengthClass(length))
}

func (a address) segment() int  { return int(a >> 44) }
func (a address) offset() int64 { return int64(a >> 14 & (1<<30 - 1)) }
func (a address) length() int64 { return classLength(uint64(a & (lateBit - 1))) }
func (a address) late() bool    { return a&lateBit != 0 }

// place is the address without what is not about where: two addresses of one
// unit have the same place.
func (a address) place() uint64 { return uint64(a >> 14) }
