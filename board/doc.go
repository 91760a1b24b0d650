// Package board compiles boards, and stands in front of a frontier as its gate.
//
// [Compile] turns an octopus.Board into [Rules], which judge one URL: inside the
// scope or not, deeper than allowed or not, what the patterns say, which lane. A
// [Gate] holds the rules of all boards, judges every link offered to the
// frontier behind it, and writes the name of the first board that accepts a link
// into it. docs/reference/scope.md tells users the same.
//
// What a board accepts, in the order of judging:
//
//  1. an entry itself, at depth 0, whatever the patterns say;
//  2. nothing outside its scope;
//  3. nothing deeper than its depth;
//  4. nothing that a reject pattern matches;
//  5. where there are accept patterns, only what one of them matches.
//
// Redirects of entries: people write http://example.com and are sent to
// https://www.example.com. The target of such a redirect counts as an entry from
// then on, for scope too, unless a reject pattern matches it. [Memory] keeps
// these entries over a restart, a [SharedMemory] for all processes of a crawl; in
// a store they look like this:
//
//	+--------+------------+------+-----+
//	| prefix | board name | 0x00 | URL |  ->  empty value
//	+--------+------------+------+-----+
//
// Sitemaps: a link of kind Sitemap at depth 0 is a sitemap file (or a feed); it
// and robots.txt are accepted wherever their host is in scope, because patterns
// and depth speak of pages. A link of kind Sitemap at depth 1 or more is a URL
// that a sitemap lists; it is judged like any link of that depth.
package board
