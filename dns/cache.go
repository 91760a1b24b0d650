package dns

import (
	"container/list"
	"time"
)

// cache keeps answers by name until they expire, at most limit of them; the
// least recently used one goes first. It is not safe for concurrent use.
type cache struct {
	limit  int
	byName map[string]*list.Element
	recent list.List // of *entry, the last used one in front
}

type entry struct {
	name string
	ans  answer
}

func newCache(limit int) *cache {
	return &cache{limit: limit, byName: map[string]*list.Element{}}
}

// get returns the answer for name unless it has expired.
func (c *cache) get(name string, now time.Time) (answer, bool) {
	el, ok := c.byName[name]
	if !ok {
		return answer{}, false
	}
	e := el.Value.(*entry)
	if !now.Before(e.ans.expires) {
		c.remove(el)
		return answer{}, false
	}
	c.recent.MoveToFront(el)
	return e.ans, true
}

// put stores the answer for name, and drops the oldest one if there are too
// many.
func (c *cache) put(name string, ans answer) {
	if el, ok := c.byName[name]; ok {
		el.Value.(*entry).ans = ans
		c.recent.MoveToFront(el)
		return
	}
	c.byName[name] = c.recent.PushFront(&entry{name, ans})
	if c.recent.Len() > c.limit {
		c.remove(c.recent.Back())
	}
}

func (c *cache) remove(el *list.Element) {
	c.recent.Remove(el)
	delete(c.byName, el.Value.(*entry).name)
}
