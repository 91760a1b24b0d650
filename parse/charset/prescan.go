package charset

import (
	"bytes"
	"strings"
)

// standardLimit is how far the standard's algorithm looks.
const standardLimit = 1024

// prescanLimit bounds the search for a declaration. Browsers stop after 1,024
// bytes and start over when a declaration comes later; here it is one search.
const prescanLimit = 256 << 10

// Prescan returns the character set that an HTML page or an XML prolog declares
// for itself, or "". It is the standard's algorithm "prescan a byte stream to
// determine its encoding" without the limit of 1,024 bytes. Behind those it
// keeps out of the text of scripts and styles, which a browser does not read as
// markup either once it has to look that far.
func Prescan(body []byte) string {
	s := scanner{b: body[:min(len(body), prescanLimit)]}
	if name := s.xmlProlog(); name != "" {
		return name
	}
	for {
		i := bytes.IndexByte(s.b[s.i:], '<')
		if i < 0 {
			return ""
		}
		s.i += i
		if name, done := s.markup(); done {
			return name
		}
	}
}

type scanner struct {
	b []byte
	i int
}

// markup reads what begins at '<'. done says that the search is over.
func (s *scanner) markup() (name string, done bool) {
	rest := s.b[s.i:]
	switch {
	case bytes.HasPrefix(rest, []byte("<!--")):
		// "<!-->" is a whole comment: the search begins at its dashes.
		s.skipPast("-->", 2)
	case isTag(rest, "meta"):
		s.i += len("<meta")
		if name := s.meta(); name != "" {
			return name, true
		}
	case s.i >= standardLimit && (isTag(rest, "script") || isTag(rest, "style")):
		s.rawText()
	case len(rest) > 1 && isLetter(rest[1]), len(rest) > 2 && rest[1] == '/' && isLetter(rest[2]):
		s.tag()
	case len(rest) > 1 && (rest[1] == '!' || rest[1] == '/' || rest[1] == '?'):
		s.skipPast(">", 1)
	default:
		s.i++
	}
	return "", s.i >= len(s.b)
}

// tag moves behind a tag, over its attributes.
func (s *scanner) tag() {
	s.i++
	for s.i < len(s.b) && !isSpace(s.b[s.i]) && s.b[s.i] != '>' {
		s.i++
	}
	for {
		if _, _, ok := s.attribute(); !ok {
			return
		}
	}
}

// rawText moves to the end tag of a script or style element.
func (s *scanner) rawText() {
	end := "</style"
	if isTag(s.b[s.i:], "script") {
		end = "</script"
	}
	s.tag()
	rest := s.b[s.i:]
	for at := 0; ; at++ {
		i := bytes.Index(rest[at:], []byte("</"))
		if i < 0 {
			// Not closed: a browser would have read it all as the script. The
			// page may also just be cut; then nothing is lost by looking on.
			return
		}
		at += i
		if len(rest)-at >= len(end) && strings.EqualFold(string(rest[at:at+len(end)]), end) {
			s.i += at
			return
		}
	}
}

// meta reads the attributes of a meta element and returns what it declares.
func (s *scanner) meta() string {
	var seen []string
	var pragma, haveCharset, needPragma bool
	charset := ""
	for {
		name, value, ok := s.attribute()
		if !ok {
			break
		}
		if contains(seen, name) {
			continue
		}
		seen = append(seen, name)
		switch name {
		case "http-equiv":
			pragma = pragma || value == "content-type"
		case "content":
			if c := FromMeta(value); c != "" && !haveCharset {
				charset, haveCharset, needPragma = c, true, true
			}
		case "charset":
			charset, haveCharset, needPragma = canonical(value), true, false
		}
	}
	if !haveCharset || needPragma && !pragma {
		return ""
	}
	return settle(charset)
}

// settle applies the standard's two corrections: a page whose declaration can
// be read as ASCII is not UTF-16, and x-user-defined is windows-1252.
func settle(name string) string {
	switch name {
	case "utf-16le", "utf-16be":
		return "utf-8"
	case "x-user-defined":
		return fallback
	}
	return name
}

