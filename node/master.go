package node

import (
	"fmt"
	"time"

	"octopus/frontier"
)

// MasterConfig sizes the frontier.
type MasterConfig struct {
	Lease Duration `toml:"lease" flag:"lease" help:"after so long without an answer a URL is handed out again; never less than the fetcher's timeout and a half"`
	Queue struct {
		Limit      int `toml:"limit" flag:"queue-limit" help:"URLs per lane that may stand in memory; the rest waits on disk"`
		DataWeight int `toml:"dataWeight" flag:"data-weight" help:"data pages of a host that go before one navigation page while both wait; 0 lets data pages always go first"`
	} `toml:"queue"`
	Bucket struct {
		Count  int    `toml:"count" flag:"bucket-count" help:"buckets that the hosts are divided into: MD5(host) mod count"`
		Limit  int    `toml:"limit" flag:"bucket-limit" help:"URLs in memory over which a bucket overflows; 0 is the queue's limit divided by the count"`
		Picker string `toml:"picker" flag:"bucket-picker" help:"hash keeps a host in its bucket, advanced moves a host whose bucket overflows to a lighter one"`
	} `toml:"bucket"`
}

// LimitConfig says how much of a host or site is taken. What is over is parked,
// not lost: octopus parked revive.
type LimitConfig struct {
	PagesPerHost int64  `toml:"pagesPerHost" flag:"max-pages-per-host" help:"URLs of one host that may be known, the rest is parked; 0 has no limit"`
	PagesPerSite int64  `toml:"pagesPerSite" flag:"max-pages-per-site" help:"URLs of one registrable domain that may be known, the rest is parked; 0 has no limit"`
	Session      int    `toml:"session" flag:"session" help:"URLs of a host in one turn while other hosts wait for theirs; 0 has no turns: the shallower URL goes first"`
	Traps        string `toml:"traps" flag:"traps" help:"on parks URLs that look like an endless URL space, off takes them"`
}

func (c *Config) defaultMaster() {
	c.Master.Lease = Duration(2 * time.Minute)
	c.Master.Queue.Limit = 1_000_000
	c.Master.Bucket.Count = 1
	c.Master.Bucket.Picker = "hash"
	c.Limit.Traps = "on"
}

// checkMaster returns a *ConfigError for the first value that cannot work.
func (c *Config) checkMaster() error {
	m, l := &c.Master, &c.Limit
	for _, check := range []struct {
		bad       bool
		key, text string
	}{
		{m.Lease <= 0, "master.lease", "must be positive"},
		{m.Queue.Limit < 1, "master.queue.limit", "must be at least 1"},
		{m.Queue.DataWeight < 0, "master.queue.dataWeight", "is negative; 0 lets data pages always go first"},
		{m.Bucket.Count < 1 || m.Bucket.Count > 1<<20, "master.bucket.count", "must be 1 to 1048576"},
		{m.Bucket.Limit < 0, "master.bucket.limit", "is negative; 0 means the queue's limit divided by the count"},
		{!oneOf(m.Bucket.Picker, "hash", "advanced"), "master.bucket.picker", fmt.Sprintf("is %q; use hash or advanced", m.Bucket.Picker)},
		{l.PagesPerHost < 0, "limit.pagesPerHost", "is negative; 0 means no limit"},
		{l.PagesPerSite < 0, "limit.pagesPerSite", "is negative; 0 means no limit"},
		{l.Session < 0, "limit.session", "is negative; 0 means no turns"},
		{!oneOf(l.Traps, "on", "off"), "limit.traps", fmt.Sprintf("is %q; use on or off", l.Traps)},
	} {
		if check.bad {
			return &ConfigError{check.key, check.text}
		}
	}
	return nil
}

// sizeFrontier puts what the configuration says of sizes and limits into the
// options of the frontier.
func (c *Config) sizeFrontier(opt *frontier.Options) {
	m, l := &c.Master, &c.Limit
	opt.LeaseTime = max(time.Duration(m.Lease), time.Duration(c.Fetcher.Timeout)*3/2)
	opt.QueueLimit, opt.LaneWeight = m.Queue.Limit, m.Queue.DataWeight
	opt.Buckets = frontier.Buckets{Count: m.Bucket.Count, Limit: m.Bucket.Limit, Picker: m.Bucket.Picker}
	opt.HostQuota, opt.SiteQuota, opt.Session = l.PagesPerHost, l.PagesPerSite, l.Session
	opt.SiteDelay = time.Duration(c.Fetcher.SiteDelay)
	if c.Memory > 0 {
		opt.IndexBytes = max(int64(c.Memory)/4, 1<<20)
		opt.HostLimit = min(max(int(c.Memory/hostMemory/8), 1000), 200_000)
	}
	if l.Traps == "off" {
		opt.Traps = noTraps
	}
}

// noTraps takes whatever looks like an endless URL space.
var noTraps = frontier.Traps{MaxLength: -1, MaxSegments: -1, MaxRepeats: -1, MaxParams: -1, MinYield: -1}

// hostMemory is what a host in memory takes, its site included, in bytes, about.
const hostMemory = 1 << 10

// cacheBytes is the share of the memory that caches blocks of the store; 0
// stands for the store's default.
func (c *Config) cacheBytes() int64 {
	if c.Memory == 0 {
		return 0
	}
	return max(int64(c.Memory)/16, 1<<20)
}

// floorRate is the least rate of a body, lowered where the bandwidth divided
// among all requests would fall below it: ours to blame, not the site's. 0
// stands for the fetcher's default.
func (c *Config) floorRate() int64 {
	if c.Fetcher.Bandwidth == 0 {
		return 0
	}
	return max(min(int64(c.Fetcher.Bandwidth)/int64(4*c.Fetcher.Concurrency), 1<<10), 1)
}
