// Package frontier decides what is fetched next, and when: the local
// octopus.Frontier, on an embedded store.
//
//	Add ──> index: known? ──> Core.Add ──┐
//	                                     ├──> one batch ──> store, fsync ──> answer
//	Done ──> record ────────> Core.Done ─┘
//	Lease <── Core.Lease: heaps of hosts, short queues <── refills from the store
//
// [Core] is the machine: pure, it takes the time and events in, and gives leases,
// wishes (refills, parks, due URLs) and one batch of changes out. [Frontier] is
// the shell around it: lock, clock, store, group commit, callers that wait. A
// month of crawling is a test of milliseconds (testdata/*.txt).
//
// # What is in memory
//
// A workbench, of bounded size whatever the backlog: the states of at most
// Options.HostLimit hosts, and of those that are served soon the first entries of
// their queues. The rest of each queue is in the store, and is read in while
// fewer hosts are ready than the fetchers may want. Beside it the index of known
// URLs, about 13 bytes each up to Options.IndexBytes; past that a filter tells
// which links are fresh, and the others are looked up in the store.
//
// # What is on disk
//
// Every key begins with the job's number (4 bytes) and a table (1 byte). See
// docs/formats/frontier.md for the values.
//
//	+-----+----+-----------------------------+ value
//	| job | 01 | URL key 16                  | the URL's record: state, place, last visit
//	| job | 02 | host 8 | position 14        | queue entry: URL text and what a lease needs
//	| job | 03 | host 8                      | host state: counters, gaps, blocks, heads
//	| job | 04 | time 8 | URL key 16         | entry of a URL that waits for its time
//	| job | 05 | URL key 16                  | entry of a parked URL
//	| job | 06 | URL key 16                  | entry of a bad URL
//	| job | 07 | name                        | totals
//	| job | 08 | host 8 | scheme, port       | robots.txt of one authority
//	| job | 09 | site 4                      | number of known URLs
//	| job | 0a | host 8 | URL pattern 8      | fetches of the pattern, and how many brought something
//	| job | 0b | shard of the index 2        | links to its URLs that no record has yet
//	| job | 0c | host 8                      | name of the host that stands for it
//	+-----+----+-----------------------------+
//
// One event is one atomic batch, with all counters it changes, so that opening
// reads a few keys and scans nothing. Leases are not written: a URL stays queued
// until its outcome, and on opening every host waits one full gap. [Verify]
// recomputes all counters.
package frontier
