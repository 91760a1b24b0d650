package seen

import (
	"math/bits"
	"sync/atomic"
)

// layout says how many cache lines a fingerprint has its bits in.
type layout uint8

// The layouts. A line is four pairs of 64-bit words. In each pair a fingerprint
// has two different bits of one word, chosen by sixteen bits of its own of a
// remixed hash. One bit in each of the eight words would err as often (see
// lineError) and take twice the atomic writes, which are most of the cost of
// adding. Double hashing inside a line would be simpler, and err ten times as often.
const (
	split8    layout = 1 // one line, 8 bits: best below about 18 bits per key
	twoLine16 layout = 2 // two independent lines, 8 bits in each: best above
)

const (
	lineWords = 8
	lineBytes = 8 * lineWords
)

// filter is a Bloom filter of fingerprints in cache lines of 64 bytes. It is
// shared without a lock: bits are only ever set, by atomic operations, and a
// word that has its bit already is not written.
type filter struct {
	layout layout
	lines  uint64
	words  []uint64
}

func newFilter(l layout, lines uint64) *filter {
	lines = max(lines, 1)
	return &filter{layout: l, lines: lines, words: newWords(lines)}
}

func newWords(lines uint64) []uint64 {
	words := make([]uint64, lines*lineWords)
	advise(words)
	return words
}

// spot is a line, and the hash that chooses bits in it.
type spot struct {
	words *[lineWords]uint64
	x     uint64
}

func (f *filter) spot(h uint64) spot {
	at, rest := bits.Mul64(h, f.lines)
	at *= lineWords
	return spot{(*[lineWords]uint64)(f.words[at : at+lineWords]), mix(rest)}
}

// pair returns the word that is chosen of pair i, 0 to 3, and the two bits of it.
func (s *spot) pair(i int) (word *uint64, mask uint64) {
	y := s.x >> (16 * i)
	apart := y >> 7 & 511 * 63 >> 9 // 0 to 62
	return &s.words[2*i+int(y>>6&1)], bits.RotateLeft64(1|2<<apart, int(y&63))
}

func (s *spot) has() bool {
	for i := range lineWords / 2 {
		if word, mask := s.pair(i); atomic.LoadUint64(word)&mask != mask {
			return false
		}
	}
	return true
}

// second returns the hash of a fingerprint's second line.
func second(fp uint64) uint64 { return mix(fp + 0x9e3779b97f4a7c15) }

// has reports whether fp may be in the filter; false is certain.
func (f *filter) has(fp uint64) bool {
	s := f.spot(fp)
	if !s.has() {
		return false
	}
	if f.layout == split8 {
		return true
	}
	s = f.spot(second(fp))
	return s.has()
}

// add puts fp into the filter, and reports whether it certainly was not there.
//
// Of many goroutines that add one fingerprint at once, at most one hears true:
// the one that fills the last word it found wanting. For if two did, at words i
// before j, then the one at i found j filled by the other, who had filled i
// before; so it could not fill i. None may hear true where a third fingerprint
// fills that very word in between: one more way to be taken for known, much
// rarer than the error of the filter.
func (f *filter) add(fp uint64) bool {
	var c claim
	s := f.spot(fp)
	c.fill(&s)
	if f.layout == twoLine16 {
		s = f.spot(second(fp))
		c.fill(&s)
	}
	return c.word != nil && atomic.OrUint64(c.word, c.mask)&c.mask != c.mask
}

// claim is the last word that lacked a bit, which is still to be written.
type claim struct {
	word *uint64
	mask uint64
}

// fill sets what is missing in a line, but for the last word.
func (c *claim) fill(s *spot) {
	for i := range lineWords / 2 {
		word, mask := s.pair(i)
		if atomic.LoadUint64(word)&mask == mask {
			continue
		}
		if c.word != nil {
			atomic.OrUint64(c.word, c.mask)
		}
		c.word, c.mask = word, mask
	}
}

// touch reads a word of every line that the fingerprints have, so that the
// cache misses of what follows overlap.
func (f *filter) touch(fps []uint64) (sum uint64) {
	for _, fp := range fps {
		at, _ := bits.Mul64(fp, f.lines)
		sum += atomic.LoadUint64(&f.words[at*lineWords])
		if f.layout == twoLine16 {
			at, _ = bits.Mul64(second(fp), f.lines)
			sum += atomic.LoadUint64(&f.words[at*lineWords])
		}
	}
	return sum
}

// measuredError returns the share of random fingerprints that the filter would
// take for known, from the bits that are set in (at most) a million lines: the
// share of a word's pairs of bits that are set, averaged over a pair of words,
// multiplied over a line, averaged over lines, squared where two must agree.
func (f *filter) measuredError() float64 {
	step := max(f.lines/(1<<20), 1)
	sum, n := 0.0, 0.0
	for line := uint64(0); line < f.lines; line += step {
		p := 1.0
		words := f.words[line*lineWords:][:lineWords]
		for i := 0; i < lineWords; i += 2 {
			p *= (pairsSet(words[i]) + pairsSet(words[i+1])) / 2
		}
		sum, n = sum+p, n+1
	}
	if p := sum / n; f.layout == split8 {
		return p
	} else {
		return p * p
	}
}

// pairsSet returns the share of the pairs of bits of a word that are set.
func pairsSet(w uint64) float64 {
	n := bits.OnesCount64(w)
	return float64(n*(n-1)) / (64 * 63)
}

func (f *filter) bytes() int64 { return int64(8 * len(f.words)) }
