package scan

import (
	"bytes"
	"html"
	"strings"
)

// Unescape resolves the character references of an attribute value. Unlike
// html.UnescapeString, which has the rules for text, it leaves "&copy=1" alone,
// as the standard demands for attributes: a name without semicolon counts only
// if neither "=" nor a letter or digit follows it.
func Unescape(p []byte) []byte {
	i := bytes.IndexByte(p, '&')
	if i < 0 {
		return p
	}
	out := make([]byte, 0, len(p))
	for i >= 0 {
		out = append(out, p[:i]...)
		p = p[i:]
		n := 1
		if v, used := reference(p); used > 0 {
			out, n = append(out, v...), used
		} else {
			out = append(out, '&')
		}
		p = p[n:]
		i = bytes.IndexByte(p, '&')
	}
	return append(out, p...)
}

// unescapeText resolves the references of text, where a name may run on into the
// next word. html.UnescapeString does that, but has its own mind of "&#5" without a
// semicolon and of "&#x;" without a digit.
func unescapeText(text string) string {
	plain, rest, found := strings.Cut(text, "&")
	if !found {
		return text
	}
	var b strings.Builder
	b.WriteString(plain)
	for found {
		var part string
		part, rest, found = strings.Cut(rest, "&")
		if !strings.HasPrefix(part, "#") {
			b.WriteString(html.UnescapeString("&" + part))
			continue
		}
		v, used := numeric([]byte("&" + part))
		if used == 0 {
			v, used = "&", 1
		}
		b.WriteString(v)
		b.WriteString(part[used-1:])
	}
	return b.String()
}

// longestName is the length of the longest name of a character reference.
const longestName = 32

// reference resolves the reference at the beginning of p. It returns the
// characters and the bytes used, or 0 where there is none.
func reference(p []byte) (string, int) {
	if bytes.HasPrefix(p, []byte("&amp;")) {
		return "&", len("&amp;")
	}
	n := 1
	if n < len(p) && p[n] == '#' {
		n++
	}
	for n < len(p) && n <= longestName && isAlnum(p[n]) {
		n++
	}
	closed := n < len(p) && p[n] == ';'
	if n > 1 && p[1] == '#' {
		return numeric(p)
	}
	run := string(p[:n])
	with := html.UnescapeString(run + ";")
	if closed && (with[len(with)-1] != ';' || run == "&semi") {
		return with, n + 1
	}
	if closed || n < len(p) && p[n] == '=' {
		return "", 0
	}
	// Only the names that old pages write without semicolon mean the same
	// with and without; any other leaves its semicolon behind.
	if bare := html.UnescapeString(run); bare == with && bare != run {
		return bare, n
	}
	return "", 0
}

// numeric resolves "&#123;" and "&#x7B;", with or without the semicolon.
func numeric(p []byte) (string, int) {
	n := 2
	hex := n < len(p) && p[n]|0x20 == 'x'
	if hex {
		n++
	}
	first := n
	for n < len(p) && isDigit(p[n], hex) {
		n++
	}
	if n == first {
		return "", 0
	}
	digits := p[first:n]
	if n < len(p) && p[n] == ';' {
		n++
	}
	if len(digits) > longestName {
		return "\uFFFD", n // far beyond Unicode, or padded beyond reason
	}
	prefix := "&#"
	if hex {
		prefix = "&#x"
	}
	return html.UnescapeString(prefix + string(digits) + ";"), n
}

func isAlnum(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' }

func isDigit(c byte, hex bool) bool {
	return c >= '0' && c <= '9' || hex && c|0x20 >= 'a' && c|0x20 <= 'f'
}
