package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"octopus"
	"octopus/board"
	"octopus/crawl"
	"octopus/fetch"
	"octopus/frontier"
	"octopus/frontier/redisfrontier"
	"octopus/kv"
	"octopus/seen"
	"octopus/sink"
)

// ErrLocked is what Open returns, wrapped, for a directory that another process
// uses.
var ErrLocked = errors.New("in use by another process")

// ErrDamaged is what Open returns, wrapped, where the files of the frontier
// contradict themselves. The pages are not in them.
var ErrDamaged = errors.New("the frontier cannot be read")

// Options are what a process gives to a node beside its Config.
type Options struct {
	Fresh bool // forget what Dir holds, and start anew
	// Look says that Run will not be called: robots.txt and gaps are told as the last
	// crawl in Dir had them, where the configuration leaves them at their defaults.
	Look bool
	// Control makes the listener, on loopback, where Run hears AskRunning; nil: it
	// does not listen.
	Control func() (net.Listener, error)
	// Admit is asked about all boards of the directory before Run begins, and
	// before a running crawl takes a change of them up; its error refuses it. Nil:
	// all are admitted.
	Admit  func(boards []octopus.Board) error
	Log    *slog.Logger // nil: nothing is logged
	Stdout io.Writer    // where the output "-" goes; nil: os.Stdout
	// Network takes the place of the system's: for tests and simulations. Nil: the
	// system's.
	Network Network

	ended *endedVisits // for Crawl; nil: nobody asks
}

// Network finds hosts and connects to them. Addresses that the guard refuses are
// not dialled.
type Network interface {
	fetch.Resolver
	Dial(ctx context.Context, network, address string) (net.Conn, error)
}

// Node is an assembled process: stores, frontier, fetcher and sinks. Run may be
// called once; the other methods by many goroutines at any time until Close.
type Node struct {
	cfg Config
	opt Options
	log *slog.Logger

	store    kv.Store
	boards   boardTable
	learned  *board.Classes
	pages    *pages                  // nil with NoPages or Discard
	queue    scheduler               // the frontier, local or shared
	frontier *frontier.Frontier      // nil where it is shared
	shared   *redisfrontier.Frontier // nil where it is local
	seen     seen.Maintainer         // nil where the frontier's URL records decide
	empty    atomic.Bool             // nothing is left of a shared crawl
	outbox   *sink.Outbox            // nil without outputs
	closing  atomic.Bool             // the outputs get what is left
	fetcher  closingFetcher
	observer *observer
	valve    valve

	resolving atomic.Int64 // DNS look-ups under way

	injections chan struct{} // wakes the injector: see wanted
	editing    sync.Mutex    // held by DoBoard
	only       *octopus.URL  // TestBoards: what is offered in place of all entries

	mu      sync.Mutex
	gate    *board.Gate    // guarded by mu; set by Run
	engine  *crawl.Engine  // guarded by mu; set by Run
	drained bool           // guarded by mu: Drain was called
	entries []octopus.Link // guarded by mu: for a shared crawl that was lost
	wanted  []string       // guarded by mu: boards whose entries are to be offered now
	closers []func() error
}

// Open builds a node from a configuration. It returns a *ConfigError for a
// value that cannot work, and an error that wraps ErrLocked where another
// process has the directory.
func Open(cfg Config, opt Options) (n *Node, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Stdout == nil {
		opt.Stdout = os.Stdout
	}
	n = &Node{cfg: cfg, opt: opt, log: opt.Log, observer: newObserver(time.Now()), injections: make(chan struct{}, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.Close())
		}
	}()
	if err := n.openDir(); err != nil {
		return n, err
	}
	for _, open := range []func() error{n.openStore, n.adopt, n.openBoards, n.openPages, n.openOutbox, n.openSeen, n.openFrontier, n.openFetcher} {
		if err := open(); err != nil {
			return n, err
		}
	}
	return n, nil
}

// openDir makes the state directory, emptied with Fresh.
func (n *Node) openDir() error {
	if n.cfg.Store.Discard {
		return nil
	}
	if n.opt.Fresh {
		if err := removeState(n.cfg.Dir); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(n.cfg.Dir, 0o700); err != nil {
		return fmt.Errorf("state directory: %w; choose another with --dir", err)
	}
	return nil
}

// removeState deletes what a crawl keeps in dir, and nothing else that may lie
// there. A directory in use is left alone.
func removeState(dir string) error {
	if err := probeLock(dir); err != nil {
		return err
	}
	for _, part := range []string{"kv", "pages", dirBrowser, dirSeen} {
		if err := os.RemoveAll(filepath.Join(dir, part)); err != nil {
			return fmt.Errorf("start afresh: %w", err)
		}
	}
	return nil
}

// closeLast registers what Close calls, last registered first.
func (n *Node) closeLast(f func() error) { n.closers = append(n.closers, f) }

// Close stops what Open started, in the reverse order. It is not called while
// Run is running.
func (n *Node) Close() error {
	var errs []error
	for i := len(n.closers) - 1; i >= 0; i-- {
		errs = append(errs, n.closers[i]())
	}
	n.closers = nil
	return errors.Join(errs...)
}

// Drain ends a Run after the requests under way: nothing new is leased.
func (n *Node) Drain() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.drained = true
	if n.engine != nil {
		n.engine.Drain()
	}
}

