package node

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"octopus"
)

// Config says what a node is made of. Every field is a key of the configuration
// file (tag toml), a flag of `octopus crawl` where it has a tag flag, and the
// environment variable OCTOPUS_ + the key in upper case; tag help is what both
// show. DefaultConfig returns the defaults; the zero value is not one.
type Config struct {
	Dir       string   `toml:"dir" flag:"dir" help:"directory of the crawl's state and pages"`
	UserAgent string   `toml:"userAgent" flag:"user-agent" help:"how the crawler names itself; put a contact URL or address in it"`
	Output    []string `toml:"output" flag:"output" short:"o" help:"write a record per page: FILE.jsonl, FILE.sqlite, postgres://…, mysql://…, - is stdout; octopus help outputs tells all (repeatable)"`
	Frontier  string   `toml:"frontier" flag:"frontier" help:"redis://HOST:PORT/DB shares the crawl with all processes that name the same; empty keeps it in --dir"`
	Job       string   `toml:"job" flag:"job" help:"name of a shared crawl: begins its keys in Redis"`

	Memory Size `toml:"memory" flag:"memory" help:"memory to stay below: a bound for the garbage collector, of which caches get their share; 0 takes 0.9 of the cgroup's limit, if it has one"`

	Crawl   CrawlConfig   `toml:"crawl"`
	Seen    SeenConfig    `toml:"seen"`
	Master  MasterConfig  `toml:"master"`
	Limit   LimitConfig   `toml:"limit"`
	Fetcher FetcherConfig `toml:"fetcher"`
	Render  RenderConfig  `toml:"render"`
	Robots  RobotsConfig  `toml:"robots"`
	Store   StoreConfig   `toml:"store"`

	Boards     []BoardConfig `toml:"board"` // the tables [[board]] of the file, in its order
	BoardsFile string        // absolute path of that file; empty without boards
}

// CrawlConfig is the board that the command line makes.
type CrawlConfig struct {
	Depth    int           `toml:"depth" flag:"depth" short:"d" help:"link hops from an entry: 0 fetches the entries only, -1 has no limit"`
	MaxPages int64         `toml:"maxPages" flag:"max-pages" short:"n" help:"stop after so many pages with status 2xx; 0 has no limit"`
	Watch    bool          `toml:"watch" flag:"watch" help:"go on when everything is fresh: wait for the refresh periods of the boards, and for boards that are added"`
	MaxTime  Duration      `toml:"maxTime" flag:"max-time" help:"stop after so long, as if interrupted; 0 has no limit"`
	Scope    octopus.Scope `toml:"scope" flag:"scope" help:"how far from the entries links may lead: page, prefix, host, domain or any"`
	Accept   []string      `toml:"accept" flag:"accept" help:"follow only URLs that match one of these regular expressions (repeatable)"`
	Reject   []string      `toml:"reject" flag:"reject" help:"never follow URLs that match one of these regular expressions (repeatable)"`
	Extract  string        `toml:"extract" flag:"extract" help:"main content put into the records: text, markdown, both or none; auto is both for the data pages of boards, text for databases and Parquet, markdown for md:, else none"`
	Sitemap  string        `toml:"sitemap" flag:"sitemap" help:"auto reads the sitemaps that robots.txt names, off reads none"`
	Render   string        `toml:"render" flag:"render" help:"off never runs a page's scripts, auto has a browser run those of pages that say nothing without, always those of all"`
}

// SeenConfig says how it is remembered which URLs were met. What is forgotten is
// fetched again when a link leads there.
type SeenConfig struct {
	Kind        string   `toml:"kind" flag:"seen" help:"how long a met URL is known: exact or bloom for good, window for some hours, days or months, expiring for a time; empty is what --dir began with, else exact"`
	Granularity string   `toml:"granularity" flag:"seen-granularity" help:"unit of a window: hour, day or month"`
	Windows     int      `toml:"windows" flag:"seen-windows" help:"windows that are remembered, the present one included"`
	Zone        string   `toml:"zone" flag:"seen-zone" help:"time zone whose days and months the windows follow, such as Asia/Shanghai"`
	Capacity    int64    `toml:"capacity" flag:"seen-capacity" help:"URLs that a filter is made for: bloom in all, window in each window"`
	ErrorRate   float64  `toml:"errorRate" flag:"seen-error-rate" help:"share of new URLs that filters may take for met, all windows together"`
	MaxBytes    Size     `toml:"maxBytes" flag:"seen-max-bytes" help:"refuse filters that need more than this for their error rate; 0 has no limit"`
	Expiry      Duration `toml:"expiry" flag:"seen-expiry" help:"how long expiring knows a URL"`
}

