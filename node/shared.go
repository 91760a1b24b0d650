package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"octopus"
	"octopus/board"
	"octopus/canon"
	"octopus/frontier/redisfrontier"
	"octopus/kv"
)

// scheduler is what a node needs of its frontier, local or shared.
type scheduler interface {
	octopus.Frontier
	octopus.Counter
	octopus.Waiter
}

var (
	_ scheduler          = (*redisfrontier.Frontier)(nil)
	_ board.SharedMemory = (*redisfrontier.Frontier)(nil)
)

// checkShared checks the address of a shared frontier.
func (c *Config) checkShared() error {
	if c.Frontier == "" {
		return nil
	}
	scheme, _, found := strings.Cut(c.Frontier, "://")
	if !found || !oneOf(scheme, "redis", "rediss", "redis+cluster", "rediss+cluster") {
		return &ConfigError{"frontier", fmt.Sprintf("is %q; write it like redis://127.0.0.1:6379/0", Redact(c.Frontier))}
	}
	if c.Job == "" || strings.ContainsAny(c.Job, "{} \t\r\n") {
		return &ConfigError{"job", fmt.Sprintf("is %q; use a name without spaces and braces", c.Job)}
	}
	return nil
}

// sharedNotes names the settings that are given and do nothing in a shared crawl.
func (c *Config) sharedNotes() (notes []string) {
	if c.Frontier == "" {
		return nil
	}
	var usual Config
	usual.defaultMaster()
	m, u := &c.Master, &usual.Master
	for _, s := range []struct {
		given bool
		text  string
	}{
		{m.Lease != u.Lease, "master.lease has no effect in a shared crawl: leases last twice fetcher.timeout"},
		{m.Queue.Limit != u.Queue.Limit, "master.queue.limit has no effect in a shared crawl: its queue is in Redis"},
		{m.Bucket != u.Bucket, "master.bucket has no effect in a shared crawl: any process may fetch from any host"},
		{c.Limit.Session != 0, "limit.session has no effect in a shared crawl: the shallower URL goes first"},
	} {
		if s.given {
			notes = append(notes, s.text)
		}
	}
	return notes
}

// minLease is the shortest lease: a page also waits to be parsed and stored.
const minLease = 10 * time.Second

// sharedLease lasts for a request and as long again, in which a browser may
// render the page.
func (n *Node) sharedLease() time.Duration {
	after := time.Duration(n.cfg.Fetcher.Timeout)
	if n.wantsRenderer() {
		after = max(after, time.Duration(n.cfg.Render.Timeout))
	}
	return max(time.Duration(n.cfg.Fetcher.Timeout)+after, minLease)
}

// openShared joins the crawl in Redis.
func (n *Node) openShared() error {
	c := &n.cfg.Fetcher
	opt := redisfrontier.Options{
		URL: n.cfg.Frontier, Job: n.cfg.Job,
		HostDelay: orNone(time.Duration(c.HostDelay)), IPDelay: time.Duration(c.IPDelay), SiteDelay: time.Duration(c.SiteDelay),
		ConnsPerHost: c.ConnsPerHost, HostQuota: n.cfg.Limit.PagesPerHost, SiteQuota: n.cfg.Limit.PagesPerSite,
		Robots: n.cfg.Robots.Policy, Agent: agentToken(n.cfg.UserAgent),
		Rules:      c.rules(),
		Boards:     n.boards.rulesOf,
		LeaseTime:  n.sharedLease(),
		Relink:     n.relinks,
		LaneWeight: n.cfg.Master.Queue.DataWeight,
		Entries:    n.entryLinks,
		OnError:    n.redisTrouble,
	}
	if n.cfg.Limit.Traps == "off" {
		opt.Traps = noTraps
	}
	if n.cfg.Crawl.Sitemap == "auto" {
		opt.Sitemaps = canon.Parse
	}
	if n.outbox != nil || n.opt.ended != nil {
		opt.Records = n.keepRecords()
	}
	if n.seen != nil {
		opt.Seen = n.seen
	}
	f, err := redisfrontier.Open(context.Background(), opt)
	if err != nil {
		return err
	}
	n.queue, n.shared = f, f
	n.closeLast(f.Close)
	return nil
}

// redisTrouble tells when Redis stops working, and when it works again; the
// crawl waits meanwhile.
func (n *Node) redisTrouble(err error) {
	if err != nil {
		n.log.Warn("the shared frontier does not work; waiting for it", "err", err)
		return
	}
	n.log.Warn("the shared frontier works again")
}

// keepRecords returns a function that puts records into the outbox, durably. A
// record is there before its visit ends in Redis, so none is lost; one may come
// twice. The mutex keeps the batches in the order of their numbers.
func (n *Node) keepRecords() func(context.Context, []*octopus.Record) error {
	var mu sync.Mutex
	return func(_ context.Context, list []*octopus.Record) error {
		mu.Lock()
		defer mu.Unlock()
		var b kv.Batch
		for _, rec := range list {
			if n.opt.ended != nil {
				n.opt.ended.add(rec)
			}
			if n.outbox == nil {
				continue
			}
			if err := n.outbox.Append(&b, rec); err != nil {
				return err
			}
		}
		if b.Len() == 0 {
			return nil
		}
		return n.store.Apply(&b, kv.Durability(!n.cfg.Store.NoSync))
	}
}

// entryLinks returns the entries of the crawl, those of other processes included;
// they are offered again when Redis came back empty.
func (n *Node) entryLinks() []octopus.Link {
	n.mu.Lock()
	own := n.entries
	n.mu.Unlock()
	if n.shared == nil {
		return own
	}
	shared := []octopus.Board{{Name: CrawlBoard, Entry: n.shared.Entries(CrawlBoard)}}
	for _, b := range n.boards.all() {
		shared = append(shared, octopus.Board{Name: b.Name, Entry: n.shared.Entries(b.Name)})
	}
	return append(slices.Clip(own), linksTo(shared)...)
}

// linksTo returns the entries of boards as links. Texts that are no URLs cannot
// be among them: the boards have been compiled.
func linksTo(list []octopus.Board) (links []octopus.Link) {
	for _, b := range list {
		for _, text := range b.Entry {
			if u, err := canon.Parse(text); err == nil {
				links = append(links, octopus.Link{URL: u, Kind: octopus.Entry, Board: b.Name})
			}
		}
	}
	return links
}

// shareEntries has every process of a shared crawl take the entries for its own:
// whichever fetches a page judges its links alike.
func (n *Node) shareEntries(list []octopus.Board) error {
	if n.shared == nil {
		return nil
	}
	for _, b := range list {
		if err := n.shared.SaveEntries(b.Name, b.Entry); err != nil {
			return err
		}
	}
	return nil
}

// keepEntries remembers the entries of the boards for entryLinks.
func (n *Node) keepEntries(list []octopus.Board) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.entries = linksTo(list)
}

// watchShared ends the run once nothing is queued or leased by any process. The
// function it returns stops the watch.
func (n *Node) watchShared(ctx context.Context) func() {
	if n.shared == nil {
		return func() {}
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if n.shared.Drained(ctx) == nil {
			n.empty.Store(true)
			n.check()
		}
	}()
	return func() {
		stop()
		<-ended
	}
}

// finished reports whether the crawl is over. A shared one is asked by
// watchShared: a question to Redis after each page would be too many.
func (n *Node) finished() bool {
	if n.shared != nil {
		return !n.cfg.Crawl.Watch && n.empty.Load()
	}
	return !n.cfg.Crawl.Watch && n.frontier.Idle()
}
