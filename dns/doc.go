// Package dns resolves host names for the crawler: a caching resolver that
// honours the answers' TTL, over servers of the operator's choice.
//
//	LookupNetIP ─> literal? ─> cache ─> look-up under way? ─> A and AAAA at once ─> servers in order
//	                 │           │            │ wait for it       UDP, then TCP if truncated
//	                 └───────────┴────────────┴──> addresses, IPv4 first
//
// A web crawler needs what the standard library's resolver lacks: it asks for
// the same few names again and again, so answers are kept for their TTL; names
// that do not exist are common, so that is remembered too; and hundreds of
// fetchers may want the same name at the same moment, so one question is asked
// for all of them.
//
// # What it does not trust
//
//   - A TTL of 0 is the tool of DNS rebinding and of a flood of questions: no
//     answer is forgotten before Options.MinTTL.
//   - A reply counts only if its ID and its question are those that were sent,
//     from a fresh random port; everything else on the socket is ignored.
//   - An alias chain ends after eight steps, an answer after 32 addresses.
//   - Names that look like numbers ("127.1", "0x7f.1") are never asked: a URL
//     parser would read them as addresses.
//
// The resolver does not judge addresses; the fetcher's guard does.
//
// # Memory
//
// The cache holds at most Options.MaxEntries names, about 400 bytes each for
// names of ordinary length; the least recently used one goes first.
//
// [Server] offers the same answers to other programs.
//
// The message format is github.com/miekg/dns; nothing of it shows in the API.
package dns
