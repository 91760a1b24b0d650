package redisfrontier

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"octopus"
	"octopus/frontier/manners"
)

// Options say which job of which Redis a Frontier opens, and how it schedules.
// Processes that share a job should have the same; Buckets is taken from the
// first.
type Options struct {
	// Client is used where it is given, and not closed; else URL is dialled
	// (see redisx.Dial): redis://host:port/db, redis+cluster://host:port.
	Client redis.UniversalClient
	URL    string
	// Job begins all keys. Default "octopus".
	Job string
	// Buckets is the number of parts of the job, 1 to 4096. Shallower URLs go
	// first within one. Default 16.
	Buckets int

	// HostDelay is the least gap between two requests to one host, from the
	// end of the last response. 0 means the default, 1 s; negative means none.
	HostDelay time.Duration
	// IPDelay and SiteDelay are the same for one address, whatever the host,
	// and for one registrable domain. Default 0: none.
	IPDelay, SiteDelay time.Duration
	// ConnsPerHost is the number of requests to one host that may be under way
	// at once, over all processes. Default 1.
	ConnsPerHost int
	// Robots is "obey" (default) or "ignore".
	Robots string
	// Agent is the product token for robots.txt. Default "octopus".
	Agent string
	// Sitemaps turns the text of a Sitemap line into a URL; the sitemaps that a
	// robots.txt names on its own site are then offered as links of depth 0.
	// Nil: they are left alone.
	Sitemaps func(text string) (octopus.URL, error)

	// Rules are those of retries, of robots.txt and of hosts in trouble.
	manners.Rules

	// LeaseTime is how long a lease lasts; then its URL is handed out again,
	// so it is also how long the URLs of a killed worker wait. Default 2 min.
	LeaseTime time.Duration
	// Relink tells whether a fetched page that is met again at a smaller depth is
	// handed out as a Relink lease. Nil: it is not.
	Relink func() bool
	// LaneWeight is how many data URLs of a host go before one navigation URL.
	// 0 means that data URLs always go first.
	LaneWeight int
	// Boards returns what a board asks of the frontier: Hold is not looked at,
	// for another process may have other boards. It is called often and by many
	// goroutines. Nil: boards ask for nothing.
	Boards func(board string) manners.BoardRules
	// Traps say which new URLs are parked as endless URL spaces. MinYield is not
	// looked at: what patterns bring is not counted here.
	Traps manners.Traps
	// HostQuota and SiteQuota are the numbers of URLs of a host and of a
	// registrable domain that are queued; the rest is parked. 0 means no limit.
	HostQuota, SiteQuota int64

	// Seen alone decides which links are fresh. Nil: the URL records do. It is
	// told of a URL after the URL was stored. One that also is a LinkSeen is
	// told links.
	Seen Seen
	// Records stores the records of visits that are about to end, durably, for
	// the sinks. One may come twice, when Redis or the process fails in
	// between. Nil: records are dropped.
	Records func(ctx context.Context, list []*octopus.Record) error
	// Entries returns the links the crawl starts from. They are offered again
	// when Redis came back empty. Nil: the crawl then ends as if finished.
	Entries func() []octopus.Link

	// OnError is told when Redis stops working, with the reason and what to do,
	// and nil when it works again. Calls wait meanwhile. Nil: nobody listens.
	OnError func(error)

	// Now replaces the server's clock, for tests and simulations.
	Now func() time.Time
	// Rand draws the random share of retry pauses. Default: seeded randomly.
	Rand *rand.Rand
}

// Seen remembers which keys were met; packages seen and seen/redisseen have
// members. All methods may be called by many goroutines at once.
type Seen interface {
	Add(ctx context.Context, now time.Time, keys []octopus.Key, fresh []bool) error
	Contains(ctx context.Context, now time.Time, keys []octopus.Key, known []bool) error
}

// LinkSeen is a Seen that wants links, not keys: Scrapy's fingerprint is
// computed from the URL.
type LinkSeen interface {
	AddLinks(ctx context.Context, now time.Time, links []octopus.Link, fresh []bool) error
	ContainsLinks(ctx context.Context, now time.Time, links []octopus.Link, known []bool) error
}

// Limits that are no options.
const (
	maxLink    = 60_000 // bytes of a link in its record
	maxBuckets = 4096
)

func (o Options) withDefaults() (Options, error) {
	setDefault(&o.Job, "octopus")
	setDefault(&o.Buckets, 16)
	setDefault(&o.HostDelay, time.Second)
	o.HostDelay, o.IPDelay, o.SiteDelay = max(o.HostDelay, 0), max(o.IPDelay, 0), max(o.SiteDelay, 0)
	o.ConnsPerHost = max(o.ConnsPerHost, 1)
	setDefault(&o.Agent, "octopus")
	o.Rules, o.Traps = o.Rules.WithDefaults(), o.Traps.WithDefaults()
	setDefault(&o.LeaseTime, 2*time.Minute)
	if o.Rand == nil {
		o.Rand = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())) // seeds alone come from the global source
	}
	if strings.ContainsAny(o.Job, "{} \r\n") {
		return o, fmt.Errorf("redisfrontier: job %q: give it a name without spaces and braces", o.Job)
	}
	if o.Buckets < 1 || o.Buckets > maxBuckets {
		return o, fmt.Errorf("redisfrontier: %d buckets: must be from 1 to %d", o.Buckets, maxBuckets)
	}
	return o, nil
}

// relinks reports whether the links of a visited page are read again when it is met
// at a smaller depth.
func (o *Options) relinks() bool { return o.Relink != nil && o.Relink() }

// rulesOf returns what the board of that name asks for.
func (o *Options) rulesOf(board string) manners.BoardRules {
	if o.Boards == nil {
		return manners.BoardRules{}
	}
	return o.Boards(board)
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
