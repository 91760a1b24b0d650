package charset

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// firstHigh returns the index of the first byte over 0x7F, or -1.
func firstHigh(p []byte) int {
	const high = 0x8080808080808080
	i := 0
	for ; i+32 <= len(p); i += 32 {
		q := p[i : i+32]
		a := binary.LittleEndian.Uint64(q) | binary.LittleEndian.Uint64(q[8:])
		if b := binary.LittleEndian.Uint64(q[16:]) | binary.LittleEndian.Uint64(q[24:]); (a|b)&high != 0 {
			break
		}
	}
	for ; i+8 <= len(p); i += 8 {
		if binary.LittleEndian.Uint64(p[i:])&high != 0 {
			break
		}
	}
	for ; i < len(p); i++ {
		if p[i] >= utf8.RuneSelf {
			return i
		}
	}
	return -1
}

// validUTF8 reports whether p, which begins with a byte over 0x7F, is UTF-8. A
// sequence that the end of p cuts is allowed, because bodies are cut at a size
// limit, but not alone: "café" in Latin-1 looks like that.
func validUTF8(p []byte) bool {
	p = trimTail(p)
	return len(p) > 0 && utf8.Valid(p)
}

// trimTail removes the beginning of a sequence at the end of p, if there is one.
func trimTail(p []byte) []byte {
	for i := len(p) - 1; i >= 0 && i >= len(p)-utf8.UTFMax+1; i-- {
		if utf8.RuneStart(p[i]) {
			if !utf8.FullRune(p[i:]) {
				return p[:i]
			}
			break
		}
	}
	return p
}

// lies reports whether p, labelled UTF-8, is something else: more bytes that
// cannot be UTF-8 than characters that are. A few wrong bytes do not unmake it.
func lies(p []byte) bool {
	good, bad := 0, 0
	for i := 0; i < len(p); {
		if p[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, n := utf8.DecodeRune(p[i:])
		if n == 1 {
			bad++
		} else {
			good++
		}
		i += n
	}
	return bad > good
}

// seven reports whether p, which is ASCII, may be a character set of seven bits
// (ISO-2022-JP, with escapes) or UTF-16 (with zero bytes).
func seven(p []byte) bool { return bytes.IndexByte(p, 0x1B) >= 0 || bytes.IndexByte(p, 0) >= 0 }

// utf16Look recognises UTF-16 without a byte order mark: markup is ASCII, so
// every second byte is mostly zero.
func utf16Look(p []byte) string {
	p = p[:min(len(p), 1024)]
	var zero [2]int
	for i, c := range p {
		if c == 0 {
			zero[i&1]++
		}
	}
	switch enough := len(p) * 3 / 10; {
	case len(p) < 4:
		return ""
	case zero[1] > enough && zero[0] < enough/8+1:
		return "utf-16le"
	case zero[0] > enough && zero[1] < enough/8+1:
		return "utf-16be"
	}
	return ""
}
