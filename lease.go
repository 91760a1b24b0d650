package octopus

import "time"

// Purpose tells what a lease's request is for.
type Purpose uint8

const (
	// FetchPage asks for the page at Link.URL.
	FetchPage Purpose = iota
	// FetchRobots asks for robots.txt of the authority of Link.URL; up to five
	// redirects are followed inside the lease. The text goes into
	// Outcome.Robots.
	FetchRobots
	// Relink asks for the links of a page that is stored already, because the
	// page was met again at a smaller depth. No request is made unless the
	// page is missing from the container.
	Relink
)

// LeaseID names a lease within the life of one frontier.
type LeaseID uint64

// Lease is the right to make one request: no other holder has the URL until it
// is done or the lease ends.
type Lease struct {
	ID      LeaseID
	Purpose Purpose
	Link    Link

	Visit   uint32    // number of the visit this lease would complete, from 1
	Attempt int       // failed attempts of this visit so far
	Until   time.Time // end of the lease
	Gap     time.Duration

	// Validators of the stored version, for a conditional request; empty where
	// there is none.
	ETag         string
	LastModified string
}
