package canon

import (
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"

	"octopus"
)

// Site returns the registrable domain of a host: one label below its public
// suffix (https://publicsuffix.org, private suffixes such as github.io
// included; the list's default rule makes an unknown top level domain such as
// ".test" or ".internal" a suffix). IP addresses, single labels and public
// suffixes are their own site.
func Site(host string) string {
	if isIP(host) {
		return host
	}
	if site, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return site
	}
	return host
}

// Authority returns the scheme and "host:port" of a URL, the port always
// written, IPv6 addresses in brackets: what robots.txt and connections belong
// to. Both are empty for the zero URL.
func Authority(u octopus.URL) (scheme, hostport string) {
	if u.IsZero() {
		return "", ""
	}
	scheme, rest, _ := strings.Cut(u.Text[:originLen(u.Text)], "://")
	switch {
	case hasPort(rest):
		return scheme, rest
	case scheme == "https":
		return scheme, rest + ":443"
	}
	return scheme, rest + ":80"
}

// Target returns path and query of a URL: what a request line asks for.
func Target(u octopus.URL) string {
	if u.IsZero() {
		return ""
	}
	return u.Text[originLen(u.Text):]
}

// hostOf cuts the host out of canonical text: no port, no brackets, no trailing
// dot.
func hostOf(text string) string {
	host := text[strings.Index(text, "://")+3 : originLen(text)]
	if hasPort(host) {
		host = host[:strings.LastIndexByte(host, ':')]
	}
	if host[0] == '[' {
		return host[1 : len(host)-1]
	}
	if h := strings.TrimSuffix(host, "."); h != "" {
		return h
	}
	return host
}

// hasPort reports whether an authority ends in a port.
func hasPort(authority string) bool {
	return strings.LastIndexByte(authority, ':') > strings.LastIndexByte(authority, ']')
}

func isIP(host string) bool {
	if strings.IndexByte(host, ':') >= 0 {
		return true
	}
	if host == "" || host[len(host)-1] > '9' {
		return false // the common case, without a parse
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}
