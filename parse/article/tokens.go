package article

import (
	"unicode"
	"unicode/utf8"
)

// tokens returns the hashes of the words of s, lower case. A Chinese, Japanese
// or Korean character is a word of its own.
func tokens(s string, out []uint64) []uint64 {
	h, open := uint64(fnvOffset), false
	flush := func() {
		if open {
			out = append(out, h)
		}
		h, open = fnvOffset, false
	}
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			if r >= 'A' && r <= 'Z' {
				r |= 0x20
			}
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				h, open = (h^uint64(r))*fnvPrime, true
			} else {
				flush()
			}
		case isCJK(r):
			flush()
			h, open = (h^uint64(r))*fnvPrime, true
			flush()
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			h, open = (h^uint64(unicode.ToLower(r)))*fnvPrime, true
		default:
			flush()
		}
	}
	flush()
	return out
}

// FNV-1a over runes.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func isCJK(r rune) bool {
	return r >= 0x3040 && r <= 0x30FF || r >= 0x3400 && r <= 0x4DBF || r >= 0x4E00 && r <= 0x9FFF ||
		r >= 0xAC00 && r <= 0xD7AF || r >= 0xF900 && r <= 0xFAFF
}

// shingleWidth is how many words in a row make a shingle.
const shingleWidth = 4

// shingles calls f with a hash for every shingle of the words; all the words
// make one where there are fewer.
func shingles(words []uint64, f func(uint64)) {
	if len(words) == 0 {
		return
	}
	n := min(shingleWidth, len(words))
	for i := 0; i+n <= len(words); i++ {
		h := uint64(n)
		for _, w := range words[i : i+n] {
			h = (h ^ w) * fnvPrime
			h ^= h >> 29
		}
		f(h)
	}
}

// shingleSet is the shingles of a text, line by line and as a whole, so that
// short lines are found as well as parts of long ones.
type shingleSet map[uint64]struct{}

func (s shingleSet) add(words []uint64) {
	shingles(words, func(h uint64) { s[h] = struct{}{} })
}

// share returns which part of the shingles of words the set has.
func (s shingleSet) share(words []uint64) float64 {
	all, hit := 0, 0
	shingles(words, func(h uint64) {
		all++
		if _, ok := s[h]; ok {
			hit++
		}
	})
	if all == 0 {
		return 0
	}
	return float64(hit) / float64(all)
}
