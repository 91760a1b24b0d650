package warc

import (
	"crypto/rand"
	"crypto/sha1"
	"encoding/base32"
	"encoding/hex"
)

// NewID returns a fresh record ID, a random (version 4) UUID as a URI.
func NewID() string {
	var u [16]byte
	rand.Read(u[:]) // never fails (since Go 1.24)
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return string(appendUUID(append(make([]byte, 0, 48), "urn:uuid:"...), u))
}

func appendUUID(dst []byte, u [16]byte) []byte {
	for i, part := range [][]byte{u[:4], u[4:6], u[6:8], u[8:10], u[10:]} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, part)
	}
	return dst
}

// Digest returns the SHA-1 of p as WARC writes it: "sha1:" and 32 base-32
// digits. That is the form CDX tools look records up by.
func Digest(p []byte) string {
	sum := sha1.Sum(p)
	return FormatDigest(sum)
}

// FormatDigest returns the text of a SHA-1.
func FormatDigest(sum [20]byte) string {
	return string(base32.StdEncoding.AppendEncode(append(make([]byte, 0, 40), "sha1:"...), sum[:]))
}

// ParseDigest reads what FormatDigest wrote; hexadecimal SHA-1 is accepted too.
// It reports false for anything else, such as another algorithm.
func ParseDigest(s string) (sum [20]byte, ok bool) {
	if len(s) < 5 || !equalFold(s[:5], "sha1:") {
		return sum, false
	}
	var n int
	var err error
	switch s = s[5:]; len(s) {
	case 32:
		n, err = base32.StdEncoding.Decode(sum[:], upper(s))
	case 40:
		n, err = hex.Decode(sum[:], []byte(s))
	}
	return sum, err == nil && n == len(sum)
}
