package redisseen

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"octopus"
)

// ScrapyVersion names one of the ways in which Scrapy's fingerprint of a request
// was computed. All are SHA-1 over method, canonical URL and body, headers left
// out, which is the default.
type ScrapyVersion string

const (
	// Scrapy is scrapy.utils.request.fingerprint of Scrapy 2.7 and later: over
	// JSON with body, headers, method, url.
	Scrapy ScrapyVersion = "scrapy"
	// ScrapyRedis is that of scrapy-redis 0.8 and later: over JSON with body,
	// method, url.
	ScrapyRedis ScrapyVersion = "scrapy-redis"
	// Scrapy26 is that of Scrapy up to 2.6, and of scrapy-redis up to 0.7: over
	// method, URL and body in a row. It is still the default of projects with
	// REQUEST_FINGERPRINTER_IMPLEMENTATION = "2.6".
	Scrapy26 ScrapyVersion = "scrapy-2.6"
)

// ScrapyFingerprint returns the fingerprint that Scrapy gives a request. An
// empty method means GET.
func ScrapyFingerprint(v ScrapyVersion, method, url string, body []byte) ([20]byte, error) {
	canonical := canonicalizeURL(url)
	method = cmp.Or(method, "GET")
	switch v {
	case Scrapy26:
		return sha1.Sum(slices.Concat([]byte(method), []byte(canonical), body)), nil
	case Scrapy:
		return sha1.Sum(fmt.Appendf(nil, `{"body": %s, "headers": {}, "method": %s, "url": %s}`, quoteJSON(hex.EncodeToString(body)), quoteJSON(method), quoteJSON(canonical))), nil
	case ScrapyRedis:
		return sha1.Sum(fmt.Appendf(nil, `{"body": %s, "method": %s, "url": %s}`, quoteJSON(hex.EncodeToString(body)), quoteJSON(method), quoteJSON(canonical))), nil
	}
	return [20]byte{}, fmt.Errorf("fingerprint %q: must be %s, %s or %s", v, Scrapy, ScrapyRedis, Scrapy26)
}

// ScrapySet is a Set whose entries are Scrapy's fingerprints, so that what a
// spider met is known here, and the other way round. It is a
// redisfrontier.LinkSeen; Add and Contains with URL keys are of no use in it.
type ScrapySet struct {
	*Set
	Version ScrapyVersion // empty means Scrapy
}

// AddLinks records links and sets fresh[i] where links[i] was not in the set.
func (s ScrapySet) AddLinks(ctx context.Context, now time.Time, links []octopus.Link, fresh []bool) error {
	members, err := s.members(links)
	if err != nil {
		return err
	}
	return s.AddMembers(ctx, now, members, fresh)
}

// ContainsLinks sets known[i] where links[i] is in the set.
func (s ScrapySet) ContainsLinks(ctx context.Context, now time.Time, links []octopus.Link, known []bool) error {
	members, err := s.members(links)
	if err != nil {
		return err
	}
	return s.ContainsMembers(ctx, now, members, known)
}

func (s ScrapySet) members(links []octopus.Link) ([][]byte, error) {
	members := make([][]byte, len(links))
	for i := range links {
		l := &links[i]
		sum, err := ScrapyFingerprint(cmp.Or(s.Version, Scrapy), l.Method, l.URL.Text, l.Body)
		if err != nil {
			return nil, err
		}
		members[i] = sum[:]
	}
	return members, nil
}

// quoteJSON writes what Python's json.dumps writes: the texts here are ASCII.
func quoteJSON(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string into a buffer
	return strings.TrimSuffix(b.String(), "\n")
}

// What w3lib leaves unescaped (RFC 3986, and "|").
const (
	unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	safe       = unreserved + ":/?#[]@!$&'()*+,;=|%"
	safePath   = unreserved + ":/?[]@!$&'()*+,;=|%"
)

// canonicalizeURL does what w3lib.url.canonicalize_url does to the URLs of
// package canon: absolute http and https, host in lower-case ASCII. Hosts that
// are IPv6 literals are beyond it: w3lib 2.1 takes the brackets off.
func canonicalizeURL(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	host, path, _ := strings.Cut(rest, "/")
	if len(rest) > len(host) {
		path = "/" + path
	}
	path, params := cutParams(path)
	path = escape(unescapePath(escape(path, safePath)), safePath)
	if path == "" {
		path = "/"
	}
	out := scheme + "://" + strings.TrimRight(strings.ToLower(host), ":") + path
	if params != "" {
		out += ";" + escape(params, safe)
	}
	if query = sortQuery(escape(query, safe)); query != "" {
		out += "?" + query
	}
	return out
}

// cutParams cuts the parameters of the last segment, as urllib.parse.urlparse.
func cutParams(path string) (string, string) {
	i := strings.IndexByte(path[strings.LastIndexByte(path, '/')+1:], ';')
	if i < 0 {
		return path, ""
	}
	i += strings.LastIndexByte(path, '/') + 1
	return path[:i], path[i+1:]
}

// escape is urllib.parse.quote: bytes outside safe become %XX.
func escape(s, safe string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(safe, s[i]) >= 0 {
			b.WriteByte(s[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", s[i])
		}
	}
	return b.String()
}

// unescape is urllib.parse.unquote_to_bytes.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if v, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
				b.WriteByte(v[0])
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// unescapePath leaves %2F and %3F as they are: decoded they would mean another
// path.
func unescapePath(path string) string {
	for _, reserved := range []string{"2f", "2F", "3f", "3F"} {
		path = strings.ReplaceAll(path, "%"+reserved, "%25"+strings.ToUpper(reserved))
	}
	return unescape(path)
}

// sortQuery decodes the arguments, sorts them and writes them again.
func sortQuery(query string) string {
	type argument struct{ name, value string }
	var list []argument
	for _, text := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, _ := strings.Cut(strings.ReplaceAll(text, "+", " "), "=")
		list = append(list, argument{unescape(name), unescape(value)})
	}
	slices.SortFunc(list, func(a, b argument) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.value, b.value))
	})
	var out []string
	for _, a := range list {
		out = append(out, quotePlus(a.name)+"="+quotePlus(a.value))
	}
	return strings.Join(out, "&")
}

// quotePlus is urllib.parse.quote_plus.
func quotePlus(s string) string { return strings.ReplaceAll(escape(s, unreserved+" "), " ", "+") }
