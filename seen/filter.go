package seen

import (
	"math/bits"
	"sync/atomic"
)

// layout says how many cache lines a fingerprint has its bits in.
type layout uint8

// The layouts. In a line of eight 64-bit words a fingerprint has one bit in
// each word, chosen by six bits of its own of a remixed hash. Double hashing
// inside a line would be simpler, and err ten times as often.
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
	return &filter{layout: l, lines: lines, words: make([]uint64, lines*lineWords)}
}

// line returns the words of the line of a hash, and what chooses the bits.
func (f *filter) line(h uint64) (words []uint64, x uint64) {
	at, rest := bits.Mul64(h, f.lines)
	at *= lineWords
	return f.words[at : at+lineWords : at+lineWords], mix(rest)
}

// second returns the hash of a fingerprint's second line.
func second(fp uint64) uint64 { return mix(fp + 0x9e3779b97f4a7c15) }

func hasLine(words []uint64, x uint64) bool {
	for i := range lineWords {
		if atomic.LoadUint64(&words[i])>>(x&63)&1 == 0 {
			return false
		}
		x >>= 6
	}
	return true
}

// setLine sets the bits and reports whether one was missing.
func setLine(words []uint64, x uint64) (changed bool) {
	for i := range lineWords {
		bit := uint64(1) << (x & 63)
		if atomic.LoadUint64(&words[i])&bit == 0 {
			atomic.OrUint64(&words[i], bit)
			changed = true
		}
		x >>= 6
	}
	return changed
}

// has reports whether fp may be in the filter; false is certain.
func (f *filter) has(fp uint64) bool {
	if !hasLine(f.line(fp)) {
		return false
	}
	return f.layout == split8 || hasLine(f.line(second(fp)))
}

// add puts fp into the filter, and reports whether it certainly was not there.
// Two goroutines that add one fingerprint at once may both hear true.
func (f *filter) add(fp uint64) bool {
	changed := setLine(f.line(fp))
	if f.layout == twoLine16 && setLine(f.line(second(fp))) {
		changed = true
	}
	return changed
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
// product over a line's words of their fill, averaged over lines, squared where
// two lines must agree.
func (f *filter) measuredError() float64 {
	step := max(f.lines/(1<<20), 1)
	sum, n := 0.0, 0.0
	for line := uint64(0); line < f.lines; line += step {
		p := 1.0
		for _, w := range f.words[line*lineWords:][:lineWords] {
			p *= float64(bits.OnesCount64(w)) / 64
		}
		sum, n = sum+p, n+1
	}
	if p := sum / n; f.layout == split8 {
		return p
	} else {
		return p * p
	}
}

func (f *filter) bytes() int64 { return int64(8 * len(f.words)) }
