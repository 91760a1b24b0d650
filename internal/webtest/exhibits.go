package webtest

import (
	"fmt"
	"strconv"
	"time"
)

// missing: pages that are not there. Links on them are not to be followed.
func (l lab) missing() {
	ghost := link{to: l.page("/missing/ghost.html"), ends: true, text: "not to be followed"}
	for _, status := range []int{404, 410, 403, 401, 451} {
		l.enter(l.add(fmt.Sprintf("/missing/%d.html", status), &resource{status: status, kind: Other, links: []link{ghost}}))
	}
	l.enter(l.here("/missing/never-was.html"), l.here("/topics/999999/"))
}

// unavailable: the host asks for patience, then answers.
func (l lab) unavailable() {
	l.enter(
		l.add("/busy/429.html", &resource{first: tooMany, times: 2}),
		l.add("/busy/503.html", &resource{first: busy, times: 1}),
		l.add("/busy/date.html", &resource{first: busyDate, times: 1}))
}

// faults: answers that fail the first time.
func (l lab) faults() {
	for name, f := range map[string]fault{"500": serverError, "502": badGateway, "cut-length": cutLength, "cut-chunk": cutChunk, "bad-gzip": badGzip} {
		l.add("/faults/"+name+".html", &resource{first: f, times: 1, number: 1})
	}
	l.enter(l.here("/faults/500.html"), l.here("/faults/502.html"), l.here("/faults/cut-length.html"),
		l.here("/faults/cut-chunk.html"), l.here("/faults/bad-gzip.html"))
}

// dripping: a page that comes in pieces.
func (l lab) dripping() {
	l.enter(l.add("/slow/drip.html", &resource{size: 20_000, drip: 400 * time.Millisecond}))
}

func (l lab) encodings() {
	for _, c := range []string{"gzip", "br", "zstd"} {
		l.enter(l.add("/coded/"+c+".html", &resource{coding: c, size: 9000}))
	}
}

// duplicates: one content under four URLs.
func (l lab) duplicates() {
	for _, path := range []string{"/same/a.html", "/same/b.html", "/same/a.html?print=1", "/same/a.html?from=feed"} {
		l.enter(l.add(path, &resource{number: 7, title: "Four times the same, on " + l.h.name, group: l.h.name, links: plain(l.here("/"))}))
	}
}

// metaRobots: pages whose links must not be followed, and some that only look
// like it.
func (l lab) metaRobots() {
	for i, p := range []*resource{
		{robots: "nofollow", nofollow: true}, {robots: "NoIndex, NoFollow", nofollow: true}, {robots: "none", nofollow: true},
		{xRobots: "nofollow", nofollow: true}, {metaName: l.opt.Agent, robots: "nofollow", nofollow: true},
		{robots: "noindex"}, {xRobots: "otherbot: nofollow"}, {metaName: "otherbot", robots: "nofollow"},
	} {
		p.links = plain(l.page(fmt.Sprintf("/meta/behind-%d.html", i)))
		l.enter(l.add("/meta/"+strconv.Itoa(i)+".html", p))
	}
}

// large: a page of 2,000 links, and one beyond the body limit of the crawl.
func (l lab) large() {
	var links []link
	for i := range 2000 {
		h := l.hosts[(l.h.index+i/100)%l.opt.Hosts]
		to := ref{h.index, l.path(h, i%h.pages)}
		links = append(links, link{to: to, way: 3, text: strconv.Itoa(i)})
	}
	l.enter(l.add("/large/links.html", &resource{kind: Nav, links: links}))
	if l.opt.MaxBody > 0 {
		l.enter(l.add("/large/body.html", &resource{cut: true, size: int(l.opt.MaxBody) + int(l.opt.MaxBody)/5}))
	}
}

// files: what is no page.
func (l lab) files() {
	for name, f := range map[string][2]string{
		"a.pdf": {"application/pdf", "%PDF-1.4\n/URI (http://ghost.test/)\n%%EOF\n"}, "b.jpg": {"image/jpeg", "\xff\xd8\xff\xe0\x00\x10JFIF\x00"},
		"c.json": {"application/json", `{"href":"/files/ghost"}`}, "d.txt": {"text/plain; charset=utf-8", "see " + "/files/ghost\n"}, "e.zip": {"application/zip", "PK\x03\x04"},
	} {
		l.add("/files/"+name, &resource{kind: Other, mime: f[0], raw: []byte(f[1]), number: 1})
	}
	l.enter(l.here("/files/a.pdf"), l.here("/files/b.jpg"), l.here("/files/c.json"), l.here("/files/d.txt"), l.here("/files/e.zip"))
	l.enter(l.add("/files/no-type", &resource{noMime: true, links: plain(l.page("/files/behind-no-type.html"))}),
		l.add("/files/page.xhtml", &resource{mime: "application/xhtml+xml; charset=utf-8", links: plain(l.page("/files/behind-xhtml.html"))}))
}
