// Package redisseen remembers keys in Redis: a seen.Set that many processes
// share. The server decides, in one Lua call for a batch of keys, so of many
// processes that add the same key exactly one hears that it is fresh.
//
//	exact      a set of whole keys
//	bloom      one Bloom filter
//	window     a Bloom filter for each hour, day or month; the oldest expire
//	expiring   a hash from key to the time it expires at
//
// Keys of a set called news, docs/formats/redis.md in full:
//
//	news            set (exact), hash (expiring) or string (bloom)
//	news:20190508   string: the filter of one window, with a TTL
//	news:1:20190508 the same of block 1, where a filter has several of 512 MB
//	news:plan       hash: what the set was made with
//
// Against a cluster the name stands in braces, {news}:20190508, so that the keys
// of a call lie in one slot; each block has its own: {news:1}:20190508.
//
// A window's boundaries are calendar boundaries of Options.Zone, told by the
// server's clock, so that machines with wrong clocks agree. An entry of N
// windows is known for N-1 to N of them. Keys that exist are attached to, never
// reset.
//
// How durable the memory is, the server's persistence says. A lost answer may
// leave keys recorded whose caller knows nothing of it: package redisfrontier
// stores a URL before it is recorded here.
package redisseen