// check lets the engine see that nothing is queued any more.
func (n *Node) check() {
	n.mu.Lock()
	engine := n.engine
	n.mu.Unlock()
	if engine != nil {
		engine.Check()
	}
}

// Status returns a snapshot of the running crawl.
func (n *Node) Status() Status {
	st := n.observer.snapshot()
	st.Elapsed = time.Since(st.Start)
	st.Counts = n.queue.Counts()
	st.InFlight = st.Counts.Leased
	st.Waiting = n.queue.Waiting()
	if why := n.valve.why(); why != "" {
		st.Waiting = why
	}
	n.outputStatus(&st)
	n.mu.Lock()
	gate := n.gate
	n.mu.Unlock()
	if gate == nil {
		return st
	}
	var rejected int64
	for reason, count := range gate.Rejected() {
		st.Skipped[reason] += count
		rejected += count
	}
	if n.frontier != nil {
		for reason, count := range n.frontier.Parked() {
			st.Skipped[reason] += count
		}
	}
	st.Known = n.observer.knownAgain(st.Counts, rejected)
	return st
}

// closingFetcher is a crawl.Fetcher with connections to close.
type closingFetcher interface {
	crawl.Fetcher
	Close() error
}

// Run crawls from the entries until nothing is left, a limit is reached, or
// Drain was called; cancelling ctx cuts. Without entries it goes on with what
// the directory holds. The URLs are canonical already or not; a bad one is an
// error before anything is fetched.
func (n *Node) Run(ctx context.Context, entries []string) (Summary, error) {
	if err := n.admit(n.boards.all()); err != nil {
		return Summary{}, err
	}
	gate, links, err := n.openGate(entries)
	if err != nil {
		return Summary{}, err
	}
	n.mu.Lock()
	n.gate = gate
	n.mu.Unlock()
	before := n.queue.Counts()
	n.observer.known = before.Known
	n.observer.offer(len(links))
	err = n.addEntries(ctx, gate, links)
	var injected *injection
	if err == nil {
		injected, err = n.inject(ctx, gate)
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return n.summary(ctx, before), nil // cut before it began: nothing is lost
	}
	if err != nil {
		return Summary{}, err
	}
	engine, err := n.newEngine(gate, before)
	if err != nil {
		return Summary{}, err
	}
	if limit := time.Duration(n.cfg.Crawl.MaxTime); limit > 0 {
		defer time.AfterFunc(limit, engine.Drain).Stop()
	}
	defer n.startInjector(ctx, gate, injected)()
	stopControl, err := n.startControl()
	if err != nil {
		return Summary{}, err
	}
	defer stopControl()
	stopWatch := n.watchShared(ctx)
	defer n.startDisk(ctx)()
	err = n.runAll(ctx, engine)
	stopWatch()
	return n.summary(ctx, before), err
}

// addEntries offers the entries. One that failed or was set aside in an earlier
// run is tried again: whoever names it wants it.
func (n *Node) addEntries(ctx context.Context, gate *board.Gate, links []octopus.Link) error {
	verdicts, err := gate.Add(ctx, links)
	if err != nil {
		return err
	}
	for i, v := range verdicts {
		if v.Code != octopus.Known || n.frontier == nil {
			continue
		}
		if ex, err := n.frontier.Explain(ctx, links[i].URL); err != nil || ex.State != "parked" && ex.State != "failed" {
			if err != nil {
				return err
			}
			continue
		}
		this := frontier.Filter{Host: links[i].URL, Match: regexp.MustCompile("^" + regexp.QuoteMeta(links[i].URL.Text) + "$")}
		for _, list := range []frontier.List{frontier.ListParked, frontier.ListBad} {
			if _, err := n.frontier.Revive(ctx, list, this); err != nil {
				return err
			}
		}
	}
	return nil
}

// newEngine makes the engine and remembers it for Drain and Status.
func (n *Node) newEngine(gate *board.Gate, before octopus.Counts) (*crawl.Engine, error) {
	opt, err := n.engineOptions(gate, before)
	if err != nil {
		return nil, err
	}
	engine := crawl.New(opt)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.engine = engine
	if n.drained {
		engine.Drain()
	}
	return engine, nil
}
