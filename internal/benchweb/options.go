package benchweb

import (
	"errors"
	"time"
)

// Options say what the web is like. The zero value is one host of 20,000 pages.
type Options struct {
	Hosts int    // number of hosts; default 1, at most 4 million
	Pages int    // pages of each host; default 20,000
	Size  int    // mean size of a page in bytes; default 20,000
	Links int    // mean number of links of a page; default 40
	Seed  uint64 // another seed is another web of the same shape

	Gzip    bool          // compress pages for clients that take it; done once, before serving
	TLS     bool          // serve https, HTTP/1.1; Server.CA says whom to trust
	Names   bool          // links name hosts hN.test, which Server.Resolver knows, instead of addresses
	Latency time.Duration // waited before every answer; default none
	Port    int           // of all hosts; default any free one
}

// Total is the number of pages there are.
func (o Options) Total() int {
	o, _ = o.withDefaults() // bad ones are refused by Start
	return o.Hosts * o.Pages
}

const maxHosts = 1 << 22

func (o Options) withDefaults() (Options, error) {
	for _, d := range []struct {
		field *int
		value int
	}{{&o.Hosts, 1}, {&o.Pages, 20_000}, {&o.Size, 20_000}, {&o.Links, 40}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if o.Hosts < 1 || o.Hosts > maxHosts || o.Pages < 1 || o.Size < 1000 || o.Links < 1 {
		return o, errors.New("benchweb: hosts, pages and links must be positive, hosts at most 4194304, the size at least 1000 bytes")
	}
	return o, nil
}
