package octopus

import (
	"net/netip"
	"time"
)

// Stage tells which part of a visit an Outcome reports.
type Stage uint8

const (
	// Fetched: the request ended. It frees the host.
	Fetched Stage = 1 << iota
	// Parsed: the page is stored and its links are known. It ends the visit.
	Parsed
)

// Outcome reports what became of a lease. Applying it is idempotent by
// (Lease.Link.URL.Key, Lease.Visit).
type Outcome struct {
	Lease Lease
	Stage Stage

	// What Fetched reports.
	Start        time.Time
	End          time.Time     // end of the last byte: the host's gap starts here
	IP           netip.Addr    // address that answered; invalid where none did
	Status       int           // HTTP status, 0 where there was no answer
	Wire         int64         // body bytes received, before decoding
	Err          *Error        // why there was no usable answer; nil for any HTTP status
	RetryAfter   time.Duration // what the server asked for; 0 where it did not
	ETag         string
	LastModified string
	NoRequest    bool          // no request was made (Relink, guard): the gap does not start
	Robots       []byte        // FetchRobots: the text, decoded, at most 512 KiB
	CacheFor     time.Duration // FetchRobots: Cache-Control max-age; 0 where absent

	// What Parsed reports.
	Lane     Lane    // class the page turned out to have
	Digest   string  // digest of the payload, "sha1:BASE32"; empty where no body
	Changed  bool    // the payload differs from that of the visit before
	Links    []Link  // everything the page offers, redirect target included
	Record   *Record // for the sinks once the visit ends; dropped while another attempt is left
	Deferred bool    // the work was cut (shutdown): the URL stays queued, no attempt counted
}

// Ending is what an accepted outcome meant for its URL: what counters are told.
type Ending struct {
	Final   bool // the visit ended; else another attempt follows
	Failed  bool // it ended without an answer of use
	New     bool // it brought the first page of the URL
	Changed bool // it brought other content than the visit before
	Near    bool // the page is a near-duplicate of others of its URL pattern
}

// Verdict is the frontier's answer to one link or one outcome.
type Verdict struct {
	Code   VerdictCode
	Reason string // of Parked and Rejected: one of the Reason constants
}

// VerdictCode says what a frontier did.
type VerdictCode uint8

const (
	Queued   VerdictCode = iota + 1 // fresh, stored, will be fetched
	Known                           // met before; a smaller depth was noted
	Parked                          // kept with its reason, not fetched until revived
	Rejected                        // not stored
	Accepted                        // an outcome that counted
	Stale                           // an outcome of a visit that somebody else completed
)

var verdictNames = [...]string{"", "queued", "known", "parked", "rejected", "accepted", "stale"}

// String returns the code as a lower-case word.
func (c VerdictCode) String() string {
	if int(c) < len(verdictNames) {
		return verdictNames[c]
	}
	return "unknown"
}

// Reasons of Parked and Rejected verdicts, and of a record's skip field.
const (
	ReasonScope  = "scope"  // outside the scope or the patterns of every board
	ReasonDepth  = "depth"  // deeper than the board allows
	ReasonRobots = "robots" // disallowed by robots.txt
	ReasonQuota  = "quota"  // over the quota of its host or site
	ReasonTrap   = "trap"   // looks like an endless URL space
	ReasonHops   = "hops"   // more than MaxHops redirects
	ReasonFailed = "failed" // every attempt failed
	ReasonDead   = "dead"   // its host does not exist or never answers
	ReasonAlias  = "alias"  // another host stands for its own; its URL there is queued
	ReasonPaused = "paused" // its board is paused; it goes on when the board does
	ReasonBoard  = "board"  // its board was removed; it goes on when the board is back
)
