package octopus

import "context"

// Frontier decides what is fetched next, and when. A way of deploying is an
// implementation of it: a local store, a remote master, a shared Redis, a ring
// of peers. All methods may be called by many goroutines at once. No method holds
// a slice that it was given, or the Links of an Outcome, once it has returned: the
// caller may use them again.
type Frontier interface {
	// Add offers links. It is idempotent: offering a link again is answered
	// Known. It returns one verdict per link, in order, and every verdict is as
	// durable as the implementation promises when Add returns.
	Add(ctx context.Context, links []Link) ([]Verdict, error)

	// Lease hands out up to max URLs that may be fetched now. It blocks until
	// there is at least one, or returns the context's error.
	Lease(ctx context.Context, max int) ([]Lease, error)

	// Done reports outcomes. It returns one verdict per outcome, in order;
	// Stale says that somebody else's visit won. An outcome whose visit is
	// still current is accepted although its lease is unknown, as it is after a
	// restart. The links of an outcome are added in the same commit.
	Done(ctx context.Context, outcomes []Outcome) ([]Verdict, error)
}

// Optional abilities of a Frontier are interfaces of one method, found by type
// assertion.
type (
	// Releaser frees the host of a lease as soon as its request ended, before
	// the outcome is complete: the gap starts at Outcome.End. It touches memory
	// only and promises nothing; the outcome still goes to Done.
	Releaser interface{ Release(Outcome) }

	// Counter tells how many URLs are in which state.
	Counter interface{ Counts() Counts }

	// Explainer tells all a frontier knows of a URL.
	Explainer interface {
		Explain(ctx context.Context, u URL) (Explanation, error)
	}

	// Waiter tells why no lease is handed out now, in words for people; empty
	// where leases wait for nobody.
	Waiter interface{ Waiting() string }
)

// Counts is a snapshot of a frontier's totals. Known = Queued + Done + Parked.
type Counts struct {
	Known  int64 // distinct URLs ever queued or parked
	Queued int64 // waiting for their first or next visit now, leased ones included
	Leased int64 // handed out and not done
	Later  int64 // of Queued: not before a time that is not the host's gap (retry, refresh)
	Again  int64 // of Later: visited, and waiting for a refresh or recrawl
	Done   int64 // visited, nothing due; failed ones included
	Parked int64 // kept aside with a reason, or cleared from the queue
	Hosts  int64 // hosts that have anything queued
	Pages  int64 // visits that brought a page with status 2xx
	Failed int64 // visits that failed for good
}

// Explanation is what `octopus why` shows of a frontier.
type Explanation struct {
	URL     URL
	State   string // unknown, queued, leased, done, parked, failed; cleared from its queue
	Facts   []Fact // in reading order
	Reason  string // of parked and failed
	Waiting string // what the URL waits for, in words
}

// Fact is one line of an explanation.
type Fact struct{ Name, Value string }
