// Package inflate decompresses a gzip member that lies in memory as a whole,
// about twice as fast as a decoder that streams: it looks at input and output
// as slices, loads 8 bytes at a time, and copies matches inside the output.
// Formats: RFC 1951 and 1952. The way of decoding is that of libdeflate.
//
// It is for reading single records of a store. What may be larger than memory,
// or comes over a connection, is for klauspost/compress.
package inflate
