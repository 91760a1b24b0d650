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

// fingerprints returns those of all keys.
func fingerprints(keys []octopus.Key) []uint64 {
	fps := make([]uint64, len(keys))
	for i, k := range keys {
		fps[i] = fingerprint(k)
	}
	return fps
}

// group is the number of keys whose cache misses overlap.
const group = 64

// each calls do with the fingerprint of every key, in order, until one fails.
// It has touch load what a group of keys needs before do asks for any of them.
func each(keys []octopus.Key, touch func([]uint64) uint64, do func(i int, fp uint64) error) error {
	var fps [group]uint64
	for at := 0; at < len(keys); at += group {
		n := min(group, len(keys)-at)
		for i := range n {
			fps[i] = fingerprint(keys[at+i])
		}
		touch(fps[:n])
		for i := range n {
			if err := do(at+i, fps[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
