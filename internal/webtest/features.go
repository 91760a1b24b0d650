package webtest

import (
	"fmt"
	"strconv"
)

const (
	labPath     = "/lab/"
	sitemapPath = "/sitemap.xml"
	originMark  = "{origin}" // in raw bodies: scheme, host and port of their host
)

// lab places the pages of one feature on one host.
type lab struct {
	*Web
	h       *host
	feature Feature
}

// placements are the features that have pages of their own, with what places
// them, and whether robots.txt has to forbid a part of them.
var placements = [...]struct {
	feature Feature
	place   func(lab)
	fenced  bool
}{
	{Redirects, lab.redirects, true},
	{Markup, lab.elements, false},
	{Spellings, lab.otherWords, false},
	{Traps, lab.closedTraps, true},
	{Traps, lab.openTraps, false},
	{Robots, lab.forbidden, true},
	{Sitemaps, lab.sitemaps, true},
	{Sitemaps, lab.feeds, false},
	{Charsets, lab.charsets, false},
	{Missing, lab.missing, false},
	{Unavailable, lab.unavailable, false},
	{Faults, lab.faults, false},
	{Slow, lab.dripping, false},
	{Encodings, lab.encodings, false},
	{Duplicates, lab.duplicates, false},
	{MetaRobots, lab.metaRobots, false},
	{Large, lab.large, false},
	{Files, lab.files, false},
}

// makeFeatures puts each feature on a tenth of the hosts, one at least.
func (w *Web) makeFeatures() {
	n := w.opt.Hosts
	copies := min(max(n/10, 1), 8)
	for i, p := range placements {
		if !w.opt.has(p.feature) || p.fenced && !w.opt.has(Robots) {
			continue
		}
		for c := range copies {
			if h := w.room(i*5+c*n/copies, p.fenced); h != nil {
				p.place(lab{w, h, p.feature})
			}
		}
	}
	for _, h := range w.hosts[:n] {
		if len(h.lab) > 0 {
			lab{w, h, 0}.list(labPath, "Laboratory of "+h.name, h.lab)
		}
		w.addRobots(h)
	}
}

// room returns the first host from number start on that may have a feature.
func (w *Web) room(start int, fenced bool) *host {
	for i := range w.opt.Hosts {
		h := w.hosts[(start+i)%w.opt.Hosts]
		if h.hasLab() && (!fenced || h.robots.fences()) {
			return h
		}
	}
	return nil
}

// add puts p at path. What p leaves open becomes a short article.
func (l lab) add(path string, p *resource) ref {
	setDefault(&p.status, 200)
	setDefault(&p.kind, Data)
	setDefault(&p.title, fmt.Sprintf("Exhibit %s of %s", path, l.h.name))
	setDefault(&p.number, len(l.h.special)+1)
	p.feature = l.feature
	if _, taken := l.h.special[path]; taken {
		panic("webtest: two pages at " + path)
	}
	l.h.special[path] = p
	return ref{l.h.index, path}
}

// page adds a short article, and returns its address.
func (l lab) page(path string, links ...link) ref { return l.add(path, &resource{links: links}) }

// pages adds n short articles below dir.
func (l lab) pages(dir string, n int) []ref {
	refs := make([]ref, n)
	for i := range refs {
		refs[i] = l.page(dir + strconv.Itoa(i) + ".html")
	}
	return refs
}

// list adds a navigation page.
func (l lab) list(path, title string, refs []ref) ref {
	return l.add(path, &resource{kind: Nav, title: title, links: plain(refs...)})
}

// enter makes the laboratory page of the host lead to refs.
func (l lab) enter(refs ...ref) { l.h.lab = append(l.h.lab, refs...) }

// plain makes ordinary links.
func plain(refs ...ref) []link {
	links := make([]link, len(refs))
	for i, r := range refs {
		links[i] = link{to: r, text: "see " + r.path}
	}
	return links
}

// here is a place on the host of the lab; there need be nothing at it.
func (l lab) here(path string) ref { return ref{l.h.index, path} }

// elsewhere is the front page of another host, if there is one.
func (l lab) elsewhere() ref { return ref{(l.h.index + 1) % l.opt.Hosts, "/"} }
