package canon

import (
	"crypto/md5"
	"encoding/binary"

	"octopus"
)

// Key is the fingerprint of a request: u.Key for a plain GET, else a key of the
// same site and host whose last eight bytes are of
//
//	MD5( URL text | 0 | length of method, 4 bytes, big-endian | method | body )
//
// An empty method means GET. The framing is unambiguous: a canonical text holds
// no zero byte.
func Key(u octopus.URL, method string, body []byte) octopus.Key {
	if method == "" {
		method = "GET"
	}
	if method == "GET" && len(body) == 0 {
		return u.Key
	}
	buf := make([]byte, 0, len(u.Text)+5+len(method)+len(body))
	buf = append(buf, u.Text...)
	buf = append(buf, 0)
	buf = binary.BigEndian.AppendUint32(buf, uint32(len(method)))
	buf = append(buf, method...)
	buf = append(buf, body...)
	return withRequest(u.Key.Host(), md5.Sum(buf))
}

// requestKey is the key of a plain GET of text on a host.
func requestKey(host octopus.HostKey, text string) octopus.Key {
	return withRequest(host, md5.Sum([]byte(text)))
}

func withRequest(host octopus.HostKey, sum [md5.Size]byte) (k octopus.Key) {
	copy(k[:8], host[:])
	copy(k[8:], sum[:8])
	return k
}

// newHostID computes what a host contributes to its URLs.
func newHostID(host string) hostID {
	id := hostID{site: Site(host)}
	site, name := md5.Sum([]byte(id.site)), md5.Sum([]byte(host))
	copy(id.key[:4], site[:4])
	copy(id.key[4:], name[:4])
	return id
}
