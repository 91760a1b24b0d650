// Package seen answers one question: has this URL been met before?
//
// Its members remember differently, and the configured one alone decides
// whether a frontier takes a link as fresh:
//
//	Exact      every key, for good: 64-bit fingerprints, 10 bytes each; past a
//	           memory bound a filter, confirmed where the URL records are
//	Bloom      every key, in a few bits: a share of new keys is taken for known
//	Window     keys of the last hours, days or months, in a Bloom filter each
//	Expiring   every key until its time is over
//	Memory     every key, in a Go map: the reference of the tests
//
// They are Sets: batches of keys in, fresh or known out, at once. Sieve, with a
// contract of its own, answers late, for more keys than memory holds. PlanFor
// and PlanClassic do the arithmetic of filter sizes.
//
// # What survives a crash
//
// A set that was opened in a store is a Stager: the user puts the keys that Add
// called fresh into the batch that stores what belongs to them, every one of
// them, so both are there after a crash or neither is. Nothing else that a set
// writes holds a key whose batch was not committed. Maintain keeps what is
// written small.
//
// A key counts as met as soon as Add has returned, before anything is on disk.
// So whoever acknowledges "known" for a key that another batch has just called
// fresh must do so after that batch, or a crash between them loses the URL.
//
// # On disk
//
// All keys lie under a prefix of the user's choice; each type draws its own.
// Filters have files beside the store (file.go), the sieve a sorted one
// (sorted.go).
//
// Package seen/seentest holds every member to the contract Set; package
// seen/redisseen shares a set through Redis.
package seen
