package parse

import (
	"regexp"

	"octopus"
	"octopus/parse/scan"
)

// Jumping links answer with a redirect, or with a page that sends the reader on.

// moves finds the address to which a script sends the reader. Search engines
// write it in full, in quotes.
var moves = regexp.MustCompile(`(?:location(?:\.href)?\s*=|location\.(?:replace|assign)\s*\()\s*["'](https?:[^"'\s<>]+)["']`)

// jump returns the target of a page that a jumping link led to: that of a meta
// refresh, else that of a script; nil where it leads nowhere.
func (p *Parser) jump(page *octopus.Page, rec *octopus.Record, body []byte) []octopus.Link {
	rec.Kind = kindOther
	w := p.works.Get().(*work)
	defer p.release(w)
	w.page.Scan(body)
	w.locate(page.URL())
	for i := range w.page.Refs {
		r := &w.page.Refs[i]
		if r.Tag != scan.Refresh {
			continue
		}
		if u, ok := w.base.ResolveBytes(r.Target()); ok {
			return follow(page, rec, u)
		}
	}
	if m := moves.FindSubmatch(body); m != nil {
		if u, ok := w.base.ResolveBytes(scan.Unescape(m[1])); ok {
			return follow(page, rec, u)
		}
	}
	return nil
}
