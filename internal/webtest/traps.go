package webtest

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	trapPath = "/trap/" // robots.txt forbids it
	openPath = "/open/" // only a depth limit ends it
)

// closedTraps leads to endless spaces that robots.txt forbids.
func (l lab) closedTraps() {
	l.enter(l.here(trapPath+"calendar/2026-11"), l.here(trapPath+"deep/"), l.here(trapPath+"facets?on=000000000000"), l.here("/shop/item.html?sid=1"))
}

// openTraps leads to endless spaces that nothing forbids. They exist only where
// the crawl has a depth limit, and they have no mark by which a crawler could
// tell a trap (a segment over and over, very long URLs), so that the truth does
// not depend on how good it is at that.
func (l lab) openTraps() {
	if l.opt.Depth > 0 {
		l.enter(l.here(openPath+"calendar/2026-11"), l.here(openPath+"deep/"), l.here(openPath+"facets?on=0000"), l.here(openPath+"cart?session=1"))
	}
}

// trapPage describes a page of an endless space, made from its own path.
func (w *Web) trapPage(h *host, path string) *resource {
	p := &resource{status: 200, feature: Traps, kind: Nav, title: "Page " + path, number: len(path)}
	lead := func(paths ...string) *resource {
		for _, to := range paths {
			p.links = append(p.links, plain(ref{h.index, to})...)
		}
		return p
	}
	dir, name := path[:strings.LastIndexByte(path, '/')+1], path[strings.LastIndexByte(path, '/')+1:]
	var year, month int
	switch {
	case strings.HasSuffix(dir, "/calendar/"):
		if n, err := fmt.Sscanf(name, "%d-%d", &year, &month); n != 2 || err != nil {
			return nil
		}
		at := 12*year + month - 1
		return lead(fmt.Sprintf("%s%d-%02d", dir, (at-1)/12, (at-1)%12+1), fmt.Sprintf("%s%d-%02d", dir, (at+1)/12, (at+1)%12+1))
	case strings.Contains(dir, "/deep/") && name == "":
		return lead(fmt.Sprintf("%s%d/", path, strings.Count(path, "/"))) // no segment twice
	case strings.HasPrefix(name, "facets?on="):
		return lead(facets(path)...)
	}
	base, id, found := strings.Cut(path, "=")
	n, err := strconv.ParseUint(id, 16, 64)
	if !found || err != nil {
		return nil
	}
	return lead(fmt.Sprintf("%s=%x", base, uint64(*newRng(n))))
}

// facets returns the paths with one more filter switched on.
func facets(path string) []string {
	var more []string
	for i := strings.IndexByte(path, '=') + 1; i < len(path); i++ {
		if path[i] == '0' {
			more = append(more, path[:i]+"1"+path[i+1:])
		}
	}
	return more
}

// forbidden: pages that robots.txt forbids, next to one that it allows.
func (l lab) forbidden() {
	l.enter(l.page("/private/report.html"), l.page("/private/open/press.html"), l.page("/staff/list.secret"), l.page("/staff/list.secrets"))
}
