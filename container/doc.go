// Package container keeps pages on disk and finds any of them from its URL with
// one look-up in memory and one read, however many there are.
//
// What lies in the directory:
//
//	octopus-20261120222558-00000001.warc.gz  value segments: WARC 1.1, one gzip
//	octopus-20261120222558-00000001.key      member per record; and their key files
//	address.idx                              checkpoint of the tables in memory
//	LOCK                                     held by the process that has it open
//
// The segments are the truth, and ordinary WARC files: every archive tool reads
// them as they lie. A key file has an entry of fixed width for each page of its
// segment, so that an index is rebuilt without reading pages; it is rebuilt from
// the segment where it is missing. docs/formats/container.md draws every format.
//
// A page whose payload is stored already becomes a revisit record; a server's
// 304 too. Reads follow them. All versions of a URL are kept, newest first.
//
// Promises: a page is acknowledged when it is as durable as Options.Sync says.
// A read returns what was stored or an error that names segment and offset,
// never something else: the URL and the checksum of the record (CRC-32 of a gzip
// member, XXH64 of a zstd frame) are checked every time; Verify checks payloads
// against their SHA-1 too.
// After a crash Open cuts a record that was not written whole.
//
// Memory: about 21 bytes for each URL and 16 for each distinct payload, beside
// 1 MiB and the pages under way; or what Options.IndexMemory says. Two file
// descriptors for each segment.
package container
