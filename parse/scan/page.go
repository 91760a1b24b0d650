package scan

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Bounds of what a Page holds. What is over them is counted or left out; no
// real page comes near.
const (
	MaxRefs = 50_000
	MaxMeta = 500
	MaxLD   = 32

	// MaxValue is the length in bytes to which titles and the contents of meta
	// elements are cut.
	MaxValue = 8 << 10
)

// Page is what one pass over an HTML page found. Its slices point into the
// bytes that were scanned. A Page may be used again; it is not safe for
// concurrent use.
type Page struct {
	Refs []Ref  // in document order
	Meta []Meta // meta elements with a name and content

	base  []byte
	title []byte
	lang  []byte
	class []byte // of body
	found uint8  // which of these were met: the first one wins

	// Text is called with each run of text of the body, entities unresolved and
	// without surrounding white space, and whether it is inside a link; nil:
	// nobody wants it. Reset leaves it.
	Text func(run []byte, link bool)

	LD     [][]byte // texts of scripts of type application/ld+json
	Assets int      // images, scripts, style sheets, media: named, not followed
	Counts Counts
}

const (
	foundBase = 1 << iota
	foundTitle
	foundLang
	foundClass
)

// Ref is a reference to another page. URL, Rel and Type are as written but for
// surrounding white space; [Ref.Target] and [Unescape] resolve entities.
type Ref struct {
	Tag  Tag
	URL  []byte
	Rel  []byte // rel attribute of a, area and link
	Type []byte // type attribute of link

	Text  int32 // bytes of text in an a element
	Plain int32 // bytes of the page's text in front of the reference that lie in no link
}

// Target returns the reference as a browser would read it: entities resolved,
// white space trimmed, tabs and line ends removed.
func (r Ref) Target() []byte {
	u := r.URL
	if bytes.IndexByte(u, '&') >= 0 {
		u = trim(Unescape(u))
	}
	if bytes.IndexByte(u, '\n') >= 0 || bytes.IndexByte(u, '\r') >= 0 || bytes.IndexByte(u, '\t') >= 0 {
		u = bytes.Map(func(r rune) rune {
			if r == '\n' || r == '\r' || r == '\t' {
				return -1
			}
			return r
		}, u)
	}
	return u
}

// HasRel reports whether word is among the space-separated words of rel.
func (r *Ref) HasRel(word string) bool { return hasWord(r.Rel, word) }

// Tag tells which element made a reference.
type Tag uint8

const (
	A Tag = iota
	Area
	Frame
	Iframe
	Link
	Refresh // meta http-equiv=refresh
)

// Meta is a meta element. Name is its name, property, itemprop or http-equiv
// attribute; both are as written.
type Meta struct {
	Name, Content []byte
}

// Counts are what a page looks like from afar. Text is counted in bytes of
// UTF-8 without surrounding white space, which weighs a Chinese character like
// three letters and so makes the same limits fit both.
type Counts struct {
	Text      int // bytes of text outside scripts, styles and the like
	LinkText  int // those inside links
	Links     int // a elements with href
	TextLinks int // those with at least LongLink bytes of text
	LinkProse int // bytes of text in those
	LongText  int // bytes in long blocks: at least LongBlock bytes that are not mostly links
	Longest   int // bytes in the longest of them
	Prose     int // most bytes in long blocks with no block of links between them
	Items     int // li elements
	Paras     int // p elements
	Headings  int // h1 to h6 elements
	H1        int // h1 elements
	HeadLinks int // headings in a link or with one inside
	Images    int // img elements
	ImgLinks  int // those inside links
	Prices    int // short runs of text that begin or end with a sign of currency
	Commas    int // commas and full stops of any script in long blocks
}

// Limits of Counts, in bytes of UTF-8.
const (
	LongBlock = 100
	LongLink  = 24
)

// Reset empties the page and keeps its memory, but nothing of the page read
// before.
func (p *Page) Reset() {
	clear(p.Refs)
	clear(p.Meta)
	clear(p.LD)
	*p = Page{Refs: p.Refs[:0], Meta: p.Meta[:0], LD: p.LD[:0], Text: p.Text}
}

// Base returns the href of the first base element that has one, or "".
func (p *Page) Base() string { return string(Ref{URL: p.base}.Target()) }

// Title returns the text of the first title element, white space collapsed.
func (p *Page) Title() string { return collapse(unescapeText(string(limit(p.title)))) }

// Lang returns the lang attribute of the html element, as written.
func (p *Page) Lang() string { return value(p.lang) }

// BodyClass returns the class attribute of the body element, by which many
// systems tell which kind of page it is.
func (p *Page) BodyClass() string { return value(p.class) }

// Content returns the content of the first meta element that has one of the
// names and is not empty; earlier names win over later ones.
func (p *Page) Content(names ...string) string {
	for _, name := range names {
		for _, m := range p.Meta {
			if len(m.Name) == len(name) && strings.EqualFold(string(m.Name), name) {
				if s := value(m.Content); s != "" {
					return s
				}
			}
		}
	}
	return ""
}

// value returns an attribute's value, entities resolved and white space
// collapsed.
func value(p []byte) string { return collapse(string(Unescape(limit(p)))) }

// limit cuts p to MaxValue at the end of a character.
func limit(p []byte) []byte {
	if len(p) <= MaxValue {
		return p
	}
	n := MaxValue
	for n > 0 && !utf8.RuneStart(p[n]) {
		n--
	}
	return p[:n]
}

func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

func hasWord(list []byte, word string) bool {
	for len(list) > 0 {
		list = bytes.TrimLeft(list, " \t\r\n\f")
		end := bytes.IndexAny(list, " \t\r\n\f")
		if end < 0 {
			end = len(list)
		}
		if end == len(word) && strings.EqualFold(string(list[:end]), word) {
			return true
		}
		list = list[end:]
	}
	return false
}

// trim removes the white space of HTML and control characters at both ends, as
// the URL Standard does.
func trim(p []byte) []byte {
	for len(p) > 0 && p[0] <= ' ' {
		p = p[1:]
	}
	for len(p) > 0 && p[len(p)-1] <= ' ' {
		p = p[:len(p)-1]
	}
	return p
}
