package parse

// Defaults of Options.
const (
	DefaultMaxLinks = 2000
	DefaultMaxTree  = 5 << 20
	DefaultAgent    = "octopus"
)

// Options says what a Parser looks for. The zero value is the ordinary crawl:
// links and metadata, no text.
type Options struct {
	// Text asks for Record.Text, the main text of a page. It costs a parse tree
	// and an extraction for each HTML page, about a thousand times the scan.
	Text bool

	// Markdown asks for Record.Markdown, at the same price.
	Markdown bool

	// Classes knows what boards say of the class of pages. Nil: nothing is
	// known, every page is judged by what it looks like.
	Classes Classes

	// Bare leaves the text out of the records of boards, too: it is looked for to
	// judge pages, and dropped. By default their data pages come with text and
	// Markdown.
	Bare bool

	// MaxLinks bounds the distinct links a page may offer; the first ones of
	// the page win, and Record.Links holds no more either. 0 means
	// DefaultMaxLinks. Sitemaps and feeds have their own limits (package
	// parse/feed).
	MaxLinks int

	// MaxTree is the size in bytes from which on no tree is built: text and
	// Markdown then come from the plain text of the scan. 0 means
	// DefaultMaxTree.
	MaxTree int

	// SkipNofollow leaves out links marked rel=nofollow, ugc or sponsored. They
	// are followed by default: the mark speaks to rankings, not to visits.
	SkipNofollow bool

	// NoFingerprint leaves records without one: for runs that keep and report
	// nothing. It is a sixth of what parsing costs.
	NoFingerprint bool

	// IgnoreRobots follows the links of pages that say nofollow in a robots
	// meta tag or X-Robots-Tag header. Record.Robots tells in either case.
	IgnoreRobots bool

	// Agent is the product token that robots meta tags and X-Robots-Tag
	// headers may name, besides "robots". Empty means DefaultAgent.
	Agent string
}
