package canon

import (
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

var parser = whatwg.NewParser()

// Limits of any URL, for the sake of the full parser: its time grows with the
// square of these numbers, in front of the query. A page made to slow a crawler
// down holds many such URLs.
const (
	maxSlashes = 1024
	maxAts     = 16
)

// standard resolves any reference to canonical text, the slow way.
func (b *Base) standard(ref string) (string, error) {
	ref = trim(ref)
	switch {
	case len(ref) > MaxLen:
		return "", ErrLength
	case odd(ref):
		return "", ErrOdd
	}
	u, err := parseStandard(b.standardBase(ref), ref)
	if err != nil {
		if _, ok := cutScheme(ref); !ok && b.url.IsZero() {
			return "", ErrNoBase
		}
		return "", err
	}
	if s := u.Scheme(); s != "http" && s != "https" {
		return "", ErrScheme
	}
	u.SetUsername("")
	u.SetPassword("")
	return u.Href(true), nil
}

// standardBase returns the base for a trimmed reference. Its query, which takes
// long to parse, matters only to a reference without path and query.
func (b *Base) standardBase(ref string) string {
	if _, scheme := cutScheme(ref); scheme || ref == "" || ref[0] == '#' {
		return b.url.Text
	}
	return b.url.Text[:b.path]
}

// odd reports whether text is over the limits of the full parser.
func odd(text string) bool {
	if strings.Count(text, "@") <= maxAts && strings.Count(text, "/")+strings.Count(text, `\`) <= maxSlashes {
		return false // the common case
	}
	head := text
	if i := strings.IndexAny(text, "?#"); i >= 0 {
		head = text[:i]
	}
	return strings.Count(head, "@") > maxAts || strings.Count(head, "/")+strings.Count(head, `\`) > maxSlashes
}

// parseStandard parses by the URL Standard. It adds one rule that the library
// lacks: a host of ASCII only is taken although a label that begins with "xn--"
// is no valid punycode (the standard's "domain to ASCII" lower-cases such
// hosts; DNS knows names like these).
func parseStandard(base, input string) (*whatwg.Url, error) {
	u, err := parseRef(parser, base, input)
	if err == nil || !strings.Contains(strings.ToLower(percentDecode(base+" "+input)), "xn--") {
		return u, err
	}
	var host string
	lenient := whatwg.NewParser(
		whatwg.WithPreParseHostFunc(func(_ *whatwg.Url, in string) string {
			h, ok := asciiDomain(in)
			host = h
			if ok {
				return "placeholder"
			}
			return in
		}),
		whatwg.WithPostParseHostFunc(func(_ *whatwg.Url, h string) string {
			if h == "placeholder" && host != "" {
				return host
			}
			return h
		}))
	if v, err := parseRef(lenient, base, input); err == nil {
		return v, nil
	}
	return nil, err
}

func parseRef(p whatwg.Parser, base, input string) (*whatwg.Url, error) {
	if base == "" {
		return p.Parse(input)
	}
	return p.ParseRef(base, input)
}

// asciiDomain returns the lower-case form of a host that is a domain of ASCII
// characters which domains may have, and is not an IPv4 address.
func asciiDomain(in string) (string, bool) {
	h := strings.ToLower(percentDecode(in))
	for i := range len(h) {
		if h[i] <= ' ' || h[i] >= 0x7f || strings.IndexByte(`#%/:<>?@[\]^|`, h[i]) >= 0 {
			return "", false
		}
	}
	last := strings.TrimSuffix(h, ".")
	last = last[strings.LastIndexByte(last, '.')+1:]
	if last == "" || '0' <= last[0] && last[0] <= '9' {
		return "", false // perhaps a number, which the standard takes for an address
	}
	return h, true
}

// percentDecode decodes %XX and leaves every other % as it is.
func percentDecode(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && hex(s[i+1]) >= 0 && hex(s[i+2]) >= 0 {
			out = append(out, byte(hex(s[i+1])<<4|hex(s[i+2])))
			i += 2
			continue
		}
		out = append(out, s[i])
	}
	return string(out)
}

// hex returns the value of a hexadecimal digit, or -1.
func hex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
