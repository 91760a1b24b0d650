package canon

import (
	"strings"
	"unsafe"

	"octopus"
)

// Base resolves the references of one page, and by Reset those of the next. It
// knows where the parts of the page's URL end, and it remembers what many links
// share: hosts, whose sites and digests are computed once, and after a Reset
// URLs, since pages of a site link to the same ones. The zero Base resolves
// absolute URLs only. It is not safe for concurrent use.
type Base struct {
	url    octopus.URL
	origin int // length of "scheme://host:port"
	dir    int // length up to and including the last slash of the path
	path   int // length up to the end of the path

	text  []byte // canonical text being made
	hosts map[string]hostID
	met   *table // nil before the first Reset
}

// hostID is what a host contributes to a URL.
type hostID struct {
	site string
	key  octopus.HostKey
}

// maxHosts bounds the hosts a Base remembers. One more, and it forgets them.
const maxHosts = 1024

// NewBase prepares a page's URL, which must come from this package.
func NewBase(u octopus.URL) *Base {
	b := new(Base)
	b.locate(u)
	return b
}

// Reset makes b the base of another page, whose URL must come from this package.
// From then on it remembers some thousand URLs, about half a megabyte.
func (b *Base) Reset(u octopus.URL) {
	if b.met == nil {
		b.met = newTable()
	}
	b.locate(u)
}

func (b *Base) locate(u octopus.URL) {
	b.url, b.origin, b.dir, b.path = u, 0, 0, 0
	if u.IsZero() {
		return
	}
	b.origin = originLen(u.Text)
	b.path = len(u.Text)
	if i := strings.IndexByte(u.Text, '?'); i >= 0 {
		b.path = i
	}
	b.dir = strings.LastIndexByte(u.Text[:b.path], '/') + 1
}

// URL returns the URL the Base was made of.
func (b *Base) URL() octopus.URL { return b.url }

// Resolve makes a canonical URL of a reference. The error is an *Error. The
// result shares no memory with ref.
func (b *Base) Resolve(ref string) (octopus.URL, error) {
	u, err := b.resolve(ref)
	if err != nil {
		return octopus.URL{}, &Error{ref, err}
	}
	return u, nil
}

// ResolveBytes is Resolve for bytes, and for those who do not ask why a
// reference is no URL. It allocates only for a URL that it does not remember.
func (b *Base) ResolveBytes(ref []byte) (octopus.URL, bool) {
	u, err := b.resolve(unsafe.String(unsafe.SliceData(ref), len(ref))) // nothing keeps it
	return u, err == nil
}

// resolve keeps nothing of ref.
func (b *Base) resolve(ref string) (octopus.URL, error) {
	switch b.fast(trim(ref)) {
	case refused:
		return octopus.URL{}, ErrScheme
	case unsure:
		text, err := b.standard(strings.Clone(ref)) // the library's errors may hold it
		if err != nil {
			return octopus.URL{}, err
		}
		b.text = append(b.text[:0], text...)
	}
	if b.met == nil {
		return b.identify()
	}
	slot := b.met.slot(b.text)
	if slot.Text == string(b.text) {
		return *slot, nil
	}
	u, err := b.identify()
	if err == nil {
		*slot = u
	}
	return u, err
}

// identify makes the URL of the canonical text: host, site and key.
func (b *Base) identify() (octopus.URL, error) {
	if len(b.text) > MaxLen {
		return octopus.URL{}, ErrLength
	}
	text := string(b.text)
	if odd(text) { // so that a canonical text can always be parsed again
		return octopus.URL{}, ErrOdd
	}
	u := octopus.URL{Text: text, Host: hostOf(text)}
	if !b.url.IsZero() && u.Host == b.url.Host {
		u.Host, u.Site = b.url.Host, b.url.Site
		u.Key = requestKey(b.url.Key.Host(), text)
		return u, nil
	}
	id, ok := b.hosts[u.Host]
	if !ok {
		id = newHostID(u.Host)
		b.remember(u.Host, id)
	}
	u.Site, u.Key = id.site, requestKey(id.key, text)
	return u, nil
}

func (b *Base) remember(host string, id hostID) {
	switch {
	case b.url.IsZero():
		return
	case b.hosts == nil:
		b.hosts = make(map[string]hostID)
	case len(b.hosts) >= maxHosts:
		clear(b.hosts)
	}
	b.hosts[host] = id
}

// trim removes what the URL Standard strips from both ends: C0 controls and
// spaces.
func trim(s string) string {
	for s != "" && s[0] <= ' ' {
		s = s[1:]
	}
	for s != "" && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	return s
}

// originLen returns the length of "scheme://host:port" of a canonical text.
func originLen(text string) int {
	at := strings.Index(text, "://") + 3
	return at + strings.IndexByte(text[at:], '/')
}
