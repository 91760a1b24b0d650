package scan

import (
	"bytes"
	"strings"
)

// attribute reads the next attribute of the tag at b[i:]. It returns the index
// behind it; done says that there was none and the index is behind the tag. A
// tag that the end of the page cuts gives done and len(b)+1: the standard drops
// such a tag.
func (s *scanner) attribute(i int) (key, value []byte, next int, done bool) {
	b := s.b
	for i < len(b) && (b[i] <= ' ' && isSpace(b[i]) || b[i] == '/') {
		i++
	}
	if i >= len(b) {
		return nil, nil, len(b) + 1, true
	}
	if b[i] == '>' {
		return nil, nil, i + 1, true
	}
	start := i
	i++ // even "=" begins a name
	for i < len(b) {
		if c := b[i]; c == '=' || c == '>' || c == '/' || c <= ' ' && isSpace(c) {
			break
		}
		i++
	}
	key = b[start:i]
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	if i >= len(b) || b[i] != '=' {
		return key, nil, i, false
	}
	i++
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	if i >= len(b) || b[i] == '>' {
		return key, nil, i, false
	}
	if q := b[i]; q == '"' || q == '\'' {
		end := bytes.IndexByte(b[i+1:], q)
		if end < 0 {
			return nil, nil, len(b) + 1, true
		}
		return key, b[i+1 : i+1+end], i + end + 2, false
	}
	start = i
	for i < len(b) && b[i] != '>' && !(b[i] <= ' ' && isSpace(b[i])) {
		i++
	}
	return key, b[start:i], i, false
}

// skipAttributes moves behind the tag whose attributes begin at b[i:].
func (s *scanner) skipAttributes(i int) int {
	if i < len(s.b) && s.b[i] == '>' {
		return i + 1
	}
	for {
		_, _, next, done := s.attribute(i)
		if done {
			return min(next, len(s.b))
		}
		i = next
	}
}

// attributes are the values of interest of one tag; nil means absent. The first
// one of a name wins.
type attributes struct {
	href, src, rel, typ, lang           []byte
	name, property, itemprop, httpEquiv []byte
	content, class                      []byte
}

// read collects the attributes of the tag at b[i:]. ok is false where the end
// of the page cuts the tag.
func (s *scanner) read(i int) (a attributes, next int, ok bool) {
	for {
		key, value, next, done := s.attribute(i)
		if done {
			return a, min(next, len(s.b)), next <= len(s.b)
		}
		if slot := a.slot(key); slot != nil && *slot == nil {
			if value == nil {
				value = []byte{}
			}
			*slot = value
		}
		i = next
	}
}

// slot returns the field for an attribute name, or nil.
func (a *attributes) slot(key []byte) *[]byte {
	switch len(key) {
	case 3:
		switch key[0] | 0x20 {
		case 's':
			return match(key, "src", &a.src)
		case 'r':
			return match(key, "rel", &a.rel)
		}
	case 4:
		switch key[0] | 0x20 {
		case 'h':
			return match(key, "href", &a.href)
		case 't':
			return match(key, "type", &a.typ)
		case 'l':
			return match(key, "lang", &a.lang)
		case 'n':
			return match(key, "name", &a.name)
		}
	case 5:
		return match(key, "class", &a.class)
	case 7:
		return match(key, "content", &a.content)
	case 8:
		if key[0]|0x20 == 'i' {
			return match(key, "itemprop", &a.itemprop)
		}
		return match(key, "property", &a.property)
	case 10:
		if key[0]|0x20 == 'h' {
			return match(key, "http-equiv", &a.httpEquiv)
		}
		return match(key, "xlink:href", &a.href)
	}
	return nil
}

func match(key []byte, want string, slot *[]byte) *[]byte {
	if strings.EqualFold(string(key), want) {
		return slot
	}
	return nil
}
