package seen

import (
	"encoding/binary"

	"octopus"
)

// fingerprint folds the 128 bits of a key into 64. Two given keys collide with
// probability 2^-64, so a new key is taken for known with n / 2^64 in a set of
// n: 3e-11 at 600 million. Keys that differ in their host half differ in what
// is multiplied, so a page cannot be made to collide with one of another host
// by searching for equal second halves.
func fingerprint(k octopus.Key) uint64 {
	hi := binary.BigEndian.Uint64(k[:8])
	lo := binary.BigEndian.Uint64(k[8:])
	return mix(lo ^ mix(hi))
}

// mix is the finalizer of MurmurHash3: every input bit changes every output bit
// with a probability near one half, and it is a bijection.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
