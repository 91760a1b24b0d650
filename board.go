package octopus

import "time"

// Board says what to crawl: entries, and rules for what they lead to. Package
// board compiles it. A URL belongs to the first board that accepts it.
type Board struct {
	Name    string   // unique within its job
	Entry   []string // URLs to start from
	Scope   Scope    // how far from the entries links may lead
	Depth   int      // link hops from an entry; negative means no limit
	Accept  []string // RE2; where there are any, one must match the URL
	Reject  []string // RE2; none may match the URL
	Article []string // RE2; a URL that matches one is a data page

	// Classify is "auto" where pages are judged by what they look like although
	// there are Article patterns. Without patterns they always are.
	Classify string

	Refresh    time.Duration // period of navigation pages, entries included; 0: fetched once
	RefreshMax time.Duration // where it is longer than Refresh, the period adapts between the two
	Recrawl    time.Duration // period of all other pages; 0: fetched once
	Quota      int64         // URLs of one host that may be known; 0: as the crawl says
	Delay      time.Duration // least pause between requests to a host; 0: as the crawl says
	Render     string        // "off", "auto" or "always": whether a browser makes the page

	Paused bool   // nothing of it is fetched
	Edited bool   // its rules changed since its pages were last rechecked
	Number uint32 // order in which boards are asked: smaller first
	File   string // configuration file that defines it; empty where it was added by hand
}

// Scope limits links relative to the entries of their board.
type Scope string

const (
	ScopePage   Scope = "page"   // the entries only
	ScopePrefix Scope = "prefix" // URLs that begin with an entry up to its last slash
	ScopeHost   Scope = "host"   // the hosts of the entries
	ScopeDomain Scope = "domain" // their registrable domains
	ScopeAny    Scope = "any"    // everywhere
)
