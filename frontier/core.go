package frontier

import (
	"math/rand/v2"
	"net/netip"
	"time"

	"octopus"
	"octopus/kv"
)

// Core decides what is fetched next, and when. It is pure: no clock, no
// goroutine, no disk; the same calls give the same answers. Every operation
// takes the time, changes the state in memory, and leaves the changes for the
// disk in a batch that Flush hands over.
//
// It schedules hosts. Of each it holds the state and the front of its queue; the
// rest of the queue is in the store, and the Core asks for it (Turn.Refills)
// while it has too little to hand out. A host stands in at most one heap:
//
//	ready    may be asked now; shallowest next URL first
//	sleeping may be asked later; earliest first
//	hungry   has nothing in memory, but in the store; earliest first
//
// A host with as many requests under way as it may have stands nowhere, and so
// does one that waits for a request of its site or address to end.
//
// Core is not safe for concurrent use.
type Core struct {
	opt  Options
	keys keyspace
	rng  *rand.Rand
	now  time.Time // latest time any operation was told; it never goes back

	opened   time.Time // when an old state was opened; zero for a new one
	hosts    map[octopus.HostKey]*host
	ring     []*host // hosts in memory, in the order the hand of Evict passes them
	hand     int
	sites    map[[4]byte]*group
	ips      map[netip.Addr]*group
	buckets  []*bucket // ready and hungry hosts
	sleeping hostHeap
	inMemory int       // entries in all fifos
	queuing  int64     // hosts in memory that have entries in their queue
	coldAt   time.Time // hosts that are not in memory are looked for from then on

	leases    map[octopus.LeaseID]*lease
	leased    map[octopus.Key]*lease // leases of pages by key
	expiry    []*lease               // in the order they end
	lastLease octopus.LeaseID
	nextDue   time.Time // nothing in the due table is due before; zero where it is empty

	totals totals
	parked map[string]int64 // URLs put aside since NewCore, by reason

	aliases aliases // SetAlias puts another map in its place
	writes
	buf writer // reused for every value: batches copy
}

// totals are the counters of the job, kept with every commit.
type totals struct {
	octopus.Counts
	Seq uint64 // last sequence number given out
}

// writes are the changes that the store has not seen yet.
type writes struct {
	out     *kv.Batch
	spare   *kv.Batch                // empty, with memory, for the next Flush; may be nil
	batch   uint64                   // number of out, from 1
	written uint64                   // number of the last batch that the store has
	records map[octopus.Key]recordAt // records newer than the store's
	queued  []pendingEntry           // entries of batches that the store has not
	touched []*host                  // dirty hosts
	changed []dirtySite
	failed  error // of the outbox; the next commit fails with it
}

type recordAt struct {
	*record
	batch uint64
}

type pendingEntry struct {
	host  *host
	batch uint64
}

type dirtySite struct {
	key [4]byte
	*group
}

// lease is a lease that was handed out.
type lease struct {
	id     octopus.LeaseID
	key    octopus.Key
	host   *host
	entry  *entry    // of a page; nil once another outcome ended the visit
	robots authority // of a FetchRobots lease
	page   bool
	until  time.Time
	groups [2]*group // whose busy it counts in
	freed  bool      // its request ended: the host is free
	over   bool      // done or expired
	hasten bool      // the page shall come due again at once; see Core.HastenLeased
	whole  bool      // and be asked for without validators
}

// NewCore returns a Core without URLs. Of the options it needs no Store.
func NewCore(opt Options) *Core {
	opt = opt.withDefaults()
	c := &Core{
		opt: opt, keys: newKeyspace(opt.Job), rng: opt.Rand,
		hosts:  map[octopus.HostKey]*host{},
		sites:  map[[4]byte]*group{},
		ips:    map[netip.Addr]*group{},
		leases: map[octopus.LeaseID]*lease{},
		leased: map[octopus.Key]*lease{},
		parked: map[string]int64{},
		writes: writes{out: new(kv.Batch), batch: 1, records: map[octopus.Key]recordAt{}},
	}
	if c.rng == nil {
		c.rng = rand.New(rand.NewPCG(1, 1))
	}
	c.keys.scratch = make([]byte, 0, 64)
	c.buckets = newBuckets(opt.Buckets.Count, c.before)
	c.aliases = aliases{}
	c.sleeping.less = byDue
	return c
}

func byDue(a, b *host) bool {
	if !a.due.Equal(b.due) {
		return a.due.Before(b.due)
	}
	return a.name < b.name
}

