package durable

import (
	"encoding/binary"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CRC returns the CRC-32C of p.
func CRC(p []byte) uint32 { return crc32.Checksum(p, castagnoli) }

// Seal appends the CRC-32C of everything in p, four bytes little endian.
func Seal(p []byte) []byte { return binary.LittleEndian.AppendUint32(p, CRC(p)) }

// Sealed reports whether p ends with the CRC-32C of what precedes it. A frame
// of zeros only is never sealed: that is what a power cut leaves in a file.
func Sealed(p []byte) bool {
	n := len(p) - 4
	return n > 0 && binary.LittleEndian.Uint32(p[n:]) == CRC(p[:n]) && !zero(p)
}

func zero(p []byte) bool {
	for _, b := range p {
		if b != 0 {
			return false
		}
	}
	return true
}
