package octopus

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// Key identifies a request: a canonical URL and, where a Link carries them, its
// method and body. Its bytes are prefixes of three MD5 digests,
//
//	0     4     8               16
//	| site | host | whole request |
//
// so that the keys of one site, and of one host within it, are adjacent: they
// are scanned, partitioned and handed over by range.
type Key [16]byte

// Site returns the first four bytes, which all keys of one registrable domain
// (or one IP literal) share.
func (k Key) Site() [4]byte { return [4]byte(k[:4]) }

// Host returns the first eight bytes, which all keys of one host share.
func (k Key) Host() HostKey { return HostKey(k[:8]) }

// String returns the key as 32 hexadecimal digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// ParseKey reads what Key.String wrote.
func ParseKey(s string) (Key, error) {
	var k Key
	if len(s) == 2*len(k) {
		if _, err := hex.Decode(k[:], []byte(s)); err == nil {
			return k, nil
		}
	}
	return Key{}, fmt.Errorf("key %q: want %d hexadecimal digits", s, 2*len(k))
}

// HostKey is the part of a Key that all URLs of one host share: four bytes of
// the site's digest, four of the host's.
type HostKey [8]byte

// String returns the key as 16 hexadecimal digits.
func (h HostKey) String() string { return hex.EncodeToString(h[:]) }

// URL is a canonical http or https URL. Package canon makes it from text; a
// zero URL means none. The text is kept whole and decides when keys collide.
type URL struct {
	Text string // canonical, without fragment
	Host string // host name in ASCII, or IP literal; no port
	Site string // registrable domain of Host, or Host itself where it has none
	Key  Key
}

// HostInURL returns a host as it is written in a URL: an IPv6 address stands in
// brackets there.
func HostInURL(host string) string {
	if strings.Contains(host, ":") && host[0] != '[' {
		return "[" + host + "]"
	}
	return host
}

// IsZero reports whether u is the zero URL.
func (u URL) IsZero() bool { return u.Text == "" }

// String returns the canonical text.
func (u URL) String() string { return u.Text }
