package webtest

import (
	"time"

	"octopus"
)

// Options say what the web is like, and by which rules it will be crawled. The
// zero value is the web of the demo.
type Options struct {
	Seed uint64 // another seed is another web of the same shape

	// Hosts is the number of hosts that answer. Default 40. The first 1,024
	// have a loopback address each, where the system has so many; others share.
	Hosts int
	// Pages is the number of tree pages, all hosts together. Default 2,000. Slow
	// hosts and those with a Crawl-delay keep at most twelve of their share;
	// pages of features come on top.
	Pages int
	// HostsPerSite is the number of hosts of a registrable domain. Default 4.
	HostsPerSite int
	// PageSize is the mean size of a tree page in bytes, log-normal with sigma
	// 0.5. Default 4,000; benchmarks use 20,000.
	PageSize int
	// Links is the mean number of links of a tree page. Default 14, at least 12;
	// benchmarks use 40.
	Links int

	// Features are what the web does to crawlers. 0 means All.
	Features Feature
	// Latency is waited in front of every answer.
	Latency time.Duration
	// Gzip compresses all HTML for clients that take it.
	Gzip bool
	// TLS serves https, with HTTP/2, and with certificates of CA.
	TLS bool
	// Port of all hosts. Default 0: any free one. URLs, and so page bodies,
	// contain it: who needs the same bytes again sets it.
	Port int

	// What the crawl will be told.

	// Depth is the limit of link hops; 0 means none. With a limit there are
	// endless traps that robots.txt does not forbid.
	Depth int
	// Scope is how far links of the entry may lead: any (default), domain or
	// host. What a domain is, package canon says.
	Scope octopus.Scope
	// Agent is the crawler's product token for robots.txt. Default "octopus".
	Agent string
	// MaxBody is the crawl's body limit in bytes; there is a page longer than
	// that. 0: no such page.
	MaxBody int64
	// NoSitemaps says that the crawl reads no sitemaps.
	NoSitemaps bool
}

// Feature is a set of things that sites do to crawlers.
type Feature uint64

const (
	Redirects   Feature = 1 << iota // 301 to 308, chains, loops, across hosts, more than ten
	Markup                          // meta refresh, base, frames, image maps, link elements; links in comments and scripts that are none
	Spellings                       // the same URL in other words: case, port, dot segments, white space, IDN
	Traps                           // calendar, endless path, session ids, facets
	Robots                          // robots.txt of all kinds; without it every host allows all
	Sitemaps                        // sitemap index, gzip; feeds; pages that only they lead to
	Charsets                        // GBK, Big5, Shift_JIS, EUC-KR, windows-1251 and others, labelled or not
	Missing                         // 404, 410, 403, 401
	Unavailable                     // 429 and 503 with Retry-After, a few times
	Faults                          // 500, cut bodies, damaged gzip: once
	Slow                            // slow hosts, dripping pages
	DeadHosts                       // names that do not exist
	Encodings                       // gzip, br, zstd
	Duplicates                      // the same content under several URLs
	MetaRobots                      // nofollow, noindex, X-Robots-Tag
	Large                           // pages of 2,000 links; with Options.MaxBody one that is too long
	Files                           // PDF, images, JSON, plain text
	Refused                         // a host that takes no connection; not part of All, because crawlers wait long for its robots.txt

	All   = Refused - 1
	Plain = Feature(1) << 63 // tree pages only
)

func (o Options) withDefaults() Options {
	setDefault(&o.Hosts, 40)
	setDefault(&o.Pages, 2000)
	setDefault(&o.HostsPerSite, 4)
	setDefault(&o.PageSize, 4000)
	setDefault(&o.Links, 14)
	setDefault(&o.Features, All)
	setDefault(&o.Scope, octopus.ScopeAny)
	setDefault(&o.Agent, "octopus")
	o.Links = max(o.Links, 12)
	o.Pages = max(o.Pages, o.Hosts)
	return o
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (o *Options) has(f Feature) bool { return o.Features&f != 0 && o.Features != Plain }
