package robots

import "strings"

// matcher is a rule ready to be compared.
type matcher struct {
	rule
	text string // the rule as written, for verdicts
}

// rank puts Allow before Disallow at equal length.
func (m matcher) rank() int {
	if m.allow {
		return 1
	}
	return 0
}

// matches compares a path, from its start. Each piece between two stars is
// looked for where it occurs first behind the one before, which is right
// because a star takes any bytes. The cost is at most len(path) per star.
func (m *matcher) matches(path string) bool {
	pattern, end := m.pattern, false
	if pattern[len(pattern)-1] == '$' {
		pattern, end = pattern[:len(pattern)-1], true
	}
	piece, rest, more := strings.Cut(pattern, "*")
	if !strings.HasPrefix(path, piece) {
		return false
	}
	path = path[len(piece):]
	for more {
		piece, rest, more = strings.Cut(rest, "*")
		if !more && end {
			return strings.HasSuffix(path, piece)
		}
		i := strings.Index(path, piece)
		if i < 0 {
			return false
		}
		path = path[i+len(piece):]
	}
	return !end || path == ""
}

// target returns path, parameters and query of a URL, "/" where it has none. It
// understands absolute URLs, "//host/path" and paths.
func target(url string) string {
	if strings.HasPrefix(url, "/") && !strings.HasPrefix(url, "//") {
		path, _, _ := strings.Cut(url, "#")
		return path
	}
	url, _, _ = strings.Cut(strings.TrimPrefix(url, "//"), "#")
	start := strings.IndexAny(url, "/?;")
	if scheme := strings.Index(url, "://"); scheme >= 0 && scheme < start {
		start = strings.IndexAny(url[scheme+3:], "/?;")
		if start >= 0 {
			start += scheme + 3
		}
	}
	switch {
	case start < 0:
		return "/"
	case url[start] == '/':
		return url[start:]
	}
	return "/" + url[start:]
}

// Normalize brings a URL into the form that patterns have: percent-escapes in
// upper case, non-ASCII bytes escaped. A crawler checks Normalize(url), because
// URLs keep the escapes of the page that named them.
func Normalize(url string) string { return escape(url) }

// escape puts percent-escapes in upper case and escapes non-ASCII bytes.
func escape(s string) string {
	i := 0
	for i < len(s) && s[i] < 0x80 && !lowerEscape(s[i:]) {
		i++
	}
	if i == len(s) {
		return s
	}
	const digits = "0123456789ABCDEF"
	out := append(make([]byte, 0, len(s)+16), s[:i]...)
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 0x80:
			out = append(out, '%', digits[c>>4], digits[c&15])
		case lowerEscape(s[i:]):
			out = append(out, strings.ToUpper(s[i:i+3])...)
			i += 2
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

// lowerEscape reports whether s begins with a percent-escape that has a
// lower-case digit.
func lowerEscape(s string) bool {
	return s[0] == '%' && len(s) > 2 && isHex(s[1]) && isHex(s[2]) && (s[1] >= 'a' || s[2] >= 'a')
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}
