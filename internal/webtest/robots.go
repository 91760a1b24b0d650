package webtest

import (
	"fmt"
	"strings"
	"time"
)

// robotsKind is a kind of robots.txt.
type robotsKind uint8

const (
	robotsNone   robotsKind = iota // 404: all is allowed
	robotsRules                    // for everybody
	robotsOwn                      // * may nothing, the crawler has its own group
	robotsLate                     // 503 with Retry-After at first
	robotsMoved                    // a redirect to another path
	robotsDelay                    // rules, and a Crawl-delay
	robotsEmpty                    // 200, no rule
	robotsSloppy                   // BOM, CRLF, comments, odd case, unknown lines
)

// robotsKinds is the order in which hosts get them.
var robotsKinds = [...]robotsKind{robotsRules, robotsOwn, robotsSloppy, robotsNone, robotsLate, robotsMoved, robotsEmpty, robotsRules, robotsDelay, robotsNone}

const (
	robotsPath = "/robots.txt"
	movedPath  = "/about/robots-policy.txt" // where robotsMoved leads
	crawlDelay = time.Second                // of robotsDelay
)

// robotsPlan is the robots.txt of a host.
type robotsPlan struct{ kind robotsKind }

// fences reports whether the file forbids what fence is the truth of.
func (p robotsPlan) fences() bool { return p.kind != robotsNone && p.kind != robotsEmpty }

// fence is what a file with rules forbids. Forbids is the same in Go.
const fence = `Disallow: /private/
Disallow: /trap/
Disallow: /*?sid=
Disallow: /*&sid=
Disallow: /*.secret$
Allow: /private/open/
`

// forbids reports whether the crawl may not fetch a path of the host.
func (p robotsPlan) forbids(path string) bool {
	if !p.fences() || strings.HasPrefix(path, "/private/open/") {
		return false
	}
	return strings.HasPrefix(path, "/private/") || strings.HasPrefix(path, trapPath) ||
		strings.Contains(path, "?sid=") || strings.Contains(path, "&sid=") || strings.HasSuffix(path, ".secret")
}

// delay is the gap that the file asks for.
func (p robotsPlan) delay() time.Duration {
	if p.kind == robotsDelay {
		return crawlDelay
	}
	return 0
}

// addRobots puts the robots.txt of h in place.
func (w *Web) addRobots(h *host) {
	text := ""
	switch h.robots.kind {
	case robotsNone:
		return
	case robotsOwn:
		text = "User-agent: *\nDisallow: /\n\nUser-agent: otherbot\nUser-agent: " + w.opt.Agent + "\n" + fence
	case robotsSloppy:
		text = "\ufeff# keep out of the traps\r\nUSER-AGENT : *\r\nNoindex: /\r\n" + strings.ReplaceAll(strings.ToLower(fence), "\n", "  # why\r\n")
	case robotsDelay:
		text = fmt.Sprintf("User-agent: *\nCrawl-delay: %d\n%s", crawlDelay/time.Second, fence)
	case robotsEmpty:
	default:
		text = "User-agent: *\n" + fence
	}
	if h.special[sitemapPath] != nil {
		text += "\nSitemap: " + originMark + sitemapPath + "\n"
	}
	file := &resource{status: 200, feature: Robots, kind: Other, mime: "text/plain", raw: []byte(text)}
	switch h.robots.kind {
	case robotsLate:
		file.first, file.times = busy, 1
	case robotsMoved:
		h.special[movedPath] = file
		file = &resource{status: 302, feature: Robots, kind: Other, location: movedPath, raw: []byte("moved")}
	}
	h.special[robotsPath] = file
}
