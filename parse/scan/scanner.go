package scan

import (
	"bytes"
	"unicode/utf8"
)

// scanner is the state of one pass.
type scanner struct {
	b []byte
	p *Page

	foreign  int  // depth of svg and math elements
	inLink   bool // inside an a element with href
	lastLink int  // place of that element in Refs
	body     bool // past the head: text counts
	heading  bool // inside h1 to h6

	// The block being read: bytes of text, bytes of it in links, sentence marks.
	blockText, blockLink, blockMarks int
	// Bytes of text in the link being read.
	linkText int
	// Bytes of the long blocks since the last block of links.
	prose int
}

// Scan reads an HTML page in UTF-8 into p, which it resets first. The slices
// in p point into html.
func (p *Page) Scan(html []byte) {
	p.Reset()
	s := scanner{b: html, p: p}
	s.run()
	s.endBlock()
}

func (s *scanner) run() {
	b := s.b
	for i := 0; i < len(b); {
		lt := bytes.IndexByte(b[i:], '<')
		if lt < 0 {
			s.text(b[i:])
			return
		}
		if lt > 0 {
			s.text(b[i : i+lt])
		}
		i += lt
		if i+1 >= len(b) {
			return
		}
		switch c := b[i+1]; {
		case isLetter(c):
			i = s.startTag(i + 1)
		case c == '/':
			i = s.endTag(i + 2)
		case c == '!':
			i = s.declaration(i + 2)
		case c == '?':
			i = s.bogusComment(i + 1)
		default:
			i++ // a lone "<" is text
		}
	}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// text counts a run of text.
func (s *scanner) text(t []byte) {
	if t = trim(t); len(t) == 0 || !s.body {
		return
	}
	if s.p.Text != nil {
		s.p.Text(t, s.inLink)
	}
	s.blockText += len(t)
	if s.inLink {
		s.blockLink += len(t)
		s.linkText += len(t)
	}
	if len(t) < LongLink && price(t) {
		s.p.Counts.Prices++
	}
	if len(t) > LongBlock/2 {
		s.blockMarks += bytes.Count(t, []byte(",")) + bytes.Count(t, []byte(".")) +
			bytes.Count(t, []byte("，")) + bytes.Count(t, []byte("。")) + bytes.Count(t, []byte("、"))
	}
}

// price reports whether a short text looks like "$ 12.50" or "12,50 €".
func price(t []byte) bool {
	first, last := t[0], t[len(t)-1]
	switch {
	case first < utf8.RuneSelf && first != '$' && last < utf8.RuneSelf:
		return false // nearly every text
	case first == '$':
		return len(t) > 1
	}
	for _, sign := range [...]string{"€", "£", "¥", "￥", "₹", "元"} {
		if bytes.HasPrefix(t, []byte(sign)) || bytes.HasSuffix(t, []byte(sign)) {
			return len(t) > len(sign)
		}
	}
	return false
}

// endBlock closes the block being read.
func (s *scanner) endBlock() {
	if s.blockText == 0 {
		return
	}
	c := &s.p.Counts
	c.Text += s.blockText
	c.LinkText += s.blockLink
	if plain := s.blockText - s.blockLink; plain >= LongBlock && s.blockLink*2 < plain {
		c.LongText += plain
		c.Longest = max(c.Longest, plain)
		c.Commas += s.blockMarks
		s.prose += plain
		c.Prose = max(c.Prose, s.prose)
	} else if s.blockLink*2 > s.blockText {
		s.prose = 0
	}
	s.blockText, s.blockLink, s.blockMarks = 0, 0, 0
}

// endTag reads "</name …>"; i is behind the slash.
func (s *scanner) endTag(i int) int {
	if i >= len(s.b) || !isLetter(s.b[i]) {
		return s.bogusComment(i) // "</>" vanishes, "</3>" is a comment: either ends at ">"
	}
	n, i := pack(s.b, i)
	switch n {
	case tagA:
		s.endLink()
	case tagSvg, tagMath:
		s.foreign = max(0, s.foreign-1)
	case tagH1, tagH2, tagH3, tagH4, tagH5, tagH6:
		s.heading = false
	}
	if !inline(n) {
		s.endBlock()
	}
	return s.skipAttributes(i)
}

func (s *scanner) endLink() {
	if s.inLink && s.linkText >= LongLink {
		s.p.Counts.TextLinks++
		s.p.Counts.LinkProse += s.linkText
	}
	if s.inLink && s.lastLink < len(s.p.Refs) {
		s.p.Refs[s.lastLink].Text = int32(s.linkText)
	}
	s.inLink, s.linkText = false, 0
}

// declaration reads what follows "<!": a comment, CDATA, or a doctype.
func (s *scanner) declaration(i int) int {
	rest := s.b[i:]
	switch {
	case bytes.HasPrefix(rest, []byte("--")):
		return s.comment(i + 2)
	case s.foreign > 0 && bytes.HasPrefix(rest, []byte("[CDATA[")):
		if end := bytes.Index(rest, []byte("]]>")); end >= 0 {
			return i + end + len("]]>")
		}
		return len(s.b)
	}
	return s.bogusComment(i)
}

// comment moves behind a comment; i is behind "<!--". A comment ends at "-->"
// or "--!>", and "<!-->" and "<!--->" are whole ones.
func (s *scanner) comment(i int) int {
	rest := s.b[i:]
	if bytes.HasPrefix(rest, []byte(">")) {
		return i + 1
	}
	if bytes.HasPrefix(rest, []byte("->")) {
		return i + 2
	}
	for at := 0; ; {
		d := bytes.Index(rest[at:], []byte("--"))
		if d < 0 {
			return len(s.b)
		}
		at += d + 2
		switch after := rest[at:]; {
		case len(after) > 0 && after[0] == '>':
			return i + at + 1
		case len(after) > 1 && after[0] == '!' && after[1] == '>':
			return i + at + 2
		}
		at-- // of "--->" the last two dashes count
	}
}

// bogusComment moves behind the next ">".
func (s *scanner) bogusComment(i int) int {
	if i > len(s.b) {
		return len(s.b)
	}
	if end := bytes.IndexByte(s.b[i:], '>'); end >= 0 {
		return i + end + 1
	}
	return len(s.b)
}