// FetcherConfig sizes the fetcher and sets its manners.
type FetcherConfig struct {
	Concurrency  int      `toml:"concurrency" flag:"concurrency" short:"c" help:"requests under way at once, all hosts together"`
	ConnsPerHost int      `toml:"connsPerHost" flag:"conns-per-host" help:"requests under way at once to one host"`
	HostDelay    Duration `toml:"hostDelay" flag:"host-delay" help:"least pause between two requests to one host, from the end of the first"`
	IPDelay      Duration `toml:"ipDelay" flag:"ip-delay" help:"least pause between two requests to one IP address"`
	Bandwidth    Rate     `toml:"bandwidth" flag:"bandwidth" help:"most bytes received per second by all connections, like 2Mbit or 500KB; 0 has no limit"`
	SiteDelay    Duration `toml:"siteDelay" flag:"site-delay" help:"least pause between two requests to one registrable domain"`
	Timeout      Duration `toml:"timeout" flag:"timeout" help:"longest time for one request, body included"`
	MaxBody      Size     `toml:"maxBody" flag:"max-body" help:"longest body kept, decoded; the rest is cut off and the page marked"`
	JumpingUrls  []string `toml:"jumpingUrls" flag:"jumping-url" help:"regular expression of links that a search engine counts before it sends the reader on: the real URL is found out first, and judged in their place (repeatable)"`
	AllowNet     []string `toml:"allowNet" flag:"allow-net" help:"allow connections to this private or loopback network, as CIDR (repeatable)"`
	Log          string   `toml:"log" flag:"fetch-log" help:"append a JSON line for each request to this file; octopus audit proves from it that no host was asked too often"`
	Resolver     []string `toml:"resolver" flag:"resolver" help:"ask this DNS server, HOST:PORT, instead of the system's (repeatable)"`
	Retry        struct {
		Max     int      `toml:"max" flag:"retries" help:"further attempts after a failed one"`
		Backoff Duration `toml:"backoff" flag:"retry-wait" help:"pause before the first further attempt; it grows fourfold each time, up to 6h"`
	} `toml:"retry"`
}

// RobotsConfig says how robots.txt is treated.
type RobotsConfig struct {
	Policy string `toml:"policy" flag:"robots" help:"obey or ignore robots.txt; ignore is for sites of your own"`
}

// StoreConfig says what is kept.
type StoreConfig struct {
	NoPages     bool   `toml:"noPages" flag:"no-pages" help:"keep no page bodies"`
	Discard     bool   `toml:"discard" flag:"discard" help:"keep nothing: the frontier in memory, as a link checker wants"`
	MaxDisk     Size   `toml:"maxDisk" flag:"max-disk" help:"keep the files in --dir below this, a tenth kept free for what is under way; store.whenFull says how; 0 has no limit"`
	MinFreeDisk Size   `toml:"minFreeDisk" flag:"min-free-disk" help:"pause while the disk of --dir has less than this free; 0 never looks"`
	MaxPending  int64  `toml:"maxPending" flag:"max-pending" help:"pause while an output has so many records to catch up; 0 has no limit"`
	Compression string `toml:"compression" flag:"compression" help:"of pages in new segments: gzip, which every tool reads, or zstd, read three times as fast; empty: as before, or gzip"`
	IndexMemory Size   `toml:"indexMemory" flag:"index-memory" help:"memory for the index of the pages, for stores whose index (40 bytes a page) is larger than memory: the rest is read from disk; 0: all in memory"`
	WhenFull    string `toml:"whenFull" flag:"when-full" help:"what to do where --max-disk is reached: pause until there is room, or give up the oldest pages (they stay known, only their bodies go)"`
	NoSync      bool   `toml:"-"` // tests only: never wait for the disk
}

// DefaultUserAgent names the crawler where nobody gave it a name.
const DefaultUserAgent = "octopus/" + Version

// Version is the release this source belongs to.
const Version = "0.1.0"

// DefaultConfig returns the configuration of `octopus crawl` without flags.
func DefaultConfig() Config {
	c := Config{Dir: "db", UserAgent: DefaultUserAgent}
	c.defaultMaster()
	c.defaultRender()
	c.Crawl.Depth = -1
	c.Crawl.Scope = octopus.ScopeHost
	c.Crawl.Extract = "auto"
	c.Crawl.Sitemap = "auto"
	c.Job = "octopus"
	c.Seen = SeenConfig{Granularity: "day", Windows: 7, Zone: "UTC", Capacity: 1_000_000, ErrorRate: 1e-4,
		MaxBytes: 1 << 30, Expiry: Duration(7 * 24 * time.Hour)}
	c.Fetcher.Concurrency = 16
	c.Fetcher.ConnsPerHost = 1
	c.Fetcher.HostDelay = Duration(time.Second)
	c.Fetcher.Timeout = Duration(time.Minute)
	c.Fetcher.MaxBody = 10 << 20
	c.Fetcher.Retry.Max = 3
	c.Fetcher.Retry.Backoff = Duration(10 * time.Second)
	c.Robots.Policy = "obey"
	c.Store.MinFreeDisk = 256 << 20
	c.Store.WhenFull = "pause"
	c.Store.MaxPending = 1_000_000
	return c
}

// A ConfigError names the key whose value cannot work.
type ConfigError struct {
	Key  string // as in the file: "fetcher.hostDelay"
	Text string // what is wrong, and what would be right
}

