// Package octopus is the vocabulary of the crawler: the values that travel
// between its stages and the one contract they share, [Frontier].
//
// # The life of a URL
//
//  1. Text becomes a [URL] in package canon: canonical form, host, site, key.
//  2. A board, a page or a redirect offers it as a [Link] to a frontier
//     (Frontier.Add). The gate in front of it decides scope and depth; the
//     frontier decides whether it is known, over quota, a trap, or disallowed
//     by robots.txt, and answers a [Verdict]. A queued link is on disk.
//  3. When its host may be asked again, the frontier hands it out as a [Lease]:
//     the right to make one request, until a time, for one visit.
//  4. The fetcher turns the lease into a [Page]: status, headers, body, times.
//     The host's delay is counted from the end of the last byte.
//  5. The parser turns the page into links and a [Record]. The page goes to the
//     container first; then one commit holds the [Outcome], the links and the
//     record for the sinks.
//  6. The outcome (Frontier.Done) ends the visit: kept, to be tried again
//     later, due again after a period, or parked with a reason. A redirect ends
//     its lease as well; its target comes in as a new link.
//
// robots.txt, sitemaps and redirect targets go the same way: every request to
// a host is a lease, so that a host's gap counts every request.
//
// Effects are idempotent by (URL key, visit): a crash at any point repeats work
// and loses nothing that was acknowledged.
//
// The package imports nothing but the standard library, starts no goroutine and
// does no I/O. docs/architecture.md draws how the other packages hang together.
package octopus
