package frontier

import (
	"bytes"
	"context"
	"crypto/md5"
	"slices"
	"time"

	"octopus"
)

// Refetch queues URLs that were visited again, as if nothing were stored of them,
// and returns how many: what a page store has lost comes back with the next
// crawl. It leaves alone what is not known, queued anyway, parked or bad, and
// requests with a method or body, which a record does not keep.
func (f *Frontier) Refetch(ctx context.Context, keys []octopus.Key) (n int, err error) {
	if err := f.settled(ctx); err != nil {
		return 0, err
	}
	for step := range slices.Chunk(keys, adminStep) {
		var items []Item
		for _, k := range step {
			if known, err := f.recordOf(k); err != nil {
				return n, err
			} else if known != nil {
				items = append(items, Item{key: k})
			}
		}
		done, err := f.changeStep(ctx, items, f.inCore(func(i Item, old *record) bool { return f.core.Refetch(f.opt.Now(), i.key, old) }))
		n += done
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// Refetch queues a URL that was visited; old is its record. It reports whether
// it did.
func (c *Core) Refetch(now time.Time, key octopus.Key, old *record) bool {
	c.advance(now)
	h := c.hosts[key.Host()]
	was := c.record(key, old)
	if h == nil || was == nil || was.visits == 0 || was.state != stateDone && was.state != stateLater {
		return false
	}
	if sum := md5.Sum([]byte(was.text)); !bytes.Equal(sum[:8], key[8:]) {
		return false
	}
	if was.state == stateLater {
		c.unschedule(h, key, was)
		c.countDone(h, 1)
	}
	r := *was
	r.state, r.tries, r.due = stateDone, 0, time.Time{}
	r.last.etag, r.last.lastMod = "", "" // a 304 would bring nothing back
	c.again(h, &octopus.Link{
		URL: octopus.URL{Text: r.text, Host: h.name, Key: key}, Via: r.via, Board: r.board, Kind: r.kind,
		Depth: r.pos.depth(), Hop: int(r.hop), Lane: r.pos.lane(),
	}, &r, false)
	return true
}
