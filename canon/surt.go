package canon

import (
	"regexp"
	"slices"
	"strings"

	"octopus"
)

// SURT returns the sort-friendly key under which CDX indexes list a URL, as the
// Internet Archive's canonicalizer, pywb and cdxj-indexer make it:
//
//	https://www.Example.org/Dir/?b=2&a=1  ->  org,example)/dir?a=1&b=2
//
// No scheme, host labels reversed, www. and www2. removed, lower case
// throughout, percent-encoding reduced, runs of slashes and a trailing slash
// removed, query sorted, well-known session ids removed. Many URLs share a key:
// it is for look-ups, never for telling pages apart.
func SURT(u octopus.URL) string {
	if u.IsZero() {
		return "-"
	}
	_, authority, _ := strings.Cut(u.Text[:originLen(u.Text)], "://")
	path, query, _ := strings.Cut(Target(u), "?")
	port := ""
	if hasPort(authority) {
		port = authority[strings.LastIndexByte(authority, ':'):]
	}
	key := surtHost(u.Host) + port + ")" + surtPath(path)
	if q := surtQuery(query); q != "" {
		key += "?" + q
	}
	return key
}

var wwwLabel = regexp.MustCompile(`^www\d*\.`)

func surtHost(host string) string {
	if isIP(host) {
		return host
	}
	labels := strings.FieldsFunc(wwwLabel.ReplaceAllString(host, ""), func(r rune) bool { return r == '.' })
	slices.Reverse(labels)
	return strings.Join(labels, ",")
}

// Session ids in paths: Java servlets, ASP.NET.
var pathSession = []*regexp.Regexp{
	regexp.MustCompile(`(?i)^(.*/)\(?(?:[a-z]\([0-9a-z]{24}\))+\)?/([^?]+\.aspx.*)$`),
	regexp.MustCompile(`(?i)^(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)$`),
	regexp.MustCompile(`(?i)^(.*);jsessionid=[0-9a-z]{32}(.*)$`),
}

func surtPath(path string) string {
	path = strings.ToLower(reencode(path))
	for _, re := range pathSession {
		path = re.ReplaceAllString(path, "$1$2")
	}
	var out []string
	for segment := range strings.SplitSeq(path, "/") {
		switch segment {
		case "", ".":
		case "..":
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
		default:
			out = append(out, segment)
		}
	}
	return "/" + strings.Join(out, "/")
}

// Session ids in queries: Java, PHP, generic, ASP, ColdFusion.
var querySession = []*regexp.Regexp{
	regexp.MustCompile(`^(.*&)?(?:jsessionid=[0-9a-z]{32})(?:&(.*))?$`),
	regexp.MustCompile(`^(.*&)?(?:phpsessid=[0-9a-z]{32})(?:&(.*))?$`),
	regexp.MustCompile(`^(.*&)?(?:sid=[0-9a-z]{32})(?:&(.*))?$`),
	regexp.MustCompile(`^(.*&)?(?:aspsessionid[a-z]{8}=[a-z]{24})(?:&(.*))?$`),
	regexp.MustCompile(`^(.*&)?(?:cfid=[^&]+&cftoken=[^&]+)(?:&(.*))?$`),
}

func surtQuery(query string) string {
	query = strings.ToLower(reencode(query))
	for _, re := range querySession {
		query = re.ReplaceAllString(query, "$1$2")
	}
	query = strings.Trim(query, "&")
	parts := strings.Split(query, "&")
	slices.Sort(parts)
	return strings.Join(parts, "&")
}

// reencode decodes as long as there is anything to decode, then encodes once.
func reencode(s string) string {
	const digits = "0123456789ABCDEF"
	var out strings.Builder
	for _, c := range decodeAll(s) {
		if c <= ' ' || c >= 0x7f || c == '#' || c == '%' {
			out.Write([]byte{'%', digits[c>>4], digits[c&15]})
		} else {
			out.WriteByte(c)
		}
	}
	return out.String()
}

// decodeAll percent-decodes until nothing is left to decode, in one pass: a
// decoded byte may complete an escape with the bytes in front of it
// ("%2535" is "%35", which is "5").
func decodeAll(s string) []byte {
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		out = append(out, s[i])
		for n := len(out); n >= 3 && out[n-3] == '%' && hex(out[n-2]) >= 0 && hex(out[n-1]) >= 0; n = len(out) {
			out = append(out[:n-3], byte(hex(out[n-2])<<4|hex(out[n-1])))
		}
	}
	return out
}
