package fetch

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"octopus"
)

const maxFields = 256 // header fields kept of an answer

// target splits a canonical URL for a request. The bytes of path and query are
// sent as they are: net/url would refuse or rewrite some that browsers send.
// User and password are dropped.
func target(text string) (*url.URL, error) {
	scheme, rest, _ := strings.Cut(text, "://")
	if scheme != "http" && scheme != "https" {
		return nil, fmt.Errorf("%q is neither an http nor an https URL", text)
	}
	rest, _, _ = strings.Cut(rest, "#")
	at := strings.IndexAny(rest, "/?")
	if at < 0 {
		at = len(rest)
	}
	host, uri := rest[:at], rest[at:]
	host = host[strings.LastIndexByte(host, '@')+1:]
	if uri == "" || uri[0] == '?' {
		uri = "/" + uri
	}
	bad := func(r rune) bool { return r <= ' ' || r == 0x7f }
	if host == "" || strings.ContainsFunc(rest, bad) {
		return nil, fmt.Errorf("%q has no host, or a space or control character", text)
	}
	u := &url.URL{Scheme: scheme, Host: host, Opaque: uri}
	if strings.HasPrefix(uri, "//") {
		keepSlashes(u, uri)
	}
	return u, nil
}

// keepSlashes sets a request target that starts with two slashes, which
// url.URL.Opaque would take for a host.
func keepSlashes(u *url.URL, uri string) {
	path, query, asked := strings.Cut(uri, "?")
	plain, err := url.PathUnescape(path)
	u.Opaque, u.Path, u.RawPath, u.RawQuery, u.ForceQuery = "", plain, path, query, asked && query == ""
	if err != nil || u.RequestURI() != uri {
		*u = url.URL{Scheme: u.Scheme, Host: u.Host, Opaque: "//" + u.Host + uri} // absolute form, exact
	}
}

// newRequest makes the request of a lease. base is shared and not changed.
func newRequest(u *url.URL, base http.Header, l octopus.Lease) *http.Request {
	req := get(u, base)
	if l.Purpose == octopus.FetchPage && (l.ETag != "" || l.LastModified != "") {
		req.Header = maps.Clone(base)
		set(req.Header, "If-None-Match", l.ETag)
		set(req.Header, "If-Modified-Since", l.LastModified)
	}
	if l.Link.Method != "" {
		req.Method = l.Link.Method
	}
	if body := l.Link.Body; len(body) > 0 {
		req.ContentLength = int64(len(body))
		req.Body = io.NopCloser(bytes.NewReader(body))
		req.Header = maps.Clone(req.Header)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded") // as of a form
	}
	return req
}

// get makes a GET request.
func get(u *url.URL, header http.Header) *http.Request {
	return &http.Request{
		Method: http.MethodGet, URL: u, Host: u.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
}

// set sets a field to a value that a server once sent, unless the value is
// empty or not one a field may have.
func set(h http.Header, name, value string) {
	if value != "" && httpguts.ValidHeaderFieldValue(value) {
		h[name] = []string{value}
	}
}

// needed are the fields that a crawl reads; trim drops them last.
var needed = []string{"Cache-Control", "Content-Encoding", "Content-Language", "Content-Length", "Content-Type", "Date",
	"Etag", "Last-Modified", "Link", "Location", "Retry-After", "X-Robots-Tag"}

// trim drops fields until maxFields are left: of the needed ones the first
// values, then others in alphabetical order.
func trim(h http.Header) {
	total := 0
	for _, values := range h {
		total += len(values)
	}
	if total <= maxFields {
		return
	}
	names := slices.Sorted(maps.Keys(h))
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	left := maxFields
	for _, name := range names {
		n := min(left, len(h[name]))
		if left -= n; n == 0 {
			delete(h, name)
		} else {
			h[name] = h[name][:n]
		}
	}
}

func rank(name string) int {
	if slices.Contains(needed, name) {
		return 0
	}
	return 1
}
