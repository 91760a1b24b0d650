// Package redisfrontier is an octopus.Frontier whose state lies in Redis: any
// number of equal processes that open the same job share its queue, its memory
// of what was met, its politeness and its leases. None of them is a master, and
// any of them may be killed.
//
// A job is cut into buckets; a site belongs to one bucket, and all keys of a
// bucket carry its tag, so that every script stays in one slot of a cluster:
//
//	{job}:entries      set: board, 0x00, URL: entries, and where they redirect to
//	{job:7}:n          hash: counters, last sequence number, last lease
//	{job:7}:url        hash: URL key (16 bytes) -> record
//	{job:7}:q:<host>   zset by bytes: position, rest of the key
//	{job:7}:h:<host>   hash: name, gap, manners, robots.txt times of a host
//	{job:7}:s:<site>   hash: known URLs and gap of a site
//	{job:7}:ready      zset: hosts that may be asked now, by their next URL
//	{job:7}:wake       zset: hosts that may be asked later, by time
//	{job:7}:due, :lease, :parked, :bad    zsets: URLs by time
//	{job:7}:robots     hash: host and authority -> robots.txt policy
//
// A record, all of it below 64 KiB, numbers big-endian:
//
//	0       1       2       3     4        8       16                               30
//	| state | flags | tries | hop | visits | lease | lane prec depth ^weight seq    |
//	| length of the link | the link as it was met | reason, detail, last visit |
//
// States are q queued, L leased, l later, d done, r done and due again, p parked,
// f failed. One state
// change is one script, which moves the URL between the tables and counts it.
//
// # Who decides what
//
// Scripts move; Go decides. What an outcome means for its URL and its host is
// computed in Go from what was read, and the script applies it only if that is
// still so; else it is computed again. All times are the server's, so that
// machines with wrong clocks agree.
//
// # Waiting
//
// Each script tells when its bucket has something to do next, and publishes it
// where that came nearer. So a process that waits sleeps until a time or a
// message; nobody polls.
//
// # What survives
//
// A worker that dies: its leases end after Options.LeaseTime, and their URLs
// are handed out again. A process stores the links of a page before it ends the
// visit, so every prefix of what Redis has executed is a crawl that loses
// nothing: after a restart from a snapshot or an append-only file, pages may
// come again, none is missing. Redis restarted empty: the entries
// (Options.Entries) are offered again. See Durability for what the server keeps.
package redisfrontier
