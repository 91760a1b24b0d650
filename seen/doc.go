// Package seen answers one question: has this URL been met before?
//
// Its members remember differently (every key, a Bloom filter, a window of
// time, until an expiry), and the configured one alone decides whether a
// frontier takes a link as fresh. Package seen/seentest holds every member to
// the contract Set; package seen/redisseen shares a set through Redis.
package seen
