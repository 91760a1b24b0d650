// Package warc reads and writes WARC files (ISO 28500:2017, WARC 1.1; 1.0 is
// read too), the format in which web archives are kept.
//
// A file is a sequence of records:
//
//	WARC/1.1 CRLF
//	WARC-Type: response CRLF
//	WARC-Record-ID: <urn:uuid:…> CRLF
//	…one named field per line… CRLF
//	CRLF
//	block, Content-Length bytes
//	CRLF CRLF
//
// Compressed files hold one gzip member per record, so that a record can be
// read alone when its offset is known. Encoder makes such members, Reader
// streams over files of either kind, Decoder reads a single member that lies in
// memory.
//
// The block of a response is an HTTP message. Bodies are stored decoded, so
// HTTPBlock leaves out Content-Encoding and Transfer-Encoding and sets
// Content-Length: what is stored says of itself what it is.
package warc
