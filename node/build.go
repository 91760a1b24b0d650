package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"octopus"
	"octopus/board"
	"octopus/canon"
	"octopus/crawl"
	"octopus/dns"
	"octopus/fetch"
	"octopus/frontier"
	"octopus/frontier/manners"
	"octopus/internal/durable"
	"octopus/kv"
	"octopus/kv/pebblekv"
	"octopus/parse"
	"octopus/seen"
	"octopus/sink"
	"octopus/stats"
)

// Who implements what. The compiler checks the table.
var (
	_ octopus.Frontier = (*frontier.Frontier)(nil)
	_ octopus.Frontier = (*board.Gate)(nil)
	_ octopus.Releaser = (*board.Gate)(nil)
	_ kv.Store         = (*kv.Memory)(nil)
	_ kv.Store         = (*pebblekv.Store)(nil)
	_ frontier.Seen    = (*seen.Exact)(nil)
	_ frontier.Outbox  = (*sink.Outbox)(nil)
	_ frontier.Tally   = (*stats.Book)(nil)
	_ fetch.Resolver   = (*dns.Resolver)(nil)
	_ crawl.Fetcher    = (*fetch.Fetcher)(nil)
	_ crawl.Recycler   = (*fetch.Fetcher)(nil)
	_ crawl.Parser     = (*parse.Parser)(nil)
	_ crawl.Pages      = (*pages)(nil)
	_ crawl.Knower     = (*pages)(nil)

	_ crawl.LinkRecycler = (*parse.Parser)(nil)
)

// Prefixes in the store of what is not the frontier's. The frontier's keys begin
// with a job number, whose first byte is 0 for the first 16 million jobs.
const (
	prefixOutbox = "outbox/"
	prefixBoard  = "board/"
	prefixClass  = "class/"
	prefixStats  = "stats/"
)

// memTable is the size of Pebble's memtables in bytes. They lie in the heap that
// the garbage collector looks after, so each byte costs two of resident memory.
const memTable = 8 << 20

// commitDelay is how long a commit to disk waits for others to join it. A sync
// costs some 100 µs of processor time, whatever there is to be synced.
const commitDelay = 2 * time.Millisecond

// openStore opens the embedded store, in memory with Discard.
func (n *Node) openStore() error {
	if n.cfg.Store.Discard {
		n.store = kv.NewMemory()
		n.closeLast(n.store.Close)
		return nil
	}
	store, err := pebblekv.Open(filepath.Join(n.cfg.Dir, "kv"), pebblekv.Options{MemTableBytes: memTable, CacheBytes: n.cfg.cacheBytes()})
	if errors.Is(err, pebblekv.ErrLocked) {
		return fmt.Errorf("%s is %w%s; stop it, or choose another directory with --dir", n.cfg.Dir, ErrLocked, holderOf(n.cfg.Dir))
	}
	if errors.Is(err, pebblekv.ErrCorrupt) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if err != nil {
		return err
	}
	n.store = store
	n.closeLast(store.Close)
	return nil
}

// probeLock fails if another process has the store or the pages of dir open.
func probeLock(dir string) error {
	pages, err := durable.Lock(durable.Disk(), filepath.Join(dir, "pages", "LOCK"))
	if errors.Is(err, durable.ErrLocked) {
		return fmt.Errorf("the pages of %s are %w; stop it first", dir, ErrLocked)
	}
	if err == nil {
		defer pages.Close()
	}
	path := filepath.Join(dir, "kv")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	store, err := pebblekv.Open(path, pebblekv.Options{})
	if errors.Is(err, pebblekv.ErrLocked) {
		return fmt.Errorf("%s is %w%s; stop it first", dir, ErrLocked, holderOf(dir))
	}
	if err != nil {
		return nil // damaged: starting afresh is the cure
	}
	return store.Close()
}

// rules are those of failed requests. A crawl ends: a robots.txt gets as many
// attempts as a page.
func (c *FetcherConfig) rules() manners.Rules {
	return manners.Rules{
		MaxRetries: orNone(c.Retry.Max), RetryBase: time.Duration(c.Retry.Backoff),
		RobotsRetry: time.Duration(c.Retry.Backoff), RobotsTries: c.Retry.Max + 1,
	}
}

// openFrontier opens the frontier on the store.
func (n *Node) openFrontier() error {
	if n.cfg.Frontier != "" {
		return n.openShared()
	}
	opt := frontier.Options{
		Store:       n.store,
		Robots:      n.cfg.Robots.Policy,
		Agent:       agentToken(n.cfg.UserAgent),
		Rules:       n.cfg.Fetcher.rules(),
		RaiseLinked: true,
		Relink:      n.relinks,
		NoSync:      n.cfg.Store.NoSync || n.cfg.Store.Discard,
		OnEmpty:     n.check,
		Boards:      n.boards.rulesOf,
		Politeness: frontier.Politeness{
			HostDelay:    orNone(time.Duration(n.cfg.Fetcher.HostDelay)),
			IPDelay:      time.Duration(n.cfg.Fetcher.IPDelay),
			ConnsPerHost: n.cfg.Fetcher.ConnsPerHost,
		},
	}
	n.cfg.sizeFrontier(&opt)
	if n.cfg.Crawl.Sitemap == "auto" {
		opt.Sitemaps = canon.Parse
	}
	if n.outbox != nil {
		opt.Outbox = n.outbox
	}
	if n.opt.ended != nil {
		n.opt.ended.outbox, opt.Outbox = opt.Outbox, n.opt.ended
	}
	if n.seen != nil {
		opt.Seen = n.seen
	}
	if !n.cfg.Store.Discard {
		opt.CommitDelay = commitDelay
		book, err := stats.Open(n.store, time.Now(), stats.Options{Prefix: prefixStats})
		if err != nil {
			return err
		}
		opt.Tally = book
	}
	f, err := frontier.Open(opt)
	if err != nil {
		return err
	}
	n.frontier, n.queue = f, f
	n.closeLast(f.Close)
	return nil
}

