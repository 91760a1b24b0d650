// Package pebblekv keeps a kv.Store on disk with Pebble, an LSM tree in pure Go.
//
// A batch becomes one Pebble batch, so it is one record of the write-ahead log:
// whole or absent after a crash. Batches committed by many goroutines at once
// share an fsync. What is on disk:
//
//	DIR/LOCK              held by the process that has the store open
//	DIR/000012.log        write-ahead log; Sync means that its tail was fsynced
//	DIR/000015.sst        tables, written once, sorted by key
//	DIR/MANIFEST-000003   which tables and logs count
//	DIR/OPTIONS-000004    settings, for Pebble's own tools
//
// Memory is bounded by the block cache and the memtables (Options). No blob
// files: the large values of a crawl are pages, and those lie in the container.
package pebblekv
