package frontier

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"octopus"
	"octopus/frontier/manners"
	"octopus/robots"
)

// host is a host that the Core holds: its counters, its manners, and the front
// of its queue.
type host struct {
	key  octopus.HostKey
	name string
	hostState

	lanes    [2]lane
	turn     int // data URLs handed out since the last navigation URL
	session  int // URLs handed out in its turn
	bucket   int
	away     bool // the picker moved it to another bucket than its own
	inflight int  // requests under way
	site, ip *group
	waits    *group   // in whose waiting list it stands
	out      []*lease // handed out and not done; a few
	asking   *lease   // the robots.txt under way; over when it ended, nil before the first
	robots   []*authorityState
	pending  []*entry          // queued by commits that no refill can see yet; see Core.Refilled
	yields   map[uint64]*yield // by pattern of the URL
	loaded   bool              // robots is what the store has
	loading  bool              // a refill is under way

	heap  *hostHeap // where it stands: ready, sleeping, hungry; nil for nowhere
	at    int
	due   time.Time // key of sleeping and hungry
	dirty bool      // to be written with the next batch
	wrote uint64    // the batch that has its newest state
}

// hostState is what of a host is durable.
type hostState struct {
	Known, Later, Done, Parked, Failed int64
	Queued                             [2]int64    // per lane, leased ones included
	Head                               [2]position // nothing queued stands before it
	Gen                                [2]uint16   // generation of each lane: raised when it is cleared

	manners.Health
	Next  time.Time     // no request before this: the gap
	Delay time.Duration // Crawl-delay of its robots.txt
	Line  int           // and its line, 0 where not known
	IP    netip.Addr    // that answered last
	Pace  time.Duration // what the board of the last URL wants between requests; 0: it says nothing
	Rank  int8          // of hosts that are ready, those of a smaller one go first
}

// lane is one of the two queues of a host: the first entries in memory, the
// rest on disk.
//
// Invariant: every queued entry at a position <= upto is in fifo, leased, or in
// no lane any more; those behind upto are on disk only.
type lane struct {
	fifo   []*entry // ascending
	upto   position
	leased int // of Queued, handed out
}

// onDisk returns how many entries of a lane are not in memory.
func (h *host) onDisk(l octopus.Lane) int64 {
	q := &h.lanes[l]
	return h.Queued[l] - int64(len(q.fifo)) - int64(q.leased)
}

// queued returns the number of URLs in both lanes, leased ones included.
func (h *host) queued() int64 { return h.Queued[0] + h.Queued[1] }

// inMemory returns the number of entries that could be leased now.
func (h *host) inMemory() int { return len(h.lanes[0].fifo) + len(h.lanes[1].fifo) }

// next returns the entry that goes next, nil where none is in memory: a data
// URL, unless weight of them went since the last navigation URL.
func (h *host) next(weight int) *entry {
	nav, data := h.lanes[octopus.Nav].fifo, h.lanes[octopus.Data].fifo
	switch {
	case len(data) > 0 && (len(nav) == 0 || weight <= 0 || h.turn < weight):
		return data[0]
	case len(nav) > 0:
		return nav[0]
	}
	return nil
}

// starved reports whether a lane has entries on disk and none in memory.
func (h *host) starved() bool {
	for l := range h.lanes {
		if len(h.lanes[l].fifo) == 0 && h.onDisk(octopus.Lane(l)) > 0 {
			return true
		}
	}
	return false
}

// insert puts e in its place.
func (q *lane) insert(e *entry) {
	i, _ := slices.BinarySearchFunc(q.fifo, e, func(a, b *entry) int { return a.pos.compare(b.pos) })
	q.fifo = slices.Insert(q.fifo, i, e)
}

// take removes and returns the entry at p, nil where it is not in memory.
func (q *lane) take(p position) *entry {
	i, found := slices.BinarySearchFunc(q.fifo, p, func(a *entry, p position) int { return a.pos.compare(p) })
	if !found {
		return nil
	}
	e := q.fifo[i]
	if i == 0 {
		q.fifo[0] = nil
		q.fifo = q.fifo[1:]
	} else {
		q.fifo = slices.Delete(q.fifo, i, i+1)
	}
	return e
}

// authority is a scheme and a port of a host: what a robots.txt speaks for.
type authority struct {
	tls  bool
	port string // as in the URL; empty for the scheme's default
}

func (a authority) bytes() []byte {
	scheme := byte('h')
	if a.tls {
		scheme = 's'
	}
	return append([]byte{scheme}, a.port...)
}

// url returns scheme://host:port.
func (a authority) url(host string) string {
	s := "http://"
	if a.tls {
		s = "https://"
	}
	s += octopus.HostInURL(host)
	if a.port != "" {
		s += ":" + a.port
	}
	return s
}

