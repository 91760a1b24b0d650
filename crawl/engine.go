package crawl

import (
	"context"
	"errors"
	"sync"

	"octopus"
)

// Fetcher makes one request. It never returns nil; what went wrong is in
// Page.Err.
type Fetcher interface {
	Fetch(ctx context.Context, l octopus.Lease) *octopus.Page
}

// Recycler is an optional ability of a Fetcher: it takes the body of a page
// back for reuse. Nobody may hold the page afterwards.
type Recycler interface{ Recycle(*octopus.Page) }

// Finisher is an optional ability of a Fetcher: it adds what it would have added
// to a page that came from the store, such as the document a browser makes of it.
type Finisher interface {
	Finish(ctx context.Context, p *octopus.Page)
}

// Parser reads a page: what it says of itself, and the links it offers. Its
// error is that of ctx; whatever a page contains is none.
type Parser interface {
	Parse(ctx context.Context, p *octopus.Page) (*octopus.Record, []octopus.Link, error)
}

// LinkRecycler is an optional ability of a Parser: it takes the links of a page
// back for reuse. Nobody may hold the list afterwards.
type LinkRecycler interface{ Recycle([]octopus.Link) }

// Pages keeps pages. Put returns once the page is durable; storing the same
// visit again is harmless.
type Pages interface {
	// Put stores the page under its URL. The record brings its digest, and Put
	// fills in DuplicateOf where the same content is known under another URL.
	Put(ctx context.Context, p *octopus.Page, rec *octopus.Record) error
	// Get returns the newest page of a URL, or nil where there is none.
	Get(ctx context.Context, u octopus.URL) (*octopus.Page, error)
}

// Knower is an optional ability of Pages: it tells under which URL the payload
// with a digest is stored. Only committed pages count.
type Knower interface {
	Known(digest string) (url string, ok bool)
}

// Options are the parts and the sizes of an Engine.
type Options struct {
	Frontier octopus.Frontier
	Fetcher  Fetcher
	Parser   Parser
	Pages    Pages // nil: no bodies are kept, and Relink leases fetch again

	// Concurrency is the number of requests under way at once. Default 16.
	Concurrency int
	// Handoff is the number of pages that may wait for a parser. Default
	// Concurrency.
	Handoff int
	// Parsers is the number of pages that are parsed or being committed at
	// once. Default 2 × Concurrency.
	Parsers int

	// MaxPages ends the run once so many pages with status 2xx are stored,
	// PagesBefore included. No lease beyond them is taken, so the limit is
	// exact. 0 means no limit.
	MaxPages    int64
	PagesBefore int64

	// Finished is asked before the first lease, after each outcome and by
	// Check; true ends the run. Nil means that only the context or Drain ends it.
	Finished func() bool
	// NoDigest leaves records without a digest of the body: for runs that keep
	// and report nothing. SHA-1 is a tenth of what such a page costs.
	NoDigest bool
	// Observe is told each outcome once it is committed, from many goroutines;
	// it must be quick, and keep no more of an outcome's Links than their number.
	// Nil means nobody listens.
	Observe func(octopus.Outcome, *octopus.Page, octopus.Verdict)
}

func (o Options) withDefaults() Options {
	if o.Concurrency <= 0 {
		o.Concurrency = 16
	}
	if o.Handoff <= 0 {
		o.Handoff = o.Concurrency
	}
	if o.Parsers <= 0 {
		o.Parsers = 2 * o.Concurrency
	}
	return o
}

// Engine runs the two loops.
type Engine struct {
	opt     Options
	budget  *budget
	drain   context.CancelFunc // stops leasing
	leasing context.Context    // ends with Drain, or when the run is over
}

// New returns an engine; nothing moves before Run.
func New(opt Options) *Engine {
	opt = opt.withDefaults()
	e := &Engine{opt: opt, budget: newBudget(opt.MaxPages, opt.PagesBefore)}
	e.leasing, e.drain = context.WithCancel(context.Background())
	return e
}

// Drain stops leasing; Run returns once everything in flight is done. It may be
// called at any time, more than once.
func (e *Engine) Drain() { e.drain() }

// Check asks Options.Finished now. A frontier may empty itself without an
// outcome, by setting URLs aside; whoever hears of that calls Check.
func (e *Engine) Check() { e.finished() }

// Run moves URLs until Finished says so, the page limit is reached or Drain was
// called, and returns nil then. Cancelling ctx cuts: requests under way are
// given up, their URLs stay queued. An error is one of the frontier or of the
// store: the crawl cannot go on.
func (e *Engine) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer e.drain()
	stop := context.AfterFunc(ctx, e.drain)
	defer stop()

	idle := make(chan struct{}, e.opt.Concurrency)       // one token for each fetch worker without a lease
	leases := make(chan octopus.Lease)                   // lease loop -> fetch workers
	handoff := make(chan *octopus.Page, e.opt.Handoff-1) // fetch workers -> parse workers
	var fetchers, parsers sync.WaitGroup
	for range e.opt.Concurrency {
		idle <- struct{}{}
		fetchers.Go(func() { e.fetchLoop(ctx, cancel, idle, leases, handoff) })
	}
	for range e.opt.Parsers {
		parsers.Go(func() { e.parseLoop(ctx, cancel, handoff) })
	}
	err := e.leaseLoop(ctx, idle, leases)
	close(leases)
	fetchers.Wait()
	close(handoff)
	parsers.Wait()
	return errors.Join(err, fatal(ctx))
}

// fatal returns the error that cancelled ctx from inside Run.
func fatal(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// leaseLoop hands leases to idle fetch workers until leasing ends. It asks for
// no more than there are idle workers, and no more than the page budget allows.
func (e *Engine) leaseLoop(ctx context.Context, idle chan struct{}, leases chan<- octopus.Lease) error {
	for !e.finished() {
		workers := e.waitIdle(idle)
		if ctx.Err() != nil {
			return nil // a worker idle because of the cut gets nothing more
		}
		n := e.budget.take(e.leasing, workers)
		if n == 0 {
			return nil
		}
		got, err := e.opt.Frontier.Lease(e.leasing, n)
		e.budget.giveBack(n - len(got))
		for range workers - len(got) {
			idle <- struct{}{}
		}
		for _, l := range got {
			leases <- l
		}
		if e.leasing.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// waitIdle takes the tokens of all idle workers, at least one unless leasing
// ended.
func (e *Engine) waitIdle(idle <-chan struct{}) (workers int) {
	select {
	case <-idle:
		workers++
	case <-e.leasing.Done():
		return 0
	}
	for {
		select {
		case <-idle:
			workers++
		default:
			return workers
		}
	}
}

// finished asks Options.Finished, and stops leasing where it says so.
func (e *Engine) finished() bool {
	if e.leasing.Err() == nil && e.opt.Finished != nil && e.opt.Finished() {
		e.drain()
	}
	return e.leasing.Err() != nil
}
