package fetch

import (
	"slices"
	"sync"
	"time"
)

// idleFor is how long a connection is kept without a request.
const idleFor = 30 * time.Second

// idle keeps connections for the next request to the same origin: perHost of one
// at most, most in all, each for idleFor. It closes the oldest first.
type idle struct {
	perHost, most int

	mu       sync.Mutex
	byOrigin map[origin][]*h1 // guarded by mu; the last was put by last
	oldest   h1               // guarded by mu: its next is the oldest, its prev the newest of a ring
	n        int              // guarded by mu
	timer    *time.Timer      // guarded by mu: calls expire; nil while nothing is kept
	closed   bool             // guarded by mu
}

func newIdle(perHost, most int) *idle {
	k := &idle{perHost: perHost, most: most, byOrigin: map[origin][]*h1{}}
	k.oldest.next, k.oldest.prev = &k.oldest, &k.oldest
	return k
}

// get returns a connection that is still open as far as one can see; nil where
// there is none.
func (k *idle) get(at origin) *h1 {
	for {
		k.mu.Lock()
		list := k.byOrigin[at]
		if len(list) == 0 {
			k.mu.Unlock()
			return nil
		}
		c := list[len(list)-1]
		k.remove(c)
		k.mu.Unlock()
		if c.alive() {
			return c
		}
		c.Close()
	}
}

// put takes a connection back, or closes it.
func (k *idle) put(c *h1) {
	k.mu.Lock()
	var drop *h1
	switch list := k.byOrigin[c.origin]; {
	case k.closed || len(list) >= k.perHost:
		k.mu.Unlock()
		c.Close()
		return
	case k.n >= k.most:
		drop = k.oldest.next
		k.remove(drop)
	}
	c.since = time.Now()
	c.prev, c.next = k.oldest.prev, &k.oldest
	c.prev.next, c.next.prev = c, c
	k.byOrigin[c.origin] = append(k.byOrigin[c.origin], c)
	k.n++
	if k.timer == nil {
		k.timer = time.AfterFunc(idleFor, k.expire)
	}
	k.mu.Unlock()
	if drop != nil {
		drop.Close()
	}
}

// remove takes c out. The caller holds mu.
func (k *idle) remove(c *h1) {
	c.prev.next, c.next.prev = c.next, c.prev
	c.prev, c.next = nil, nil
	k.n--
	list := k.byOrigin[c.origin]
	if len(list) == 1 {
		delete(k.byOrigin, c.origin)
		return
	}
	i := slices.Index(list, c)
	k.byOrigin[c.origin] = slices.Delete(list, i, i+1)
}

// expire closes what was kept long enough.
func (k *idle) expire() {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	for c := k.oldest.next; c != &k.oldest; c = k.oldest.next {
		if left := idleFor - now.Sub(c.since); left > 0 {
			k.timer = time.AfterFunc(left, k.expire)
			return
		}
		k.remove(c)
		c.Close()
	}
	k.timer = nil
}

// close closes all connections, and those that come back later.
func (k *idle) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	if k.timer != nil {
		k.timer.Stop()
	}
	for c := k.oldest.next; c != &k.oldest; c = k.oldest.next {
		k.remove(c)
		c.Close()
	}
}
