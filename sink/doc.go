// Package sink takes records to where people want them: files, standard output,
// databases.
//
// A record is staged into the frontier's own commit (Outbox.Append), so it
// exists exactly if the outcome it tells of does. A sender (Outbox.Run) drains
// the outbox to every sink, each with its own cursor: a slow or broken sink
// delays itself only. What a crash leaves undelivered is delivered again, so a
// sink is idempotent, or it says what it promises:
//
//	JSONL file   exactly once: the file's length is stored with the cursor, and
//	             the file is cut to it when it is opened after a crash
//	Writer       at least once (standard output, a pipe)
//	databases    upsert by (URL, visit): exactly once as an effect
//
// Keys, under the outbox's prefix; numbers are big-endian:
//
//	+--------+---+------+      +----------+-------------------------+
//	| prefix | c | name |  ->  | next (8) | state of the sink, JSON |    a sink's cursor
//	+--------+---+------+      +----------+-------------------------+
//	| prefix | q | …                                                     a queue of records, JSON (package queue)
package sink
