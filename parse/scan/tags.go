package scan

import (
	"bytes"
	"strings"
)

// startTag reads "<name …>"; i is at the first letter of the name.
func (s *scanner) startTag(at int) int {
	n, i := pack(s.b, at)
	if !inline(n) {
		s.endBlock()
	}
	c := &s.p.Counts
	switch n {
	case tagA, tagArea, tagBase, tagBody, tagFrame, tagIframe, tagLink, tagMeta, tagHTML, tagScript:
		return s.reading(n, i)
	case tagSvg, tagMath:
		return s.enterForeign(i)
	case tagTitle, tagStyle, tagTextarea, tagXmp, tagNoembed, tagNoframes:
		return s.rawText(n, i)
	case tagDiv, tagTable:
		s.body, s.foreign = true, 0
	case tagP:
		c.Paras++
		s.body, s.foreign = true, 0
	case tagLI:
		c.Items++
		s.foreign = 0
	case tagH1, tagH2, tagH3, tagH4, tagH5, tagH6:
		c.Headings++
		if n == tagH1 {
			c.H1++
		}
		if s.inLink {
			c.HeadLinks++
		}
		s.foreign, s.heading = 0, true
	case tagImg:
		c.Images++
		s.p.Assets++
		if s.inLink {
			c.ImgLinks++
		}
		s.foreign = 0
	case tagVideo, tagAudio, tagEmbed, tagObject, tagSource:
		s.p.Assets++
	case 0:
		if strings.EqualFold(string(s.b[at:i]), "plaintext") {
			return len(s.b)
		}
	}
	return s.skipAttributes(i)
}

// enterForeign reads the start tag of svg or math. Their content is tokenized
// differently until the end tag, or until a tag that only HTML has.
func (s *scanner) enterForeign(i int) int {
	next := s.skipAttributes(i)
	if next >= 2 && s.b[next-1] == '>' && s.b[next-2] != '/' {
		s.foreign++
	}
	return next
}

// reading handles the tags whose attributes matter.
func (s *scanner) reading(n name, i int) int {
	a, next, ok := s.read(i)
	if !ok {
		return next
	}
	switch n {
	case tagA:
		s.endLink() // an a element cannot hold another
		if a.href != nil {
			s.p.Counts.Links++
			if s.heading {
				s.p.Counts.HeadLinks++
			}
			s.inLink = true
			plain := s.p.Counts.Text - s.p.Counts.LinkText + s.blockText - s.blockLink
			s.lastLink = len(s.p.Refs)
			s.ref(Ref{Tag: A, URL: a.href, Rel: a.rel, Plain: int32(plain)})
		}
	case tagArea:
		s.ref(Ref{Tag: Area, URL: a.href, Rel: a.rel})
	case tagFrame:
		s.ref(Ref{Tag: Frame, URL: a.src})
	case tagIframe:
		s.ref(Ref{Tag: Iframe, URL: a.src})
		return s.skipRaw(n, next)
	case tagBase:
		if a.href != nil && s.first(foundBase) {
			s.p.base = trim(a.href)
		}
	case tagLink:
		s.link(a)
	case tagMeta:
		s.meta(a)
	case tagHTML:
		if a.lang != nil && s.first(foundLang) {
			s.p.lang = a.lang
		}
	case tagBody:
		s.body, s.foreign = true, 0
		if a.class != nil && s.first(foundClass) {
			s.p.class = a.class
		}
	case tagScript:
		return s.script(a, next)
	}
	return next
}

func (s *scanner) ref(r Ref) {
	if r.URL == nil || len(s.p.Refs) >= MaxRefs {
		return
	}
	r.URL = trim(r.URL)
	s.p.Refs = append(s.p.Refs, r)
}

// first reports whether what the bit stands for is met for the first time.
func (s *scanner) first(bit uint8) bool {
	if s.p.found&bit != 0 {
		return false
	}
	s.p.found |= bit
	return true
}

func (s *scanner) link(a attributes) {
	r := Ref{Tag: Link, URL: a.href, Rel: a.rel, Type: a.typ}
	if r.HasRel("stylesheet") || r.HasRel("icon") {
		s.p.Assets++
		return
	}
	if r.Rel != nil {
		s.ref(r)
	}
}

