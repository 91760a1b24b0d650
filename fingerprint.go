package octopus

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
)

// Fingerprint holds the simhashes of what a page shows: close, in bits, for pages
// that are close in their words. Text and links stand apart, so that pages with
// the same large menu do not look the same, and neither do lists in the same
// frame. The zero value says that a page has none. As text it is 32 hexadecimal
// digits, Text first.
type Fingerprint struct {
	Text  uint64 // of what stands outside links
	Links uint64 // of what stands inside
}

// near is the distance up to which two texts count as nearly the same: the value
// that Manku, Jain and Das Sarma found on eight billion pages (Detecting
// near-duplicates for web crawling, 2007).
const near = 3

// Near reports whether two pages are nearly the same: text and links differ in
// three bits or fewer each. It is false where either has no fingerprint.
func (f Fingerprint) Near(g Fingerprint) bool {
	if f == (Fingerprint{}) || g == (Fingerprint{}) {
		return false
	}
	return bits.OnesCount64(f.Text^g.Text) <= near && bits.OnesCount64(f.Links^g.Links) <= near
}

// String returns 32 hexadecimal digits, or nothing for no fingerprint.
func (f Fingerprint) String() string {
	if f == (Fingerprint{}) {
		return ""
	}
	return fmt.Sprintf("%016x%016x", f.Text, f.Links)
}

// MarshalText is String.
func (f Fingerprint) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (f *Fingerprint) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*f = Fingerprint{}
		return nil
	}
	var b [16]byte
	if n, err := hex.Decode(b[:], text[:min(len(text), 32)]); err != nil || n != 16 || len(text) != 32 {
		return fmt.Errorf("fingerprint %q: want 32 hexadecimal digits", text)
	}
	*f = Fingerprint{binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])}
	return nil
}
