package canon

import (
	"strings"

	"octopus"
)

// Base resolves the references of one page. It knows where the parts of the
// page's URL end, and it remembers the hosts it met, because the links of a page
// share few: their sites and digests are computed once. The zero Base resolves
// absolute URLs only. It is not safe for concurrent use.
type Base struct {
	url    octopus.URL
	origin int // length of "scheme://host:port"
	dir    int // length up to and including the last slash of the path
	path   int // length up to the end of the path

	hosts map[string]hostID
}

// hostID is what a host contributes to a URL.
type hostID struct {
	site string
	key  octopus.HostKey
}

// maxHosts bounds the hosts a Base remembers; a page with more is odd.
const maxHosts = 256

// NewBase prepares a page's URL, which must come from this package.
func NewBase(u octopus.URL) *Base {
	b := &Base{url: u}
	if u.IsZero() {
		return b
	}
	b.origin = originLen(u.Text)
	b.path = len(u.Text)
	if i := strings.IndexByte(u.Text, '?'); i >= 0 {
		b.path = i
	}
	b.dir = strings.LastIndexByte(u.Text[:b.path], '/') + 1
	return b
}

// URL returns the URL the Base was made of.
func (b *Base) URL() octopus.URL { return b.url }

// Resolve makes a canonical URL of a reference. The error is an *Error. The
// result shares no memory with ref.
func (b *Base) Resolve(ref string) (octopus.URL, error) {
	text, verdict := b.fast(trim(ref))
	switch verdict {
	case refused:
		return octopus.URL{}, &Error{ref, ErrScheme}
	case unsure:
		t, err := b.standard(ref)
		if err != nil {
			return octopus.URL{}, &Error{ref, err}
		}
		text = t
	}
	switch {
	case len(text) > MaxLen:
		return octopus.URL{}, &Error{ref, ErrLength}
	case odd(text): // so that a canonical text can always be parsed again
		return octopus.URL{}, &Error{ref, ErrOdd}
	}
	return b.identify(text), nil
}

// identify completes a canonical text: host, site and key.
func (b *Base) identify(text string) octopus.URL {
	u := octopus.URL{Text: text, Host: hostOf(text)}
	if !b.url.IsZero() && u.Host == b.url.Host {
		u.Host, u.Site = b.url.Host, b.url.Site
		u.Key = requestKey(b.url.Key.Host(), text)
		return u
	}
	id, ok := b.hosts[u.Host]
	if !ok {
		id = newHostID(u.Host)
		b.remember(u.Host, id)
	}
	u.Site, u.Key = id.site, requestKey(id.key, text)
	return u
}

func (b *Base) remember(host string, id hostID) {
	if b.url.IsZero() || len(b.hosts) >= maxHosts {
		return
	}
	if b.hosts == nil {
		b.hosts = make(map[string]hostID)
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
