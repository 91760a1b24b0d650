package canon

import "strings"

// verdict is what the fast path says about a reference.
type verdict uint8

const (
	unsure  verdict = iota // not plain: the full parser decides
	plain                  // the text is canonical
	refused                // another scheme than http and https
)

// Classes of bytes that the URL Standard copies unchanged.
const (
	inHost  = 1 << iota // lower-case host names without IDNA
	inPath              // path segments; dot segments are looked at apart
	inQuery             // queries of http URLs
	inScheme
)

var class = func() (t [256]uint8) {
	set := func(chars string, bits uint8) {
		for i := range len(chars) {
			t[chars[i]] |= bits
		}
	}
	set("abcdefghijklmnopqrstuvwxyz0123456789", inHost|inPath|inQuery|inScheme)
	set("ABCDEFGHIJKLMNOPQRSTUVWXYZ", inPath|inQuery|inScheme)
	set("-.", inHost|inPath|inQuery|inScheme)
	set("_", inHost|inPath|inQuery)
	set("+", inScheme)
	set("!$&()*+,/:;=@~%[]|", inPath|inQuery)
	set("'", inPath)
	set("?\\`{}^", inQuery)
	return t
}()

// fast resolves a trimmed reference into b.text if it is plain: ASCII, nothing to
// encode, lower-case, no port that might be the default, dot segments at most in
// front. It does not allocate once b.text has room.
func (b *Base) fast(ref string) verdict {
	if len(ref) > MaxLen {
		return unsure
	}
	switch scheme, ok := cutScheme(ref); {
	case ok && (scheme == "http" || scheme == "https"):
		if rest, same := b.cutOrigin(ref); same {
			return b.join(b.url.Text[:b.origin], rest)
		}
		return b.fastAbsolute(ref, len(scheme)+1)
	case ok:
		if strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https") {
			return unsure
		}
		return refused
	case b.url.IsZero():
		return unsure
	}
	return b.fastRelative(ref)
}

// cutOrigin cuts the base's origin off an absolute reference that has it in its
// canonical spelling, as most links of a site to itself do. A path must follow.
func (b *Base) cutOrigin(ref string) (rest string, ok bool) {
	if b.origin == 0 || len(ref) <= b.origin || ref[b.origin] != '/' {
		return "", false
	}
	return strings.CutPrefix(ref, b.url.Text[:b.origin])
}

// cutScheme returns what stands before the colon if it can be a scheme.
func cutScheme(ref string) (string, bool) {
	if ref == "" || class[ref[0]|0x20]&inScheme == 0 || ref[0]|0x20 < 'a' {
		return "", false
	}
	for i := 1; i < len(ref); i++ {
		if ref[i] == ':' {
			return ref[:i], true
		}
		if class[ref[i]]&inScheme == 0 {
			return "", false
		}
	}
	return "", false
}

// fastAbsolute takes "http://…" or "https://…"; colon is the index after ':'.
func (b *Base) fastAbsolute(ref string, colon int) verdict {
	if !strings.HasPrefix(ref[colon:], "//") {
		return unsure
	}
	end, ok := fastAuthority(ref, colon+2, ref[:colon] == "https:")
	if !ok {
		return unsure
	}
	tail, ok := fastTail(ref[end:])
	if !ok {
		return unsure
	}
	b.text = append(b.text[:0], ref[:end]...)
	if tail == "" || tail[0] != '/' {
		b.text = append(b.text, '/')
	}
	b.text = append(b.text, tail...)
	return plain
}

// fastAuthority returns where host and port that begin at i end. Empty labels,
// punycode, a last label that may be a number, and ports that may be spelt
// another way are left to the full parser.
func fastAuthority(ref string, i int, https bool) (end int, ok bool) {
	start, label := i, i // of the host and of its current label
	for ; i < len(ref) && class[ref[i]]&inHost != 0; i++ {
		if ref[i] != '.' {
			continue
		}
		if i == label || strings.HasPrefix(ref[label:i], "xn--") {
			return 0, false
		}
		label = i + 1
	}
	if i > label && ref[label] <= '9' && !plainIPv4(ref[start:i]) {
		return 0, false
	}
	if i == label || strings.HasPrefix(ref[label:i], "xn--") {
		return 0, false
	}
	if i < len(ref) && ref[i] == ':' {
		return fastPort(ref, i+1, https)
	}
	return i, i == len(ref) || ref[i] == '/' || ref[i] == '?' || ref[i] == '#'
}

