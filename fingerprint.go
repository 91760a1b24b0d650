package octopus

import (
	"fmt"
	"math/bits"
	"strconv"
)

// Fingerprint is the simhash of what a page shows: close, in bits, for pages that
// are close in their words. 0 means that there is none. As text it is 16
// hexadecimal digits.
type Fingerprint uint64

// nearBits is the distance up to which two pages count as nearly the same: the
// value that Manku, Jain and Das Sarma found on eight billion pages (Detecting
// near-duplicates for web crawling, 2007).
const nearBits = 3

// Distance returns the number of bits in which two fingerprints differ.
func (f Fingerprint) Distance(g Fingerprint) int { return bits.OnesCount64(uint64(f ^ g)) }

// Near reports whether two pages are nearly the same. It is false where either
// has no fingerprint.
func (f Fingerprint) Near(g Fingerprint) bool {
	return f != 0 && g != 0 && f.Distance(g) <= nearBits
}

// String returns 16 hexadecimal digits, or nothing for 0.
func (f Fingerprint) String() string {
	if f == 0 {
		return ""
	}
	return fmt.Sprintf("%016x", uint64(f))
}

// MarshalText is String.
func (f Fingerprint) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (f *Fingerprint) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*f = 0
		return nil
	}
	v, err := strconv.ParseUint(string(text), 16, 64)
	if err != nil || len(text) != 16 {
		return fmt.Errorf("fingerprint %q: want 16 hexadecimal digits", text)
	}
	*f = Fingerprint(v)
	return nil
}
