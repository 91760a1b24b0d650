package webtest

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// body returns the decoded body of p at to; the result may be buf, grown.
func (w *Web) body(buf []byte, to ref, p *resource) []byte {
	switch {
	case p.raw != nil:
		raw := bytes.ReplaceAll(p.raw, []byte(originMark), []byte(w.origin(w.hosts[to.host].name)))
		if p.packed {
			return pack(raw)
		}
		return append(buf, raw...)
	case p.charset != nil:
		return p.charset.encode(w.html(buf, to, p))
	}
	return w.html(buf, to, p)
}

// html writes a page in UTF-8.
func (w *Web) html(buf []byte, to ref, p *resource) []byte {
	lang := "en"
	if p.charset != nil {
		lang = p.charset.lang
	}
	buf = append(buf, "<!DOCTYPE html>\n<html lang=\""+lang+"\" xmlns=\"http://www.w3.org/1999/xhtml\"><head>"...)
	buf = w.head(buf, to, p)
	buf = append(buf, "</head>\n"...)
	if len(p.links) > 0 && p.links[0].tag == tagFrame {
		return append(w.link(append(buf, "<frameset>"...), to, &p.links[0]), "</frameset></html>\n"...)
	}
	buf = append(buf, "<body>\n<h1>"...)
	buf = append(escape(buf, p.title), "</h1>\n"...)
	if p.kind == Data {
		month, day := w.date(w.hosts[to.host], p.number)
		buf = fmt.Appendf(buf, "<p class=\"byline\">By <span class=\"author\">%s</span>, <time datetime=\"2026-%02d-%02d\">%d/%d/2026</time></p>\n",
			w.author(to.host, p.number), month, day, day, month)
	}
	buf = append(buf, p.markup...)
	if p.kind == Nav {
		buf = w.linkList(buf, to, p)
		return append(w.fill(buf, to, p, 0), "</body></html>\n"...)
	}
	buf = append(buf, "<article>\n"...)
	buf = append(w.fill(buf, to, p, p.size-120*len(p.links)), "</article>\n"...)
	return append(w.linkList(buf, to, p), "</body></html>\n"...)
}

// head writes the elements of the head that are not links.
func (w *Web) head(buf []byte, to ref, p *resource) []byte {
	if p.charset == nil {
		buf = append(buf, `<meta charset="utf-8">`...)
	} else if p.charset.label == "meta" {
		buf = append(buf, `<meta http-equiv="Content-Type" content="text/html; charset=`+p.charset.name+`">`...)
	}
	buf = append(buf, "\n<title>"...)
	buf = append(escape(buf, p.title), "</title>\n"...)
	if p.robots != "" {
		name := p.metaName
		setDefault(&name, "robots")
		buf = append(buf, `<meta name="`+name+`" content="`+p.robots+"\">\n"...)
	}
	if p.refresh != "" {
		buf = append(buf, `<meta http-equiv="refresh" content="`+p.refresh+"\">\n"...)
	}
	if p.away != nil {
		buf = append(buf, `<base href="`+w.url(*p.away)+"\">\n"...)
	} else if p.base != "" {
		buf = append(buf, `<base href="`+p.base+"\">\n"...)
	}
	if p.kind == Data && p.feature == 0 {
		buf = w.metadata(buf, to, p)
	}
	for i := range p.links {
		if inHead(p.links[i].tag) {
			buf = w.link(buf, to, &p.links[i])
		}
	}
	return buf
}

