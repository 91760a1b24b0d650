package webtest

import (
	"fmt"
	"strconv"
	"strings"
)

// pageFan is the number of children of a navigation page.
const pageFan = 10

// ref names something to ask for: a host by number, and path with query, both
// canonical.
type ref struct {
	host int
	path string
}

// isNav reports whether page n of h is a navigation page: one with children.
func (h *host) isNav(n int) bool { return n == 0 || n*pageFan+1 < h.pages }

// path returns the path of page n of h.
//
//	/  /topics/7/  /2026/03/21/a124.html
func (w *Web) path(h *host, n int) string {
	switch {
	case n == 0:
		return "/"
	case h.isNav(n):
		return "/topics/" + strconv.Itoa(n) + "/"
	}
	month, day := w.date(h, n)
	return fmt.Sprintf("/2026/%02d/%02d/a%d.html", month, day, n)
}

// date returns the day on which an article appeared.
func (w *Web) date(h *host, n int) (month, day int) {
	r := newRng(w.opt.Seed, uint64(h.index), uint64(n), 'd')
	return 1 + r.intn(12), 1 + r.intn(28)
}

// number is the inverse of path.
func (w *Web) number(h *host, path string) (n int, ok bool) {
	digits := strings.TrimSuffix(path, "/")
	if i := strings.LastIndexByte(path, 'a'); strings.HasPrefix(path, "/2026/") && i > 0 {
		digits = strings.TrimSuffix(path[i+1:], ".html")
	} else {
		digits = strings.TrimPrefix(digits, "/topics/")
	}
	if path == "/" {
		return 0, h.pages > 0
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0 && n < h.pages && w.path(h, n) == path
}

// treePage describes page n of h. Its links are those of the tree, then random
// ones: mostly within the host, some to others.
func (w *Web) treePage(h *host, n int) *resource {
	r := newRng(w.opt.Seed, uint64(h.index), uint64(n), 'p')
	p := &resource{status: 200, kind: Data, title: w.title(h.index, n), number: n, size: int(r.logNormal(float64(w.opt.PageSize)))}
	if h.isNav(n) {
		p.kind = Nav
	}
	p.links = make([]link, 0, w.opt.Links+pageFan+hostFan)
	add := func(host, n int) {
		l := link{to: ref{host, w.path(w.hosts[host], n)}, text: w.title(host, n)}
		if w.opt.has(Spellings) && r.intn(12) == 0 {
			l.way = 1 + r.intn(spellings)
		}
		p.links = append(p.links, l)
	}
	if n > 0 {
		add(h.index, 0)
		add(h.index, (n-1)/pageFan)
	}
	for c := n*pageFan + 1; c <= n*pageFan+pageFan && c < h.pages; c++ {
		add(h.index, c)
	}
	if n == 0 {
		w.frontLinks(h, p, add)
	}
	for want := 4 + r.intn(2*w.opt.Links-7); len(p.links) < want; {
		if to := w.hosts[r.intn(w.opt.Hosts)]; r.intn(8) == 0 && to.pages > 0 {
			add(to.index, r.power(to.pages))
		} else {
			add(h.index, r.power(h.pages))
		}
	}
	w.assets(h, n, p)
	return p
}

// frontLinks adds what only front pages have: the hosts below, the lab, and, on
// one of them, hosts that do not answer.
func (w *Web) frontLinks(h *host, p *resource, add func(host, n int)) {
	for c := h.index*hostFan + 1; c <= h.index*hostFan+hostFan && c < w.opt.Hosts; c++ {
		add(c, 0)
	}
	if len(h.lab) > 0 {
		p.links = append(p.links, link{to: ref{h.index, labPath}, text: "Laboratory"})
	}
	if h.index == min(1, w.opt.Hosts-1) {
		for _, dead := range w.hosts[w.opt.Hosts:] {
			p.links = append(p.links, link{to: ref{dead.index, "/"}, text: "Partner " + dead.name})
		}
	}
}

// assets adds an image, a style and a script, which are no links.
func (w *Web) assets(h *host, n int, p *resource) {
	if w.opt.Features == Plain {
		return
	}
	p.links = append(p.links,
		link{tag: tagImage, to: ref{h.index, fmt.Sprintf("/asset/%d.png", n)}},
		link{tag: tagStyle, to: ref{h.index, "/asset/site.css"}},
		link{tag: tagScript, to: ref{h.index, "/asset/site.js"}})
}
