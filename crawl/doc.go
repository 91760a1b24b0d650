// Package crawl is the engine: the two loops that move URLs, and the small
// interfaces they need. It imports no implementation.
//
//	Frontier.Lease ──> fetch loop ──hand-off──> parse loop ──> Pages.Put ──> Frontier.Done
//	                      │ Release: the host's gap starts       one commit: outcome, links, record
//
// The fetch loop has Options.Concurrency workers: one request each. The parse
// loop has Options.Parsers workers: each takes one page, reads its links,
// stores it and reports the outcome. Workers of the parse loop spend most of
// their time waiting for a commit they share, so there are more of them than
// cores.
//
// At most Concurrency + Handoff + Parsers leases are out at once. That bounds
// memory (times the body limit) and what a crash can repeat.
package crawl
