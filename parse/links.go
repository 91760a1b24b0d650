package parse

import (
	"bytes"
	"hash/maphash"
	"strings"
	"time"

	"octopus"
	"octopus/parse/feed"
	"octopus/parse/scan"
)

// links turns the references of a page into links: each distinct one once, no
// link to the page itself, at most Options.MaxLinks. Those to topics, targets as
// written, go to the data lane.
func (p *Parser) links(w *work, from *octopus.Link, topics map[string]bool) []octopus.Link {
	out := p.spare.Get(min(len(w.page.Refs), p.opt.MaxLinks))
	w.isNew(from.URL) // nobody links to himself
	for i := range w.page.Refs {
		r := &w.page.Refs[i]
		if !p.follows(r) {
			continue
		}
		u, ok := w.resolve(r.Target())
		if !ok || r.Tag == scan.Link && r.HasRel("canonical") && u.Site != from.URL.Site {
			continue // a canonical URL elsewhere is a claim, not a link
		}
		if len(out) == p.opt.MaxLinks {
			p.dropped.Add(1)
			continue
		}
		l := octopus.Link{URL: u, Via: from.URL.Text, Kind: octopus.Anchor, Depth: from.Depth + 1}
		if topics != nil && topics[string(r.URL)] {
			l.Lane = octopus.Data
		}
		out = append(out, l)
	}
	return out
}

// Recycle takes a list of links that Parse returned back for reuse. Calling it
// is optional. Nobody may hold the list, or a part of it, afterwards; what the
// links hold stays good.
func (p *Parser) Recycle(links []octopus.Link) { p.spare.Put(links) }

// resolve returns the URL of a reference that this page had not yet.
func (w *work) resolve(target []byte) (octopus.URL, bool) {
	if i := bytes.IndexByte(target, '#'); i >= 0 {
		target = target[:i]
	}
	if len(target) == 0 || otherScheme(target) || !w.refs.add(maphash.Bytes(w.seed, target)) {
		return octopus.URL{}, false
	}
	u, ok := w.base.ResolveBytes(target)
	return u, ok && w.isNew(u)
}

// isNew reports whether this page did not have the URL before.
func (w *work) isNew(u octopus.URL) bool { return w.urls.add(maphash.Bytes(w.seed, u.Key[:])) }

// otherScheme reports whether a reference begins with a scheme that is not
// http or https: mailto, javascript, data and so on.
func otherScheme(ref []byte) bool {
	for i, c := range ref {
		switch {
		case c == ':':
			return !strings.EqualFold(string(ref[:i]), "http") && !strings.EqualFold(string(ref[:i]), "https")
		case c == '/' || c == '?' || c == '#' || c == '\\':
			return false
		}
	}
	return false
}

// follows reports whether a reference leads to a page.
func (p *Parser) follows(r *scan.Ref) bool {
	switch r.Tag {
	case scan.A, scan.Area:
		return !p.opt.SkipNofollow || !(r.HasRel("nofollow") || r.HasRel("ugc") || r.HasRel("sponsored"))
	case scan.Link:
		return followsRel(r)
	}
	return true
}

// relations are the rel values of link elements that lead to a page: those of
// the HTML Standard that make hyperlinks, and those of HTML 4.
var relations = [...]string{"next", "prev", "previous", "canonical", "start", "first", "last", "up", "top", "home",
	"contents", "toc", "index", "glossary", "copyright", "chapter", "section", "subsection", "appendix", "bookmark",
	"author", "help", "license", "terms-of-service", "privacy-policy"}

func followsRel(r *scan.Ref) bool {
	if r.HasRel("alternate") {
		return alternateType(string(r.Type))
	}
	for _, rel := range relations {
		if r.HasRel(rel) {
			return true
		}
	}
	return false
}

// alternateType reports whether an alternate of this type is worth a visit:
// translations and feeds are, oEmbed descriptions and APIs are not.
func alternateType(t string) bool {
	switch strings.ToLower(strings.TrimSpace(t)) {
	case "", "text/html", "application/xhtml+xml", "application/rss+xml", "application/atom+xml",
		"application/rdf+xml", "application/feed+json":
		return true
	}
	return false
}

// list reads a sitemap or feed and returns what it lists.
func (p *Parser) list(page *octopus.Page, rec *octopus.Record, body []byte, f form) []octopus.Link {
	rec.Kind = kindOther
	l := feed.Read(body)
	if f == lines {
		l = feed.Lines(body)
	}
	if l.Kind == feed.None || nofollow(rec.Robots) && !p.opt.IgnoreRobots {
		return nil
	}
	from := page.Lease.Link
	link := octopus.Link{Via: from.URL.Text, Kind: octopus.Sitemap, Depth: from.Depth + 1}
	if l.Kind == feed.Index {
		link.Depth, link.Hop = from.Depth, from.Hop+1
	}
	w := p.works.Get().(*work)
	defer p.release(w)
	w.isNew(from.URL)
	w.base.Reset(from.URL)
	out := make([]octopus.Link, 0, len(l.Entries))
	known := p.opt.Classes.Expect(page.Lease)
	for _, e := range l.Entries {
		if u, ok := w.resolve(scan.Ref{URL: []byte(e.URL)}.Target()); ok {
			link.URL, link.Lane, link.Modified = u, octopus.Nav, lately(e, page.Start)
			if known.Extract && (e.News || l.Kind == feed.RSS || l.Kind == feed.Atom || l.Kind == feed.JSON) {
				link.Lane = octopus.Data // what feeds list are articles
			}
			out = append(out, link)
		}
	}
	return out
}

// lately returns when an entry was modified, if that was in the last week before
// now: an older change was seen by then. Times to come are mistakes.
func lately(e feed.Entry, now time.Time) time.Time {
	if t, ok := e.Time(); ok && !t.After(now) && now.Sub(t) < 7*24*time.Hour {
		return t
	}
	return time.Time{}
}
