package inflate

import "math/bits"

// Bits that the first look-up of a code takes. Longer codes take a second one
// in a table behind.
const (
	literalBits  = 10
	distanceBits = 8
)

// Most entries that the tables of a complete code of 288 (32) symbols, at most
// 15 bits each, can have; zlib's program enough computes 1334 (402).
const (
	literalSize  = 1334
	distanceSize = 402
)

// An entry of a table:
//
//	literal:   | 1 | value at bit 16 | bits at 0 |
//	length, distance: | base at bit 16 | bits of the code at 8 | bits of code and extra at 0 |
//	other:     bit 15 set; with subtable: | start at bit 16 | its bits at 8 | bits so far at 0 |
const (
	literal  = 1 << 31
	other    = 1 << 15
	subtable = other | 1<<14
	endBlock = other | 1<<13
	invalid  = other | 1
)

// Symbols without their codes: what an entry says beside the bits of the code.
var literalSymbols, distanceSymbols = symbols()

func symbols() (l [288]uint32, d [32]uint32) {
	for i := range 256 {
		l[i] = literal | uint32(i)<<16
	}
	l[256] = endBlock
	base := uint32(3)
	for i := range uint32(28) {
		extra := uint32(0)
		if i >= 8 {
			extra = i/4 - 1
		}
		l[257+i] = base<<16 | extra
		base += 1 << extra
	}
	l[285] = 258 << 16
	l[286], l[287] = invalid, invalid
	base = 1
	for i := range uint32(30) {
		extra := uint32(0)
		if i >= 4 {
			extra = i/2 - 1
		}
		d[i] = base<<16 | extra
		base += 1 << extra
	}
	d[30], d[31] = invalid, invalid
	return l, d
}

// entry makes the entry of a symbol whose code has so many bits (left).
func entry(symbol uint32, length int) uint32 {
	return symbol + uint32(length)<<8&^(symbol>>31*0xffff) + uint32(length)
}

// build fills a table for codes of the given lengths, one for each symbol; first
// is the number of bits of the first look-up. It reports whether that is a code:
// complete, or of a single symbol with one bit, or empty.
func build(table []uint32, first int, lengths []uint8, symbols []uint32) bool {
	var count, start [16]int
	for _, l := range lengths {
		count[l]++
	}
	used := 0
	for l := 1; l < 16; l++ {
		used += count[l] << (15 - l)
		if l < 15 {
			start[l+1] = start[l] + count[l]
		}
	}
	var sorted [288]uint16
	for s, l := range lengths {
		if l != 0 {
			sorted[start[l]] = uint16(s)
			start[l]++
		}
	}
	switch {
	case used == 1<<15:
		fill(table, first, &count, sorted[:], symbols)
		return true
	case used == 0 || used == 1<<14 && count[1] == 1:
		for i := range 1 << first {
			table[i] = invalid
			if used != 0 && i&1 == 0 {
				table[i] = entry(symbols[sorted[0]], 1)
			}
		}
		return true
	}
	return false
}

// fill makes the table of a complete code. Codes come in their order, bits
// reversed; a table for codes of n bits is twice that of n-1 bits.
func fill(table []uint32, first int, count *[16]int, sorted []uint16, symbols []uint32) {
	code, length, next := 0, 1, 0
	left := count[1]
	for ; left == 0; left = count[length] {
		length++
	}
	end := 1 << min(length, first)
	prefix, begin := -1, 0
	for {
		for ; left > 0; left-- {
			symbol := symbols[sorted[next]]
			next++
			if length <= first {
				table[code] = entry(symbol, length)
			} else {
				if p := code & (1<<first - 1); p != prefix {
					prefix, begin = p, end
					size := subtableBits(count, length, left, first)
					end += 1 << size
					table[p] = uint32(begin)<<16 | subtable | uint32(size)<<8 | uint32(first)
				}
				for i := begin + code>>first; i < end; i += 1 << (length - first) {
					table[i] = entry(symbol, length-first)
				}
			}
			if code == 1<<length-1 { // the last code
				for n := length; n < first; n++ {
					copy(table[1<<n:], table[:1<<n])
				}
				return
			}
			bit := 1 << (bits.Len(uint(code^(1<<length-1))) - 1)
			code = code&(bit-1) | bit
		}
		for left == 0 {
			if length < first {
				copy(table[1<<length:], table[:1<<length])
				end = 2 << length
			}
			length++
			left = count[length]
		}
	}
}

// subtableBits returns the bits of the subtable that begins with a code of that
// length, of which left are left.
func subtableBits(count *[16]int, length, left, first int) int {
	n := length - first
	for used := left; used < 1<<n; {
		n++
		used = used<<1 + count[first+n]
	}
	return n
}
