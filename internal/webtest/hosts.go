package webtest

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/idna"
)

const (
	hostFan  = 8    // hosts below a host in the tree of hosts
	maxAddrs = 1024 // loopback addresses used at most
	fewPages = 12   // tree pages of a slow host or one with a Crawl-delay
)

// host is one name of the web.
type host struct {
	index  int
	name   string // in ASCII
	native string // as people write it: differs for an IDN
	addr   netip.Addr
	alias  string // canonical name behind a CNAME; empty for most
	state  hostState
	pages  int           // of the tree
	slow   time.Duration // in front of every answer
	robots robotsPlan

	special map[string]*resource // pages of features by path and query
	lab     []ref                // what /lab/ leads to
}

type hostState uint8

const (
	alive   hostState = iota
	missing           // the name does not exist
	refused           // nobody listens there
)

// labels of the first hosts of each site.
var labels = [...]string{"www", "news1", "shop", "blog", "docs", "forum", "wiki", "cdn"}

// makeHosts names the hosts and gives each its share of the pages.
func (w *Web) makeHosts() {
	o := &w.opt
	w.byName = make(map[string]*host, o.Hosts+4)
	for i := range o.Hosts {
		w.addHost(w.hostName(i), i%maxAddrs, alive)
	}
	if o.has(DeadHosts) {
		w.addHost("gone.no-such-site.test", 0, missing)
		w.addHost(fmt.Sprintf("expired.site-%d.test", (o.Hosts-1)/o.HostsPerSite), 0, missing)
	}
	if o.has(Refused) {
		w.addHost("closed.refusing.test", maxAddrs, refused)
	}
	for i, h := range w.hosts[:o.Hosts] {
		h.pages = o.Pages / o.Hosts
		if i < o.Pages%o.Hosts {
			h.pages++
		}
		w.giveManners(h)
	}
}

func (w *Web) hostName(i int) string {
	site := fmt.Sprintf(".site-%d.test", i/w.opt.HostsPerSite)
	k := i % w.opt.HostsPerSite
	switch {
	case w.opt.has(Spellings) && i == min(5, w.opt.Hosts-1):
		return "bücher" + site
	case k < len(labels):
		return labels[k] + site
	}
	return fmt.Sprintf("h%d%s", k, site)
}

func (w *Web) addHost(native string, addr int, state hostState) {
	name, err := idna.Lookup.ToASCII(native)
	if err != nil {
		panic("webtest: host name " + native + ": " + err.Error()) // all names are made above
	}
	h := &host{index: len(w.hosts), name: name, native: native, state: state, special: map[string]*resource{}}
	h.addr = netip.AddrFrom4([4]byte{127, 77, byte(addr >> 8), byte(addr&0xff + 1)})
	if addr&0xff == 0xff {
		h.addr = netip.AddrFrom4([4]byte{127, 78, byte(addr >> 8), 1}) // .256 does not exist
	}
	if w.opt.Features != Plain && len(w.hosts)%7 == 3 {
		h.alias = "edge-" + strings.ReplaceAll(name, ".", "-") + ".cdn.test"
	}
	w.hosts = append(w.hosts, h)
	w.byName[name] = h
}

// giveManners decides what kind of server a host is.
func (w *Web) giveManners(h *host) {
	o := &w.opt
	if o.has(Robots) {
		h.robots.kind = robotsKinds[h.index%len(robotsKinds)]
	}
	if o.has(Slow) && h.index%13 == 12 {
		h.slow = 250 * time.Millisecond
	}
	if h.slow > 0 || h.robots.kind == robotsDelay {
		h.pages = min(h.pages, fewPages)
	}
}

// hasLab reports whether features may be put on the host: not on those where a
// request takes long.
func (h *host) hasLab() bool { return h.slow == 0 && h.robots.kind != robotsDelay }
