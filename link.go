package octopus

import "time"

// Link is a URL offered to a frontier, with how it was met.
type Link struct {
	URL  URL
	Via  string   // URL of the page that led here; empty for an entry
	Kind LinkKind // how the URL was met

	Depth int // link hops from an entry, 0 for an entry itself
	Hop   int // redirects followed since the last link, at most MaxHops

	Lane       Lane   // which queue: navigation or data pages
	Precedence uint8  // smaller goes first within a host and lane
	Weight     uint16 // larger goes first among URLs of the same depth

	// Modified is when a feed or sitemap says that the page changed; zero where
	// nobody says. A page that waits for its next visit is due at once if its
	// last one was before.
	Modified time.Time

	Method string // empty means GET
	Body   []byte // request body, part of the key where there is one
	Board  string // name of the board that accepted it; empty until a gate did
}

// MaxHops is the number of redirects followed from one link.
const MaxHops = 10

// LinkKind tells how a URL was met. The letters are those of the crawl log that
// archivists read.
type LinkKind byte

const (
	Entry    LinkKind = 'E' // given by a user, a board or a file
	Anchor   LinkKind = 'L' // a link of a page
	Redirect LinkKind = 'R' // the target of a redirect
	Sitemap  LinkKind = 'S' // a sitemap or feed, or a URL listed in one
	Robots   LinkKind = 'P' // robots.txt, a prerequisite of its host
	Jump     LinkKind = 'J' // a jumping link: fetched for its target alone
)

// Lane is one of the two queues a URL can stand in.
type Lane uint8

const (
	Nav  Lane = iota // navigation pages: lists that are visited again
	Data             // data pages (articles): fetched once and kept
)

// String returns "nav" or "data".
func (l Lane) String() string {
	if l == Data {
		return "data"
	}
	return "nav"
}
