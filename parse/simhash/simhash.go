package simhash

import "math/bits"

// Sketch makes the fingerprint of a text that comes in pieces. The zero value is
// that of no text. It is not safe for concurrent use.
type Sketch struct {
	lanes  [8]uint64 // byte j of lane k: ones of bit 8k+j since they were last moved to ones
	moved  int       // words at that time
	ones   [64]uint32
	before [2]uint64 // the two words before
	words  int
}

// Reset makes s the sketch of no text.
func (s *Sketch) Reset() { *s = Sketch{} }

// Words returns how many words were counted.
func (s *Sketch) Words() int { return s.words }

// Sum returns the fingerprint: 0 where there were no words.
func (s *Sketch) Sum() (sum uint64) {
	s.move()
	for i, n := range s.ones {
		if 2*int(n) > s.words {
			sum |= 1 << i
		}
	}
	return sum
}

// Of every stride bytes of a piece, the first sample words count.
const sample, stride = 12, 512

// Add adds a piece of UTF-8 text, such as stands between two tags. Of a long one
// the first 12 words of every 512 bytes count. Pieces are apart: none ends in
// the middle of a word.
func (s *Sketch) Add(text []byte) {
	for len(text) > 0 {
		next := min(stride, len(text))
		s.add(text[:next], s.words+sample)
		text = text[next:]
	}
}

// add adds words until there are as many as most.
func (s *Sketch) add(text []byte, most int) {
	h := uint64(0) // of the word being read; 0 between words
	for i := 0; i < len(text) && s.words < most; {
		c := text[i]
		if v := letters[c]; v != 0 {
			h = bits.RotateLeft64(h, 7) ^ v
			i++
			continue
		}
		if c < 0x80 {
			if h != 0 {
				s.word(h)
				h = 0
			}
			i++
			continue
		}
		n, k := classify(text[i:])
		if k != letter && h != 0 {
			s.word(h)
			h = 0
		}
		if k != separator {
			for _, c := range text[i : i+n] {
				h = bits.RotateLeft64(h, 7) ^ seeds[c]
			}
		}
		if k == ideograph {
			s.word(h)
			h = 0
		}
		i += n
	}
	if h != 0 && s.words < most {
		s.word(h)
	}
}

// word counts the feature that a word ends: it and the two before it.
func (s *Sketch) word(h uint64) {
	h = mix(h)
	f := mix(h ^ bits.RotateLeft64(s.before[0], 23) ^ bits.RotateLeft64(s.before[1], 46))
	s.before[0], s.before[1] = h, s.before[0]
	for k := range s.lanes {
		s.lanes[k] += spread[byte(f>>(8*k))]
	}
	if s.words++; s.words-s.moved == 255 {
		s.move()
	}
}

// move adds the lanes to ones, before a byte of them overflows.
func (s *Sketch) move() {
	for k, lane := range s.lanes {
		for j := range 8 {
			s.ones[8*k+j] += uint32(lane >> (8 * j) & 0xff)
		}
	}
	s.lanes, s.moved = [8]uint64{}, s.words
}

// kind of a character.
type kind uint8

const (
	separator kind = iota
	letter
	ideograph // a word of its own
)

// classify returns the length and the kind of the character that is not ASCII in
// front of b, by its first bytes: punctuation, symbols and emoji are separators,
// and so is what is no UTF-8.
func classify(b []byte) (n int, k kind) {
	c := b[0]
	switch {
	case c >= 0xf0:
		n, k = 4, ideograph // U+20000 and up
		if len(b) > 1 && c == 0xf0 && b[1] < 0xa0 {
			k = separator // U+10000 to U+1FFFF: old scripts, emoji
		}
	case c >= 0xe0:
		n, k = 3, wide(b)
	case c >= 0xc3:
		n, k = 2, letter // U+00C0 to U+07FF
	default:
		return 1, separator // a rest; Latin-1 punctuation is two of them
	}
	if n > len(b) {
		return len(b), separator
	}
	return n, k
}

// wide returns the kind of a character of three bytes.
func wide(b []byte) kind {
	second := byte(0)
	if len(b) > 1 {
		second = b[1]
	}
	switch c := b[0]; {
	case c < 0xe2: // U+0800 to U+1FFF: Indic, Thai, Georgian, Ethiopic …
		return letter
	case c == 0xe2, c == 0xe3 && second == 0x80, c == 0xee:
		return separator // U+2000 to U+2FFF, CJK punctuation, private use
	case c == 0xef:
		if second == 0xbc || second == 0xbd || second < 0xa4 {
			return separator // full-width punctuation, private use
		}
	}
	return ideograph // kana, han, hangul
}

// letters holds a random number for each ASCII letter and digit, the same for
// both cases, and 0 for all other bytes.
var letters = func() (t [256]uint64) {
	for c := byte('0'); c <= 'z'; c++ {
		switch {
		case c <= '9', c >= 'a':
			t[c] = seeds[c]
		case c >= 'A' && c <= 'Z':
			t[c] = seeds[c|0x20]
		}
	}
	return t
}()

// spread holds each byte with its bits in bytes of their own.
var spread = func() (t [256]uint64) {
	for i := range t {
		for j := range 8 {
			t[i] |= uint64(i) >> j & 1 << (8 * j)
		}
	}
	return t
}()

// seeds holds a random number for each byte.
var seeds = func() (t [256]uint64) {
	for i := range t {
		t[i] = mix(uint64(i) + 0x9e3779b97f4a7c15)
	}
	return t
}()

// mix spreads a hash over all bits, as the finalizer of MurmurHash3 does.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
