package webtest

import (
	"crypto/sha1"
	"encoding/base32"
	"slices"
	"strings"

	"octopus"
	"octopus/canon"
)

// Page is the truth of one URL: what it answers in the end, once it has failed
// as often as it does.
type Page struct {
	Status  int
	Kind    Kind
	Title   string
	Charset string // of HTML, as the Encoding Standard names it
	Depth   int    // fewest link hops from an entry
	Hop     int    // redirects on that way since the last link
	Group   string // pages of the same content have the same; mostly empty
	Cut     bool   // longer than Options.MaxBody
	Feature Feature
}

// Truth is what a complete crawl comes to, by the rules that Options tell.
type Truth struct {
	// Pages holds every URL that is requested, robots.txt apart.
	Pages map[string]Page
	// OK is the number of those that answer 200: the pages to be found.
	OK int
	// Forbidden are the URLs met that robots.txt forbids.
	Forbidden map[string]bool
	// Dead are the URLs met on hosts that do not answer.
	Dead map[string]bool
	// Entrances are the URLs behind a limit of depth, hops or scope that the
	// pages name: the first steps that the crawl does not take.
	Entrances map[string]bool
}

// Truth walks the web by the rules of the crawl. It takes time and memory for
// every page, and none is kept.
func (w *Web) Truth() *Truth {
	t := &walk{web: w, best: map[ref]cost{}, touched: map[int]bool{},
		Truth: Truth{Pages: map[string]Page{}, Forbidden: map[string]bool{}, Dead: map[string]bool{}, Entrances: map[string]bool{}}}
	t.offer(ref{0, "/"}, cost{})
	for len(t.todo) > 0 {
		s := t.todo[0]
		t.todo = t.todo[1:]
		if t.best[s.ref] == s.cost { // no shorter way was found since
			t.visit(s)
		}
	}
	for u := range t.Pages {
		delete(t.Entrances, u)
		if t.Pages[u].Status == 200 {
			t.OK++
		}
	}
	return &t.Truth
}

// cost is how far a URL is from the entry.
type cost struct{ depth, hop int }

func (c cost) less(d cost) bool { return c.depth < d.depth || c.depth == d.depth && c.hop < d.hop }

// walk is a breadth-first walk. A sitemap can bring a page nearer than it was
// thought to be, so a step may be taken again.
type walk struct {
	Truth
	web     *Web
	best    map[ref]cost
	todo    []step
	touched map[int]bool // hosts whose robots.txt is fetched
}

type step struct {
	ref
	cost
}

// offer considers a URL that was met.
func (t *walk) offer(to ref, c cost) {
	w := t.web
	h := w.hosts[to.host]
	if c.hop > octopus.MaxHops || !t.inScope(h) || w.opt.Depth > 0 && c.depth > w.opt.Depth {
		t.Entrances[w.url(to)] = true
		return
	}
	if h.state != alive {
		t.Dead[w.url(to)] = true
		return
	}
	if !t.touched[to.host] {
		t.touched[to.host] = true
		if h.special[sitemapPath] != nil && !w.opt.NoSitemaps {
			t.offer(ref{to.host, sitemapPath}, cost{})
		}
	}
	if h.robots.forbids(to.path) {
		t.Forbidden[w.url(to)] = true
		return
	}
	if old, met := t.best[to]; !met || c.less(old) {
		t.best[to] = c
		t.todo = append(t.todo, step{to, c})
	}
}

func (t *walk) inScope(h *host) bool {
	entry := t.web.hosts[0]
	switch t.web.opt.Scope {
	case octopus.ScopeHost:
		return h == entry
	case octopus.ScopeDomain:
		return canon.Site(h.name) == canon.Site(entry.name)
	}
	return true
}

// visit takes in what a URL answers.
func (t *walk) visit(s step) {
	w := t.web
	p := w.at(s.ref)
	if p == nil {
		t.Pages[w.url(s.ref)] = Page{Status: 404, Kind: Other, Depth: s.depth, Hop: s.hop, Feature: Missing}
		return
	}
	t.Pages[w.url(s.ref)] = Page{Status: p.status, Kind: p.kind, Title: p.title, Charset: p.charsetName(), Depth: s.depth, Hop: s.hop,
		Group: p.group, Cut: p.cut, Feature: p.feature}
	if p.target != nil {
		t.offer(*p.target, cost{s.depth, s.hop + 1})
	}
	for _, m := range p.maps {
		t.offer(m, cost{s.depth, s.hop + 1})
	}
	for _, to := range p.leads() {
		t.offer(to, cost{s.depth + 1, 0})
	}
}

func (p *resource) charsetName() string {
	switch {
	case p.kind == Other:
		return ""
	case p.charset != nil:
		return p.charset.name
	}
	return "utf-8"
}

// leads returns the links of p that are to be followed.
func (p *resource) leads() []ref {
	if p.nofollow || p.status != 200 {
		return nil
	}
	refs := slices.Clone(p.list)
	for i := range p.links {
		if p.links[i].follow() {
			refs = append(refs, p.links[i].to)
		}
	}
	return refs
}

// Links returns the distinct canonical URLs that a page leads to, redirect
// targets included; nil for a URL that is not of this web.
func (w *Web) Links(url string) []string {
	from, ok := w.find(url)
	if !ok {
		return nil
	}
	p := w.at(from)
	if p == nil {
		return nil
	}
	refs := append(p.leads(), p.maps...)
	if p.target != nil {
		refs = append(refs, *p.target)
	}
	var urls []string
	met := map[ref]bool{from: true} // nobody links to himself
	for _, to := range refs {
		if !met[to] {
			met[to] = true
			urls = append(urls, w.url(to))
		}
	}
	return urls
}

// Digest returns the digest of the decoded body of a URL, "sha1:" and base 32;
// of its first MaxBody bytes where it is longer. It is empty for a URL that
// answers no body of its own.
func (w *Web) Digest(url string) string {
	at, ok := w.find(url)
	if !ok {
		return ""
	}
	p := w.at(at)
	if p == nil {
		return ""
	}
	body := w.body(nil, at, p)
	if p.cut {
		body = body[:w.opt.MaxBody]
	}
	sum := sha1.Sum(body)
	return "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
}

// find is the inverse of url.
func (w *Web) find(url string) (ref, bool) {
	_, rest, _ := strings.Cut(url, "://")
	name, _, _ := strings.Cut(rest, "/")
	name, _, _ = strings.Cut(name, ":")
	h := w.byName[name]
	if h == nil {
		return ref{}, false
	}
	path, ok := strings.CutPrefix(url, w.origin(name))
	return ref{h.index, path}, ok
}
