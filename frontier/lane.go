package frontier

import (
	"time"

	"octopus"
)

// A lane of a host is cleared by raising its generation: what stands in older
// ones is no longer queued, whatever its record says. One DeleteRange takes it
// off the disk. The URLs stay known, count as parked, and are queued again when
// they are offered again.

// cleared reports whether the record is of a URL that was queued when its lane
// was cleared.
func (h *host) cleared(r *record) bool {
	return r.state == stateQueued && r.pos.generation() < h.Gen[r.pos.lane()]
}

// LeasedOf returns the URLs of a host that are handed out.
func (c *Core) LeasedOf(key octopus.HostKey) (keys []octopus.Key) {
	for _, l := range c.hosts[key].out {
		keys = append(keys, l.key)
	}
	return keys
}

// ClearLane empties one lane of a host, which must be in memory, and returns how
// many URLs went. What is handed out stays; records has the store's records of
// those (LeasedOf).
func (c *Core) ClearLane(now time.Time, key octopus.HostKey, lane octopus.Lane, records map[octopus.Key]*record) int64 {
	c.advance(now)
	h := c.hosts[key]
	if h.Queued[lane] == 0 {
		return 0
	}
	q := &h.lanes[lane]
	gone := h.Queued[lane] - int64(q.leased)
	was := h.queued()
	lo := c.keys.table(tableQueue, key[:], []byte{byte(lane)})
	lo = append([]byte(nil), lo...)
	h.Gen[lane]++
	hi := c.keys.queue(key, position{byte(lane)}.withGeneration(h.Gen[lane]))
	c.out.DeleteRange(lo, hi)
	c.hold(h, -len(q.fifo))
	q.fifo, q.upto = nil, position{}
	for i, e := range h.pending {
		if e.text != "" && e.pos.lane() == lane {
			h.pending[i] = &entry{}
		}
	}
	h.Queued[lane], h.Head[lane] = 0, position{}
	c.totals.Queued -= was - h.queued()
	c.totals.Parked += gone
	h.Parked += gone
	if h.queued() == 0 {
		c.totals.Hosts--
		c.queuing--
	}
	c.keepLeased(h, lane, records)
	c.touch(h)
	c.schedule(h)
	return gone
}

// keepLeased moves what is handed out of a cleared lane to the new generation.
func (c *Core) keepLeased(h *host, lane octopus.Lane, records map[octopus.Key]*record) {
	for _, l := range h.out {
		if l.entry == nil || l.entry.pos.lane() != lane {
			continue
		}
		e := *l.entry
		e.pos = e.pos.withGeneration(h.Gen[lane])
		l.entry = &e
		c.enqueueDisk(h, &e)
		r := c.record(l.key, records[l.key])
		kept := *r
		kept.pos = e.pos
		c.save(l.key, &kept)
	}
}

// inject queues a URL whose lane was cleared before.
func (c *Core) inject(h *host, l *octopus.Link, old *record) {
	r := *old
	depth := min(r.pos.depth(), l.Depth)
	r.pos, r.hop = c.place(h, l).withDepth(depth), uint8(l.Hop)
	c.totals.Parked--
	h.Parked--
	c.enqueue(h, newEntry(l, &r))
	c.save(l.URL.Key, &r)
	c.schedule(h)
}