// plainIPv4 reports whether host is an IPv4 address as it is serialized: four
// decimal numbers without leading zeros.
func plainIPv4(host string) bool {
	for rest := 3; ; rest-- {
		number, tail, more := strings.Cut(host, ".")
		if len(number) > 1 && number[0] == '0' || len(number) > 3 || more != (rest > 0) {
			return false
		}
		n := 0
		for i := range len(number) {
			if number[i] < '0' || number[i] > '9' {
				return false
			}
			n = 10*n + int(number[i]-'0')
		}
		if n > 255 || number == "" {
			return false
		}
		if !more {
			return true
		}
		host = tail
	}
}

// fastPort returns where the port that begins at i ends.
func fastPort(ref string, i int, https bool) (end int, ok bool) {
	port, start := 0, i
	for ; i < len(ref) && '0' <= ref[i] && ref[i] <= '9' && i-start < 5; i++ {
		port = port*10 + int(ref[i]-'0')
	}
	if i == start || ref[start] == '0' || port > 65535 || port == 80 && !https || port == 443 && https {
		return 0, false
	}
	return i, i == len(ref) || ref[i] == '/' || ref[i] == '?' || ref[i] == '#'
}

// fastTail checks path and query, and cuts the fragment. s begins with '/', '?'
// or '#', or is empty.
func fastTail(s string) (string, bool) {
	i := 0
	for ; i < len(s) && class[s[i]]&inPath != 0; i++ {
		if s[i] == '/' && dotted(s[i+1:]) {
			return "", false
		}
	}
	if i < len(s) && s[i] == '?' {
		for i++; i < len(s) && class[s[i]]&inQuery != 0; i++ {
		}
	}
	return s[:i], i == len(s) || s[i] == '#'
}

// dotted reports whether a segment may be "." or "..", in any spelling.
func dotted(segment string) bool {
	return segment != "" && (segment[0] == '.' ||
		segment[0] == '%' && len(segment) > 2 && segment[1] == '2' && segment[2]|0x20 == 'e')
}

// fastRelative resolves a reference without scheme against the base.
func (b *Base) fastRelative(ref string) verdict {
	text := b.url.Text
	switch {
	case ref == "" || ref[0] == '#':
		b.text = append(b.text[:0], text...)
		return plain
	case ref[0] == '?':
		return b.join(text[:b.path], ref)
	case strings.HasPrefix(ref, "//"):
		scheme := strings.IndexByte(text, ':') + 1
		return b.fastAbsolute(text[:scheme]+ref, scheme)
	case ref[0] == '/':
		return b.join(text[:b.origin], ref)
	}
	dir := text[:b.dir]
	for {
		if rest, ok := strings.CutPrefix(ref, "./"); ok {
			ref = rest
		} else if rest, ok := strings.CutPrefix(ref, "../"); ok {
			ref, dir = rest, b.parent(dir)
		} else {
			break
		}
	}
	if dotted(ref) {
		return unsure
	}
	return b.join(dir, ref)
}

// parent removes the last directory of dir, which ends in a slash; the root is
// its own parent.
func (b *Base) parent(dir string) string {
	if len(dir) <= b.origin+1 {
		return dir
	}
	return dir[:strings.LastIndexByte(dir[:len(dir)-1], '/')+1]
}

// join puts a tail, once checked, behind a canonical head.
func (b *Base) join(head, tail string) verdict {
	tail, ok := fastTail(tail)
	if !ok {
		return unsure
	}
	b.text = append(append(b.text[:0], head...), tail...)
	return plain
}
