// Package seen answers one question: has this URL been met before?
//
// Its members remember differently, and the configured one alone decides
// whether a frontier takes a link as fresh:
//
//	Exact      every key, for good: 64-bit fingerprints in memory
//	Memory     every key, in a Go map: the reference of the tests
//
// Package seen/seentest holds every member to the contract Set; package
// seen/redisseen shares a set through Redis.
//
// A key counts as met as soon as Add has returned, before anything is on disk.
// So whoever acknowledges "known" for a key that another batch has just called
// fresh must do so after that batch, or a crash between them loses the URL.
package seen