// authorityOf returns the authority of a canonical URL of the host.
func authorityOf(text, host string) authority {
	rest, tls := strings.CutPrefix(text, "https://")
	if !tls {
		rest = strings.TrimPrefix(rest, "http://")
	}
	rest = strings.TrimPrefix(rest, octopus.HostInURL(host))
	a := authority{tls: tls}
	if port, ok := strings.CutPrefix(rest, ":"); ok {
		if i := strings.IndexAny(port, "/?#"); i >= 0 {
			port = port[:i]
		}
		a.port = port
	}
	return a
}

// authorityState is what is known of one robots.txt.
type authorityState struct {
	authority
	policy robots.Policy
	group  *robots.Group // of policy; nil until it is needed
	// failure says in words why it is unreachable; empty where it is not, and
	// after a restart.
	failure string
}

// authority returns the state of a, nil where it is not known.
func (h *host) authority(a authority) *authorityState {
	for _, s := range h.robots {
		if s.authority == a {
			return s
		}
	}
	return nil
}

// encode returns the value of the host table.
//
//	| version | name | length of site | known later done parked failed
//	| queued nav, data | head nav, data | generation nav, data | next | blocked, why | unavail fails probes no-host alive
//	| Crawl-delay ms, line | IP | board's delay ms | precedence |
func (h *host) encode(w *writer) {
	w.byte(recordVersion)
	w.string(h.name)
	w.uint(uint64(len(h.site.name)))
	for _, n := range []int64{h.Known, h.Later, h.Done, h.Parked, h.Failed, h.Queued[0], h.Queued[1]} {
		w.count(n)
	}
	w.bytes(h.Head[0][:])
	w.bytes(h.Head[1][:])
	w.uint(uint64(h.Gen[0]))
	w.uint(uint64(h.Gen[1]))
	w.time(h.Next)
	w.time(h.Blocked)
	alive := byte(0)
	if h.Alive {
		alive = 1
	}
	w.bytes([]byte{byte(h.Why), h.Unavail, h.Fails, h.Probes, h.NoHost, alive})
	w.uint(uint64(h.Delay / time.Millisecond))
	w.uint(uint64(h.Line))
	ip, _ := h.IP.MarshalBinary()
	w.string(string(ip))
	w.uint(uint64(h.Pace / time.Millisecond))
	w.byte(byte(h.Rank))
}

// decodeHost reads what encode wrote; site is the name of its group.
func decodeHost(key octopus.HostKey, value []byte) (h *host, site string, err error) {
	r := reader{rest: value}
	if v := r.byte(); v != recordVersion && r.err == nil {
		return nil, "", fmt.Errorf("host record of version %d: this program reads version %d", v, recordVersion)
	}
	h = &host{key: key, name: r.string()}
	n := r.uint()
	if n > uint64(len(h.name)) {
		return nil, "", fmt.Errorf("host record %s: %w", key, errTruncated)
	}
	site = h.name[len(h.name)-int(n):]
	for _, p := range []*int64{&h.Known, &h.Later, &h.Done, &h.Parked, &h.Failed, &h.Queued[0], &h.Queued[1]} {
		*p = r.count()
	}
	copy(h.Head[0][:], r.bytes(len(position{})))
	copy(h.Head[1][:], r.bytes(len(position{})))
	h.Gen[0], h.Gen[1] = uint16(r.uint()), uint16(r.uint())
	h.Next, h.Blocked = r.time(), r.time()
	flags := r.bytes(6)
	h.Delay = time.Duration(r.uint()) * time.Millisecond
	h.Line = int(r.uint())
	ip := r.string()
	if r.err == nil && len(r.rest) > 0 { // not there before boards had delays
		h.Pace = time.Duration(r.uint()) * time.Millisecond
	}
	if r.err == nil && len(r.rest) > 0 { // not there before hosts had a precedence
		h.Rank = int8(r.byte())
	}
	if r.err != nil || h.IP.UnmarshalBinary([]byte(ip)) != nil {
		return nil, "", fmt.Errorf("host record %s: %w", key, errTruncated)
	}
	h.Why, h.Unavail, h.Fails, h.Probes, h.NoHost, h.Alive = manners.Why(flags[0]), flags[1], flags[2], flags[3], flags[4], flags[5] != 0
	return h, site, nil
}

// group is what hosts share politeness with: a site or an address.
type group struct {
	name    string
	next    time.Time
	busy    int     // requests under way, counted where the group has a gap
	waiting []*host // hosts that wait for busy to end
	members int     // hosts in memory that belong to it
	known   int64   // of a site: URLs known
	dirty   bool    // of a site: to be written
}