// orNone turns a zero that means "none" into the negative number that says so
// where zero means "the default".
func orNone[T int | time.Duration](v T) T {
	if v == 0 {
		return -1
	}
	return v
}

// openFetcher opens the resolver and the fetcher.
func (n *Node) openFetcher() error {
	allow, err := n.cfg.allowNet()
	if err != nil {
		return err
	}
	resolver := n.newResolver()
	timeout := time.Duration(n.cfg.Fetcher.Timeout)
	opt := fetch.Options{
		UserAgent: n.cfg.UserAgent, Resolver: countedResolver{resolver, &n.resolving}, AllowNet: allow,
		Timeout: timeout, RobotsTimeout: min(timeout, 30*time.Second), HeaderTimeout: min(timeout, 15*time.Second),
		MaxBody: int64(n.cfg.Fetcher.MaxBody), Bandwidth: int64(n.cfg.Fetcher.Bandwidth), FloorRate: n.cfg.floorRate(), ConnsPerHost: max(n.cfg.Fetcher.ConnsPerHost, 1),
	}
	if n.opt.Network != nil {
		opt.Resolver, opt.Dial = n.opt.Network, n.opt.Network.Dial
	}
	f, err := fetch.New(opt)
	if err != nil {
		return err
	}
	n.fetcher = f
	if n.cfg.Fetcher.Log != "" {
		if n.fetcher, err = openFetchLog(&n.cfg, f); err != nil {
			return err
		}
	}
	err = n.openRenderer(f)
	n.closeLast(n.fetcher.Close)
	return err
}

func (n *Node) newResolver() *dns.Resolver {
	opt := dns.Options{Servers: n.cfg.Fetcher.Resolver}
	if len(opt.Servers) > 0 {
		opt.Hosts = "-" // a server of one's own decides alone
	}
	return dns.New(opt)
}

// agentToken is the product token of a User-Agent: what robots.txt groups are
// matched against (RFC 9309, section 2.2.1).
func agentToken(userAgent string) string {
	end := strings.IndexFunc(userAgent, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_' || r == '-')
	})
	if end == 0 {
		return "octopus"
	}
	if end < 0 {
		end = len(userAgent)
	}
	return userAgent[:end]
}

// engineOptions are those of a run that starts with counts before.
func (n *Node) engineOptions(gate *board.Gate, before octopus.Counts) (crawl.Options, error) {
	silent := n.cfg.Store.Discard && n.outbox == nil && n.observer.record == nil // keeps and reports nothing
	text, markdown := n.cfg.extraction()
	parser, err := parse.New(parse.Options{Agent: agentToken(n.cfg.UserAgent), IgnoreRobots: n.cfg.Robots.Policy == "ignore", MaxLinks: maxLinks,
		Text: text, Markdown: markdown, Bare: n.cfg.Crawl.Extract == "none", NoFingerprint: silent, Classes: classes{n, gate}})
	if err != nil {
		return crawl.Options{}, err
	}
	n.observer.parsesWith(parser)
	opt := crawl.Options{
		Frontier: gated{gate, &n.valve, n.outbox}, Fetcher: n.fetcher, Parser: parser,
		Concurrency: n.cfg.Fetcher.Concurrency,
		MaxPages:    n.cfg.Crawl.MaxPages, PagesBefore: before.Pages,
		NoDigest: silent,
		Finished: n.finished,
		Observe:  n.observer.observe,
	}
	if n.pages != nil {
		opt.Pages = n.pages
	}
	return opt, nil
}

// maxLinks is the number of distinct links taken from one page. The largest
// index pages of real documentation have a few thousand.
const maxLinks = 20_000

// skippedSurplus is the reason in Status.Skipped of links beyond maxLinks.
const skippedSurplus = "surplus"

// summary tells what a run came to.
func (n *Node) summary(ctx context.Context, before octopus.Counts) Summary {
	st := n.Status()
	sum := Summary{Status: st, End: EndStopped, Dir: n.cfg.Dir, Out: n.cfg.Output}
	switch {
	case st.Counts.Queued == st.Counts.Again && !n.cfg.Crawl.Watch:
		sum.End = EndEmpty
		if before.Known > 0 && before.Queued == before.Again && st.Fetches == 0 {
			sum.Note = "nothing left to fetch in " + n.cfg.Dir
			if st.Counts.Again > 0 {
				sum.Note = "nothing is due in " + n.cfg.Dir + "; --watch waits for it"
			}
		}
	case ctx.Err() != nil || n.interrupted():
	case n.cfg.Crawl.MaxPages > 0 && st.Counts.Pages >= n.cfg.Crawl.MaxPages:
		sum.End = EndPages
	case n.cfg.Crawl.MaxTime > 0:
		sum.End = EndTime
	}
	if n.cfg.Store.Discard {
		sum.Dir = ""
	}
	sum.undelivered()
	return sum
}

// interrupted reports whether Drain was called from outside.
func (n *Node) interrupted() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.drained
}