func (e *ConfigError) Error() string { return e.Key + ": " + e.Text }

// minMemory is the least Config.Memory: below it the garbage collector has no
// time for anything else, and the number is a slip.
const minMemory Size = 32 << 20

// Validate returns a *ConfigError for the first value that cannot work.
func (c *Config) Validate() error {
	checks := []struct {
		bad       bool
		key, text string
	}{
		{c.Dir == "" && !c.Store.Discard, "dir", "is empty; name a directory"},
		{strings.TrimSpace(c.UserAgent) == "" || strings.ContainsAny(c.UserAgent, "\r\n"), "userAgent", "must be one line that names the crawler"},
		{c.Memory < 0 || c.Memory > 0 && c.Memory < minMemory, "memory", fmt.Sprintf("is %v; it takes %v at least", c.Memory, minMemory)},
		{c.Crawl.Depth < -1, "crawl.depth", fmt.Sprintf("is %d; -1 has no limit", c.Crawl.Depth)},
		{c.Crawl.MaxPages < 0, "crawl.maxPages", "is negative; 0 means no limit"},
		{c.Crawl.MaxTime < 0, "crawl.maxTime", "is negative; 0 means no limit"},
		{!oneOf(string(c.Crawl.Scope), "page", "prefix", "host", "domain", "any"), "crawl.scope", fmt.Sprintf("is %q; use page, prefix, host, domain or any", c.Crawl.Scope)},
		{!oneOf(c.Crawl.Extract, "auto", "none", "text", "markdown", "both"), "crawl.extract", fmt.Sprintf("is %q; use auto, none, text, markdown or both", c.Crawl.Extract)},
		{!oneOf(c.Crawl.Sitemap, "auto", "off"), "crawl.sitemap", fmt.Sprintf("is %q; use auto or off", c.Crawl.Sitemap)},
		{!oneOf(c.Robots.Policy, "obey", "ignore"), "robots.policy", fmt.Sprintf("is %q; use obey or ignore", c.Robots.Policy)},
		{c.Fetcher.Concurrency < 1 || c.Fetcher.Concurrency > 10_000, "fetcher.concurrency", "must be 1 to 10000"},
		{c.Fetcher.ConnsPerHost < 1, "fetcher.connsPerHost", "must be at least 1"},
		{c.Fetcher.HostDelay < 0, "fetcher.hostDelay", "is negative"},
		{c.Fetcher.IPDelay < 0, "fetcher.ipDelay", "is negative"},
		{c.Store.MaxPending < 0, "store.maxPending", "is negative; 0 means no limit"},
		{!oneOf(c.Store.WhenFull, "pause", "oldest"), "store.whenFull", fmt.Sprintf("is %q; use pause or oldest", c.Store.WhenFull)},
		{!oneOf(c.Store.Compression, "", "gzip", "zstd"), "store.compression", fmt.Sprintf("is %q; use gzip or zstd", c.Store.Compression)},
		{c.Fetcher.SiteDelay < 0, "fetcher.siteDelay", "is negative"},
		{c.Fetcher.Timeout <= 0, "fetcher.timeout", "must be positive"},
		{c.Fetcher.MaxBody <= 0, "fetcher.maxBody", "must be positive"},
		{c.Fetcher.Retry.Max < 0, "fetcher.retry.max", "is negative; 0 means one attempt only"},
		{c.Fetcher.Retry.Backoff <= 0, "fetcher.retry.backoff", "must be positive"},
	}
	for _, check := range checks {
		if check.bad {
			return &ConfigError{check.key, check.text}
		}
	}
	for _, check := range []func() error{c.checkShared, c.checkBoards, c.checkMaster, c.checkRender, c.Seen.check, c.checkResolvers, c.checkOutputs} {
		if err := check(); err != nil {
			return err
		}
	}
	if _, err := c.jumps(); err != nil {
		return err
	}
	_, err := c.allowNet()
	return err
}

func (c *Config) checkResolvers() error {
	for i, server := range c.Fetcher.Resolver {
		if _, err := netip.ParseAddrPort(server); err != nil {
			if _, err := netip.ParseAddr(server); err != nil {
				return &ConfigError{fmt.Sprintf("fetcher.resolver[%d]", i), fmt.Sprintf("%q is no address of a DNS server; write it like 127.0.0.1:53", server)}
			}
		}
	}
	return nil
}

func oneOf(s string, words ...string) bool {
	for _, w := range words {
		if s == w {
			return true
		}
	}
	return false
}

// allowNet parses Fetcher.AllowNet; a bare address stands for itself.
func (c *Config) allowNet() ([]netip.Prefix, error) {
	var nets []netip.Prefix
	for _, text := range c.Fetcher.AllowNet {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			a, errAddr := netip.ParseAddr(text)
			if errAddr != nil {
				return nil, &ConfigError{"fetcher.allowNet", fmt.Sprintf("%q is no network; write it like 10.0.0.0/8", text)}
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		nets = append(nets, p.Masked())
	}
	return nets, nil
}