func (s *scanner) meta(a attributes) {
	if a.content == nil {
		return
	}
	for _, n := range [...][]byte{a.name, a.property, a.itemprop, a.httpEquiv} {
		if len(n) > 0 && len(s.p.Meta) < MaxMeta {
			s.p.Meta = append(s.p.Meta, Meta{Name: trim(n), Content: a.content})
		}
	}
	if a.httpEquiv != nil && strings.EqualFold(string(trim(a.httpEquiv)), "refresh") {
		if u := refreshURL(a.content); u != nil {
			s.ref(Ref{Tag: Refresh, URL: u})
		}
	}
}

// script handles a script element whose start tag has been read.
func (s *scanner) script(a attributes, next int) int {
	if a.src != nil {
		s.p.Assets++
	}
	if s.foreign > 0 {
		return next
	}
	end := s.endOfScript(next)
	if len(a.typ) > 0 && strings.EqualFold(string(trim(a.typ)), "application/ld+json") && len(s.p.LD) < MaxLD {
		s.p.LD = append(s.p.LD, s.b[next:end])
	}
	return end
}

// rawText reads an element whose content is text.
func (s *scanner) rawText(n name, i int) int {
	next := s.skipAttributes(i)
	if s.foreign > 0 {
		return next
	}
	end := s.skipRaw(n, next)
	if n == tagTitle && s.first(foundTitle) {
		s.p.title = s.b[next:end]
	}
	return end
}

// skipRaw returns the index of the end tag of element n, from i on, or the end
// of the page.
func (s *scanner) skipRaw(n name, i int) int {
	for {
		d := bytes.Index(s.b[i:], []byte("</"))
		if d < 0 {
			return len(s.b)
		}
		i += d
		if m, end := pack(s.b, i+2); m == n && end < len(s.b) {
			return i
		}
		i += 2
	}
}

// endOfScript returns the index of the end tag of a script whose text begins at
// i. Inside "<!-- <script>" an end tag closes only that inner script: the
// "double escaped" state of the standard.
func (s *scanner) endOfScript(i int) int {
	const (
		plain = iota
		escaped
		double
	)
	state, b := plain, s.b
	for {
		d := bytes.IndexAny(b[i:], "<-")
		if state == plain {
			d = bytes.IndexByte(b[i:], '<')
		}
		if d < 0 {
			return len(b)
		}
		i += d
		rest := b[i:]
		switch {
		case state != plain && bytes.HasPrefix(rest, []byte("-->")):
			state = plain
			i += len("-->")
		case state == plain && bytes.HasPrefix(rest, []byte("<!--")):
			// The dashes may at once be the end: "<!-->".
			state = escaped
			i += len("<!")
		case state == escaped && isScript(rest, "<script"):
			state = double
			i += len("<script")
		case isScript(rest, "</script"):
			if state != double {
				return i
			}
			state = escaped
			i += len("</script")
		default:
			i++
		}
	}
}

func isScript(p []byte, tag string) bool {
	n := len(tag)
	return len(p) > n && strings.EqualFold(string(p[:n]), tag) && (isSpace(p[n]) || p[n] == '/' || p[n] == '>')
}

// refreshURL returns the target of a meta refresh ("5; url='/next'"), or nil:
// the standard's "shared declarative refresh steps".
func refreshURL(content []byte) []byte {
	p := bytes.TrimLeft(content, " \t\r\n\f")
	digits := len(p)
	p = bytes.TrimLeft(p, "0123456789.")
	if len(p) == digits {
		return nil
	}
	p = bytes.TrimLeft(p, " \t\r\n\f")
	if len(p) > 0 && (p[0] == ';' || p[0] == ',') {
		p = p[1:]
	}
	p = bytes.TrimLeft(p, " \t\r\n\f")
	if len(p) >= 3 && strings.EqualFold(string(p[:3]), "url") {
		if rest := bytes.TrimLeft(p[3:], " \t\r\n\f"); len(rest) > 0 && rest[0] == '=' {
			p = bytes.TrimLeft(rest[1:], " \t\r\n\f")
		}
	}
	if len(p) > 0 && (p[0] == '"' || p[0] == '\'') {
		q := p[0]
		p = p[1:]
		if end := bytes.IndexByte(p, q); end >= 0 {
			p = p[:end]
		}
	}
	if len(p) == 0 {
		return nil
	}
	return p
}
