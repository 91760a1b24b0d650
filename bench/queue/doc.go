// Command queue measures the QueueDB (octopus/queue on Pebble) beside a bare
// segment log and bbolt: 150-byte records, batches of 1,000, an fsync for each
// batch, both when they come and when they are acknowledged.
//
//	go run ./queue [-n RECORDS] [-round BATCHES] [-dir DIR]
//
// All three work in turns of a few batches, so that what else the machine does
// meets them alike. A ratio is the median over the turns of (time of the peer /
// time of the QueueDB): above 1 the QueueDB is faster. In the end the disk that
// each takes is compared with the most it took.
package main
