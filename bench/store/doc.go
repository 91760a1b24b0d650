// Command store compares octopus's page container with other ways to keep pages
// on this machine, in one run: Pebble with blob files, Badger, bbolt, SQLite and
// one file per page.
//
//	store [-pages N] [-gets N] [-bytes N] [-dir DIR] [-stores a,b] [-packed] [-digests] [-zstd] [-index MB] [-sync always|never] [-rounds N] [-filled]
//
// Pages are pieces of 10 KB (-bytes) of the HTML below -html, each with its URL and
// number in it so that none are alike. Every store gets the same pages in
// batches of 256 with one sync each, from two goroutines, and is asked for the
// same random URLs. Peers get a 16-byte key and a value of header and body that
// gzip at the container's level made; with -packed bodies are random bytes, as
// if compressed before, and peers store them as they are. With -digests they also
// do what octopus does to store no payload twice: SHA-1, a look-up, a second key.
//
// Each store runs in a process of its own, which is killed with SIGKILL after
// the last acknowledgement: the time to reopen is that after a crash. Gets are
// measured in rounds, store after store, each in a fresh process, and the median
// is printed; so all meet the same load of the machine. Cold gets follow the
// eviction of the page cache (root only) after open, with 1, 2 and 32 readers. The
// yardstick is fio's random reads of 4 KiB from the same files just before, after dd
// has read them once past the page cache: a virtual disk has a cache of its own. One
// JSON object per line; cpu_us is processor time, of all threads.
//
// The gate of ten million pages, larger than a page cache of 2 GiB (put the shell
// into a memory cgroup of that size first):
//
//	store -stores octopus -packed -bytes 500 -rounds 1 -pages 10000000
//
// and with -pages 100000 for the cost of a warm get to compare with.
package main