// before orders ready hosts: by precedence, then those whose turn is not over,
// then by their next URLs: shallower, then heavier, then first come.
func (c *Core) before(a, b *host) bool {
	if a.Rank != b.Rank {
		return a.Rank < b.Rank
	}
	if c.opt.Session > 0 {
		if x, y := a.session/c.opt.Session, b.session/c.opt.Session; x != y {
			return x < y
		}
	}
	p, q := a.next(c.opt.LaneWeight).pos, b.next(c.opt.LaneWeight).pos
	if p.depth() != q.depth() {
		return p.depth() < q.depth()
	}
	if p.weight() != q.weight() {
		return p.weight() > q.weight()
	}
	return p.seq() < q.seq()
}

// advance takes the time in and lets leases end.
func (c *Core) advance(now time.Time) {
	if now.After(c.now) {
		c.now = now
	}
	for len(c.expiry) > 0 {
		l := c.expiry[0]
		if !l.over && l.until.After(c.now) {
			return
		}
		c.expiry[0] = nil
		c.expiry = c.expiry[1:]
		if !l.over {
			c.expire(l)
		}
	}
}

// Turn is what one call of Lease comes to.
type Turn struct {
	Leases  []octopus.Lease
	Parks   []Park    // URLs that may not be fetched, to be put aside
	Refills []Refill  // queues to read from the store
	Due     bool      // the due table has entries whose time has come
	Cold    bool      // hosts that are not in memory may have URLs
	Wake    time.Time // when to ask again if nothing else happens; zero for never
}

// Lease hands out up to most URLs that may be fetched at now. Where fewer hosts
// are ready than the fetchers may want, it asks for what the store has first and
// hands out nothing: the caller brings it and calls again. It serves the hosts of
// some buckets; nil stands for all.
func (c *Core) Lease(now time.Time, most int, set []int) (t Turn) {
	c.advance(now)
	c.wake()
	front := max(4*most, 256)
	if c.readyIn(set) < front {
		t.Refills = c.refills(front, set)
		t.Due = !c.nextDue.IsZero() && !c.nextDue.After(c.now)
		t.Cold = c.cold() > 0 && !c.coldAt.After(c.now)
		if len(t.Refills) > 0 || t.Due || t.Cold {
			return t
		}
	}
	for len(t.Leases) < most && len(t.Parks) < parksPerTurn {
		h := c.popReady(set)
		if h == nil {
			break
		}
		if c.waitsForGroup(h) {
			continue
		}
		if l, ok := c.grant(h, &t); ok {
			t.Leases = append(t.Leases, l)
		}
		c.schedule(h)
	}
	t.Wake = c.wakeTime(set)
	return t
}

// wake moves hosts whose time has come to ready.
func (c *Core) wake() {
	for {
		h := c.sleeping.top()
		if h == nil || h.due.After(c.now) {
			return
		}
		c.sleeping.remove(h)
		c.buckets[h.bucket].ready.push(h)
	}
}

// refills returns the hungry hosts that may be asked now, while fewer hosts
// than front are ready.
func (c *Core) refills(front int, set served) (list []Refill) {
	for n := c.readyIn(set); n+len(list) < front; {
		h := c.topHungry(set)
		if h == nil || h.due.After(c.now) {
			break
		}
		h.heap.remove(h)
		h.loading = true
		list = append(list, c.refill(h))
	}
	return list
}

// cold returns how many hosts with URLs are not in memory.
func (c *Core) cold() int64 {
	n := c.totals.Hosts
	if n == 0 {
		return 0
	}
	return n - c.queuing
}

// wakeTime returns the earliest time at which something changes by itself.
func (c *Core) wakeTime(set served) time.Time {
	var t time.Time
	earliest := func(u time.Time) {
		if !u.IsZero() && (t.IsZero() || u.Before(t)) {
			t = u
		}
	}
	if c.readyIn(set) > 0 {
		earliest(c.now)
	}
	if h := c.sleeping.top(); h != nil {
		earliest(h.due)
	}
	if h := c.topHungry(set); h != nil {
		earliest(h.due)
	}
	if len(c.expiry) > 0 {
		earliest(c.expiry[0].until)
	}
	if c.cold() > 0 {
		earliest(c.coldAt)
	}
	earliest(c.nextDue)
	return t
}

// WarmAfter says that hosts that are not in memory need not be looked for before
// t: all of them have just been looked at.
func (c *Core) WarmAfter(t time.Time) { c.coldAt = t }