// attribute is the standard's "get an attribute": name and value in lower case.
func (s *scanner) attribute() (name, value string, ok bool) {
	for s.i < len(s.b) && (isSpace(s.b[s.i]) || s.b[s.i] == '/') {
		s.i++
	}
	if s.i >= len(s.b) || s.b[s.i] == '>' {
		s.i = min(s.i+1, len(s.b))
		return "", "", false
	}
	start := s.i
	for s.i < len(s.b) && (s.b[s.i] != '=' || s.i == start) && !isSpace(s.b[s.i]) && s.b[s.i] != '/' && s.b[s.i] != '>' {
		s.i++
	}
	name = lower(s.b[start:s.i])
	s.spaces()
	if s.i >= len(s.b) || s.b[s.i] != '=' {
		return name, "", s.i < len(s.b)
	}
	s.i++
	s.spaces()
	return name, s.value(), s.i < len(s.b)
}

func (s *scanner) value() string {
	if s.i >= len(s.b) {
		return ""
	}
	if q := s.b[s.i]; q == '"' || q == '\'' {
		s.i++
		start := s.i
		end := bytes.IndexByte(s.b[start:], q)
		if end < 0 {
			s.i = len(s.b)
			return ""
		}
		s.i = start + end + 1
		return lower(s.b[start : start+end])
	}
	start := s.i
	for s.i < len(s.b) && !isSpace(s.b[s.i]) && s.b[s.i] != '>' {
		s.i++
	}
	return lower(s.b[start:s.i])
}

func (s *scanner) spaces() {
	for s.i < len(s.b) && isSpace(s.b[s.i]) {
		s.i++
	}
}

// skipPast moves behind the next occurrence of end, looking from skip bytes on.
func (s *scanner) skipPast(end string, skip int) {
	s.i = min(s.i+skip, len(s.b))
	if i := bytes.Index(s.b[s.i:], []byte(end)); i >= 0 {
		s.i += i + len(end)
	} else {
		s.i = len(s.b)
	}
}

// xmlProlog returns the encoding of an XML declaration at the very beginning.
func (s *scanner) xmlProlog() string {
	if !bytes.HasPrefix(s.b, []byte("<?xml")) {
		return ""
	}
	decl, _, ok := bytes.Cut(s.b, []byte(">"))
	if !ok {
		return ""
	}
	_, rest, ok := strings.Cut(string(decl), "encoding")
	if !ok {
		return ""
	}
	rest = strings.TrimLeft(rest, " \t\r\n=")
	if rest == "" || rest[0] != '"' && rest[0] != '\'' {
		return ""
	}
	label, _, ok := strings.Cut(rest[1:], rest[:1])
	if !ok {
		return ""
	}
	return settle(canonical(label))
}

// FromMeta is the standard's "extract a character encoding from a meta
// element": the charset in the content of a Content-Type pragma, or "".
func FromMeta(content string) string {
	s := strings.ToLower(content)
	for {
		_, rest, ok := strings.Cut(s, "charset")
		if !ok {
			return ""
		}
		s = strings.TrimLeft(rest, " \t\r\n\f")
		if strings.HasPrefix(s, "=") {
			s = strings.TrimLeft(s[1:], " \t\r\n\f")
			break
		}
	}
	if s == "" {
		return ""
	}
	if s[0] == '"' || s[0] == '\'' {
		label, _, ok := strings.Cut(s[1:], s[:1])
		if !ok {
			return ""
		}
		return canonical(label)
	}
	if i := strings.IndexAny(s, " \t\r\n\f;"); i >= 0 {
		s = s[:i]
	}
	return canonical(s)
}

// isTag reports whether p begins with "<name" followed by a space, / or >.
func isTag(p []byte, name string) bool {
	n := 1 + len(name)
	return len(p) > n && strings.EqualFold(string(p[1:n]), name) && (isSpace(p[n]) || p[n] == '/' || p[n] == '>')
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

func lower(p []byte) string { return string(bytes.ToLower(p)) }
