// Package queue is a durable FIFO of byte records on a kv.Store (the QueueDB):
// a ring of numbered slots, written in the batches of whoever fills it.
//
// Records are numbered from 0 and keep their number for life. A record counts
// once the batch it was staged into is committed; it is handed out in order,
// and stays until it is acknowledged. After a restart everything that was not
// acknowledged is handed out again: at least once.
//
// Keys, under the queue's prefix; numbers are big-endian, so that they sort:
//
//	+--------+---+-----------+      +--------------+--------+
//	| prefix | r | slot  (8) |  ->  | lap (varint) | record |     the records
//	+--------+---+-----------+      +--------------+--------+
//	| prefix | h |               -> | head (8) |                  first number not acknowledged
//	| prefix | t |               -> | tail (8) |                  next free number, in every batch that fills
//	| prefix | c |               -> | capacity (8) |              0: no limit
//
// A queue without a capacity has slot = number and lap 0. A ring has
// slot = number mod capacity and lap = number / capacity, so that a slot that
// is used again is not taken for its earlier record. Readers begin at the head,
// which is kept in memory, so no scan walks over what was acknowledged;
// acknowledged records are deleted later, as ranges.
package queue