// metadata says in one article of three what it is as JSON-LD, in another one
// in meta elements.
func (w *Web) metadata(buf []byte, to ref, p *resource) []byte {
	month, day := w.date(w.hosts[to.host], p.number)
	switch p.number % 3 {
	case 0:
		return fmt.Appendf(buf, `<script type="application/ld+json">{"@context":"https://schema.org","@type":"NewsArticle","headline":%q,`+
			`"author":{"@type":"Person","name":%q},"datePublished":"2026-%02d-%02dT08:00:00Z"}</script>`+"\n", p.title, w.author(to.host, p.number), month, day)
	case 1:
		return fmt.Appendf(buf, `<meta property="og:type" content="article"><meta property="article:published_time" content="2026-%02d-%02d">`+
			`<meta name="author" content="%s"><meta name="description" content="%s">`+"\n", month, day, w.author(to.host, p.number), p.title)
	}
	return buf
}

// fill writes paragraphs until buf is size long, one at least.
func (w *Web) fill(buf []byte, to ref, p *resource, size int) []byte {
	r := newRng(w.opt.Seed, uint64(to.host), uint64(p.number), 'b')
	for more := true; more; more = len(buf) < size {
		buf = append(buf, "<p>"...)
		if p.charset == nil {
			buf = append(buf, w.text.paragraphs[r.intn(len(w.text.paragraphs))]...)
		} else {
			for range 4 {
				buf = append(buf, p.charset.sentences[r.intn(len(p.charset.sentences))]...)
			}
		}
		buf = append(buf, "</p>\n"...)
	}
	return buf
}

func (w *Web) linkList(buf []byte, to ref, p *resource) []byte {
	buf = append(buf, "<ul>\n"...)
	for i := range p.links {
		if l := &p.links[i]; !inHead(l.tag) && l.tag != tagNone && l.tag != tagMeta {
			buf = append(w.link(append(buf, "<li>"...), to, l), '\n')
		}
	}
	return append(buf, "</ul>\n"...)
}

func inHead(t tag) bool { return t == tagNext || t == tagFeed || t == tagStyle || t == tagScript }

// link writes one link of the page at from.
func (w *Web) link(buf []byte, from ref, l *link) []byte {
	href := l.href
	switch {
	case href != "":
	case l.way > 0:
		href = w.spelling(l.way-1, from, l.to)
	case l.to.host == from.host:
		href = l.to.path
	default:
		href = w.url(l.to)
	}
	form := linkForms[l.tag]
	buf = append(buf, form[0]...)
	buf = append(escape(buf, href), form[1]...)
	if strings.HasSuffix(form[1], ">") && form[2] != "" {
		buf = escape(buf, l.text)
	}
	if l.tag == tagFeed {
		buf = append(buf, l.text...)
	}
	return append(buf, form[2]...)
}

// linkForms are the markup in front of a URL, behind it, and behind the text.
var linkForms = [...][3]string{
	tagA:      {`<a href="`, `">`, `</a>`},
	tagArea:   {`<map name="m"><area href="`, `"></map>`, ""},
	tagIframe: {`<iframe src="`, `"></iframe>`, ""},
	tagFrame:  {`<frame src="`, `">`, ""},
	tagNext:   {`<link rel="next" href="`, `">`, ""},
	tagFeed:   {`<link rel="alternate" href="`, `" type="`, `">`},
	tagMeta:   {},
	tagNone:   {},
	tagImage:  {`<img src="`, `">`, ""},
	tagStyle:  {`<link rel="stylesheet" href="`, `">`, ""},
	tagScript: {`<script src="`, `"></script>`, ""},
}

// escape appends text as it stands in an attribute in double quotes.
func escape(buf []byte, text string) []byte {
	for i := range len(text) {
		switch c := text[i]; c {
		case '&':
			buf = append(buf, "&amp;"...)
		case '"':
			buf = append(buf, "&quot;"...)
		case '<':
			buf = append(buf, "&lt;"...)
		default:
			buf = append(buf, c)
		}
	}
	return buf
}

// etag is the validator of p.
func (w *Web) etag(to ref, p *resource) string {
	r := newRng(w.opt.Seed, uint64(to.host), uint64(p.number), uint64(len(p.title)), uint64(len(to.path)))
	return `"` + strconv.FormatUint(r.next(), 36) + `"`
}
