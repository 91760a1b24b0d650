package frontier

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"octopus"
	"octopus/frontier/manners"
	"octopus/kv"
)

// Options say where a Frontier keeps its state and how it schedules. The zero
// value of every field but Store works.
type Options struct {
	// Store holds everything durable. The Frontier does not close it.
	Store kv.Store
	// Job is the first four bytes of every key, so that several jobs can share
	// one store. Default 0.
	Job uint32
	// Seen alone decides which links are fresh. Nil: the URL records decide.
	Seen Seen
	// Outbox receives the record of every visit that ended, in the commit that
	// ends it. Nil: records are dropped.
	Outbox Outbox
	// Tally counts outcomes and new URLs, in the commits they are part of. Nil:
	// nobody counts.
	Tally Tally

	// Politeness.
	Politeness

	// Robots is "obey" (default) or "ignore".
	Robots string
	// Agent is the product token that robots.txt groups are matched against.
	// Default "octopus".
	Agent string
	// Sitemaps turns the text of a Sitemap line into a URL; the sitemaps that a
	// robots.txt names on its own site are then offered as links of depth 0, on
	// the board of the URL that asked for it. Nil: they are left alone.
	Sitemaps func(text string) (octopus.URL, error)

	// Rules are those of retries, of robots.txt and of hosts in trouble.
	manners.Rules

	// LeaseTime is how long a lease lasts; then its URL is handed out again.
	// Default 2 minutes.
	LeaseTime time.Duration
	// Relink tells whether a fetched page that is met again at a smaller depth is
	// handed out as a Relink lease, so that the page set under a depth limit does
	// not depend on the order of responses. It is called with a lock held and must
	// be quick. Nil: it is not.
	Relink func() bool
	// Boards tells what a board asks for. It is called with a lock held and must
	// be quick. Nil: nothing.
	Boards func(name string) BoardRules
	// RaiseLinked raises the weight of a URL that waits for its first visit when
	// it has at least 8 links and four times as many as linked URLs have on
	// average, and again at 4 and 16 times that: among URLs of one depth it goes
	// before others. For this links are counted since
	// Open, by the index of known URLs.
	RaiseLinked bool
	// Session is how many URLs of a host go in one turn while hosts that have not
	// had their turn are ready. 0 means no limit: the shallower URL always goes
	// first.
	Session int
	// LaneWeight is how many data URLs of a host go before one navigation URL
	// when both wait. 0 means that data URLs always go first.
	LaneWeight int

	// Limits.

	// HostQuota is the number of URLs of one host that may be known; what is
	// over is parked. 0 means no limit.
	HostQuota int64
	// Traps catch endless URL spaces.
	Traps Traps
	// SiteQuota is the same for a registrable domain.
	SiteQuota int64
	// QueueLimit is the number of URLs per lane that may stand in memory. Default
	// 1,000,000. The front is kept far smaller while it is large enough to keep
	// the fetchers busy.
	QueueLimit int
	// Buckets divide the hosts among fetchers (Attach).
	Buckets Buckets
	// HostLimit is the number of hosts kept in memory; the rest are read from
	// the store in turn. Default 200,000, about 1 KB each with its site.
	HostLimit int
	// IndexBytes bounds the index of known URLs in memory, about 13 bytes each.
	// While its table holds all of them, no link needs a look-up in the store; past
	// that a filter tells fresh links, and the store is asked about the others.
	// Default 256 MiB, negative means none: then every link is looked up.
	IndexBytes int64

	// CacheRecords is the number of URL records kept in memory in front of the
	// store: status, last visit, next visit of the URLs met last. Default 4,096,
	// about 400 bytes each; negative means none. Answers are the same.
	CacheRecords int

	// OnEmpty is called when the Frontier has become idle (Idle), by the
	// committer or by a call of Lease: it must be quick and must not call the
	// Frontier's blocking methods. Nil: nobody is told.
	OnEmpty func()

	// CommitDelay is how long a commit waits for more callers to join it.
	// Default 0: a commit takes whoever came while the one before was written.
	CommitDelay time.Duration
	// NoSync acknowledges before the commit is on disk. For tests and for
	// crawls that keep nothing.
	NoSync bool

	// Now is the clock. Default time.Now.
	Now func() time.Time
	// Rand draws the random share of retry pauses. Default: seeded from the
	// clock.
	Rand *rand.Rand
}

