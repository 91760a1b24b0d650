package simhash

import (
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// Near is the distance up to which two pages of some length count as the same:
// the value that Manku and others found on eight billion pages.
const Near = 3

// width is the number of words in a row that make one feature.
const width = 3

// Of returns the fingerprint of a text: 0 for one without letters or digits.
// Its features are three words in a row, where a Chinese, Japanese or Korean
// character is a word of its own. The value depends on nothing but the text and
// may be stored.
func Of(text string) uint64 {
	var sums [64]int32
	var window [width]uint64
	n := 0
	eachWord(text, func(h uint64) {
		window[n%width] = h
		n++
		if n < width {
			return
		}
		f := uint64(0)
		for i := range uint(width) {
			f = mix(f ^ window[(uint(n)+i)%width])
		}
		count(&sums, f)
	})
	if n == 0 {
		return 0
	}
	if n < width { // too short for a feature: the words are
		for _, h := range window[:n] {
			count(&sums, mix(h))
		}
	}
	var out uint64
	for i, s := range sums {
		if s > 0 {
			out |= 1 << i
		}
	}
	return out
}

// Distance returns the number of bits in which two fingerprints differ.
func Distance(a, b uint64) int { return bits.OnesCount64(a ^ b) }

func count(sums *[64]int32, f uint64) {
	for i := range sums {
		sums[i] += int32(f>>i&1)*2 - 1
	}
}

// eachWord calls f with the hash of every word, lower case.
func eachWord(text string, f func(uint64)) {
	h, open := uint64(offset), false
	flush := func() {
		if open {
			f(h)
		}
		h, open = offset, false
	}
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			if r >= 'A' && r <= 'Z' {
				r |= 0x20
			}
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				h, open = add(h, r), true
				continue
			}
			flush()
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			flush()
			f(add(offset, r))
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			h, open = add(h, unicode.ToLower(r)), true
		default:
			flush()
		}
	}
	flush()
}

// FNV-1a over runes: fast, and the same on every machine.
const (
	offset = 14695981039346656037
	prime  = 1099511628211
)

func add(h uint64, r rune) uint64 { return (h ^ uint64(r)) * prime }

// mix spreads a hash over all bits, as the finalizer of MurmurHash3 does.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
