package frontier

import (
	"crypto/md5"
	"encoding/binary"
	"math/bits"
)

// Buckets give fetchers affinity to hosts: each host is in one bucket, each
// bucket is served by one fetcher at a time. They lock nothing; gaps and leases
// do.
type Buckets struct {
	// Count is the number of buckets (master.bucket.count). Default 1.
	Count int
	// Limit is the number of URLs in memory over which a bucket overflows
	// (master.bucket.limit). Default QueueLimit / Count.
	Limit int
	// Picker chooses the bucket of a host (master.bucket.picker): "hash"
	// (default) takes MD5(host) mod Count; "advanced" starts from there and moves
	// a host whose bucket overflows to the lightest one, until nothing of the
	// host is queued.
	Picker string
}

// bucket is the part of the hosts that one fetcher serves.
type bucket struct {
	ready  hostHeap
	hungry hostHeap
	urls   int // entries in memory, leased ones not counted
}

func newBuckets(n int, before func(a, b *host) bool) []*bucket {
	list := make([]*bucket, n)
	for i := range list {
		list[i] = &bucket{ready: hostHeap{less: before}, hungry: hostHeap{less: byDue}}
	}
	return list
}

// Home is the bucket of a host by its name: MD5(host) mod n.
func Home(host string, n int) int {
	sum := md5.Sum([]byte(host))
	hi, lo := binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:])
	return int(bits.Rem64(hi, lo, uint64(n)))
}

// hold counts n entries of h that came into memory, or left it.
func (c *Core) hold(h *host, n int) {
	c.inMemory += n
	c.buckets[h.bucket].urls += n
	if n > 0 && c.opt.Buckets.Picker == "advanced" {
		c.divert(h)
	}
}

// divert moves the whole of h to the lightest bucket where its own overflows, and
// that makes the crowd smaller. A host with leases stays: it is never in two
// buckets at once.
func (c *Core) divert(h *host) {
	from := c.buckets[h.bucket]
	if from.urls <= c.opt.Buckets.Limit || len(h.out) > 0 || h.inflight > 0 {
		return
	}
	best := h.bucket
	for i, b := range c.buckets {
		if b.urls < c.buckets[best].urls {
			best = i
		}
	}
	own := h.inMemory()
	if best == h.bucket || c.buckets[best].urls+own >= from.urls {
		return
	}
	from.urls -= own
	c.buckets[best].urls += own
	h.bucket, h.away = best, true
	c.schedule(h)
}

// settle takes a host whose queue is empty back to its home bucket.
func (c *Core) settle(h *host) {
	if !h.away || h.queued() > 0 || len(h.out) > 0 || h.inflight > 0 {
		return
	}
	h.bucket, h.away = Home(h.name, len(c.buckets)), false
}

// served is the set of buckets of one Lease; nil stands for all.
type served []int

// each calls do for the buckets of the set.
func (c *Core) each(set served, do func(*bucket)) {
	if set == nil {
		for _, b := range c.buckets {
			do(b)
		}
		return
	}
	for _, i := range set {
		do(c.buckets[i])
	}
}

// readyIn counts the hosts that may be asked now.
func (c *Core) readyIn(set served) (n int) {
	c.each(set, func(b *bucket) { n += b.ready.len() })
	return n
}

// popReady takes the host that goes next out of its heap, nil where none may.
func (c *Core) popReady(set served) *host {
	var best *bucket
	c.each(set, func(b *bucket) {
		if b.ready.len() > 0 && (best == nil || c.before(b.ready.top(), best.ready.top())) {
			best = b
		}
	})
	if best == nil {
		return nil
	}
	return best.ready.pop()
}

// topHungry returns the hungry host that is due first, nil where there is none.
func (c *Core) topHungry(set served) (h *host) {
	c.each(set, func(b *bucket) {
		if t := b.hungry.top(); t != nil && (h == nil || byDue(t, h)) {
			h = t
		}
	})
	return h
}