// Politeness says how long hosts are left alone. All gaps are measured from the
// end of the last response.
type Politeness struct {
	// HostDelay is the least gap between two requests to one host. 0 means the
	// default, 1 s; negative means none.
	HostDelay time.Duration
	// IPDelay is the least gap between two requests to one address, whatever
	// the host. Default 0: none.
	IPDelay time.Duration
	// SiteDelay is the least gap between two requests to one registrable
	// domain. Default 0: none.
	SiteDelay time.Duration
	// ConnsPerHost is the number of requests to one host that may be under way
	// at once. Default 1.
	ConnsPerHost int
}

// What a frontier keeps wherever it lies is in package manners.
type (
	BoardRules = manners.BoardRules
	Periods    = manners.Periods
	Traps      = manners.Traps
)

// Seen remembers which keys were met; package seen has members. All methods may
// be called by many goroutines at once.
type Seen interface {
	Add(ctx context.Context, now time.Time, keys []octopus.Key, fresh []bool) error
	Contains(ctx context.Context, now time.Time, keys []octopus.Key, known []bool) error
}

// stager is a Seen whose memory becomes durable with the frontier's commits.
type stager interface {
	Stage(b *kv.Batch, now time.Time, keys []octopus.Key)
}

// Outbox stores records for the sinks as part of a commit. Append is called
// with the frontier's lock held and must only fill the batch.
type Outbox interface {
	Append(b *kv.Batch, rec *octopus.Record) error
}

// Tally counts what happens; package stats has one. Its methods are called with
// the frontier's lock held, one at a time, and must be quick.
type Tally interface {
	// Outcome is told each accepted outcome, once.
	Outcome(now time.Time, o *octopus.Outcome, e octopus.Ending)
	// Link is told each URL that is queued for the first time, and with a reason
	// each one that is put aside.
	Link(now time.Time, board string, lane octopus.Lane, reason string)
	// Stage puts all that was told since the last call into a commit.
	Stage(b *kv.Batch)
}

// Limits that are no options.
const (
	parksPerTurn = 256      // URLs that one call of Lease parks at most, so that it stays short
	fifoMax      = 64       // entries of a lane in memory
	fifoMin      = 4        // entries of a lane that stay there in any case
	frontEntries = 32 << 10 // entries in memory up to which Add keeps new ones there
)

// check names the first option that cannot work.
func (o Options) check() error {
	switch {
	case o.Robots != "" && o.Robots != "obey" && o.Robots != "ignore":
		return fmt.Errorf("frontier: Options.Robots is %q; use obey or ignore", o.Robots)
	case o.Buckets.Picker != "" && o.Buckets.Picker != "hash" && o.Buckets.Picker != "advanced":
		return fmt.Errorf("frontier: Options.Buckets.Picker is %q; use hash or advanced", o.Buckets.Picker)
	}
	return nil
}

func (o Options) withDefaults() Options {
	o.Politeness = o.Politeness.withDefaults()
	if o.Agent == "" {
		o.Agent = "octopus"
	}
	o.Rules = o.Rules.WithDefaults()
	o.Traps = o.Traps.WithDefaults()
	setDefault(&o.LeaseTime, 2*time.Minute)
	setDefault(&o.QueueLimit, 1_000_000)
	o.Buckets.Count = max(o.Buckets.Count, 1)
	setDefault(&o.Buckets.Limit, max(o.QueueLimit/o.Buckets.Count, 1))
	setDefault(&o.HostLimit, 200_000)
	setDefault(&o.IndexBytes, 256<<20)
	setDefault(&o.CacheRecords, 4096)
	return o
}

func (p Politeness) withDefaults() Politeness {
	setDefault(&p.HostDelay, time.Second)
	p.HostDelay = max(p.HostDelay, 0)
	p.IPDelay, p.SiteDelay = max(p.IPDelay, 0), max(p.SiteDelay, 0)
	p.ConnsPerHost = max(p.ConnsPerHost, 1)
	return p
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
