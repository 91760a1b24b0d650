package webtest

import (
	"strings"
	"time"
)

// Kind is what a page is to a reader.
type Kind string

const (
	Nav   Kind = "nav"   // a list of links
	Data  Kind = "data"  // an article
	Other Kind = "other" // no page: a file, a sitemap, a redirect, an error
)

// resource is what one URL answers. Tree pages are described when they are asked
// for, the pages of features once.
type resource struct {
	status  int
	feature Feature // that it belongs to; 0 for tree pages
	kind    Kind
	title   string
	number  int    // of a tree page; else chosen to vary the text
	size    int    // bytes to fill a page up to; 0: a paragraph
	links   []link // as they stand in the page

	location string // of a redirect, as sent
	target   *ref   // where it leads; nil for nowhere
	list     []ref  // of a sitemap or feed
	maps     []ref  // of a sitemap index

	mime     string // Content-Type; empty means text/html; charset=utf-8
	noMime   bool   // no Content-Type at all
	raw      []byte // the body itself; nil: written from the above
	packed   bool   // raw is to be compressed, as a file
	cut      bool   // longer than the body limit of the crawl
	coding   string // Content-Encoding for clients that take it
	charset  *charset
	robots   string // content of the robots meta element
	metaName string // its name, where it is not "robots"
	xRobots  string // X-Robots-Tag
	nofollow bool   // the crawl must take no links
	refresh  string // content of the refresh meta element
	base     string // href of the base element
	away     *ref   // the base element names this page of another host
	markup   string // placed in front of the text
	group    string // name of the group of pages with the same content

	first fault // what happens to the first requests
	times int   // to how many
	drip  time.Duration
}

// link is one reference of a page.
type link struct {
	to   ref
	text string
	href string // as written; empty: see way
	way  int    // spelling + 1; 0: path, or whole URL for another host
	tag  tag
	ends bool // no link: not to be followed although it looks like one
}

// tag says which element holds a link.
type tag uint8

const (
	tagA tag = iota
	tagArea
	tagIframe
	tagFrame
	tagNext  // link rel=next
	tagFeed  // link rel=alternate
	tagMeta  // the refresh element; rendered from resource.refresh
	tagNone  // part of resource.markup
	tagImage // from here on: not to be followed
	tagStyle
	tagScript
)

func (l *link) follow() bool { return l.tag < tagImage && !l.ends }

// at returns what a URL answers; nil means 404.
func (w *Web) at(to ref) *resource {
	h := w.hosts[to.host]
	if h.state != alive {
		return nil
	}
	if p := h.special[to.path]; p != nil {
		return p
	}
	if n, ok := w.number(h, to.path); ok {
		return w.treePage(h, n)
	}
	if strings.HasPrefix(to.path, trapPath) || strings.HasPrefix(to.path, openPath) || strings.HasPrefix(to.path, "/shop/item.html?sid=") {
		return w.trapPage(h, to.path)
	}
	if strings.HasPrefix(to.path, "/asset/") {
		return &resource{status: 200, kind: Other, mime: assetTypes[to.path[strings.LastIndexByte(to.path, '.'):]], raw: []byte("asset")}
	}
	return nil
}

var assetTypes = map[string]string{".png": "image/png", ".css": "text/css", ".js": "text/javascript"}

// fault is a way to fail.
type fault uint8

const (
	sound       fault = iota
	tooMany           // 429, Retry-After: 1
	busy              // 503, Retry-After: 1
	busyDate          // 503, Retry-After as a date
	serverError       // 500
	badGateway        // 502
	cutLength         // fewer bytes than Content-Length
	cutChunk          // chunked, without its end
	badGzip           // Content-Encoding: gzip, and the body is damaged
)
