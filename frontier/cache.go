package frontier

import "octopus"

// cache keeps records in front of the store: those written last and those read
// last, each in the one place that its key has. What it holds is what the store
// has: it is read and changed only by those who hold Frontier.write, and Written
// brings it up to date. Its size is fixed: a few hundred bytes for each record.
type cache []cached

type cached struct {
	key octopus.Key
	*record
}

// newCache returns a cache of n records; none for 0 and less.
func newCache(n int) cache { return make(cache, max(n, 0)) }

// get returns the record of key, nil where the cache does not have it.
func (c cache) get(key octopus.Key) *record {
	if len(c) == 0 {
		return nil
	}
	if p := c.place(key); p.key == key {
		return p.record
	}
	return nil
}

// put keeps r, which must not change any more.
func (c cache) put(key octopus.Key, r *record) {
	if len(c) > 0 && r != nil {
		*c.place(key) = cached{key, r}
	}
}

func (c cache) place(key octopus.Key) *cached { return &c[fingerprint(key)%uint64(len(c))] }
