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
	Refresh time.Duration
	Recrawl time.Duration
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

// Job is a namespace: its own boards, seen set and queues. Politeness is shared
// by all jobs of a node.
type Job struct {
	Number uint32 // prefix of all its keys in the store
	Name   string
	Boards []Board
}
