package redisfrontier

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"

	"octopus/internal/redisx"
	"octopus/robots"
)

// rulesCache keeps parsed robots.txt groups, the last rulesMost that were used.
type rulesCache struct {
	mu    sync.Mutex
	byKey map[string]*list.Element // guarded by mu
	order list.List                // guarded by mu; of rules, last used first
}

// rulesMost bounds the cache; a group takes a few KB.
const rulesMost = 4096

type rules struct {
	key   string // host and authority
	times string // of the policy the group was made of
	group *robots.Group
}

// group returns the rules of a grant's authority.
func (f *Frontier) group(ctx context.Context, g *grant) (*robots.Group, error) {
	h := g.key.Host()
	field := string(h[:]) + authorityOf(g.rec.link.text)
	if group := f.rules.get(field, g.robots); group != nil {
		return group, nil
	}
	var text string
	err := f.untilItWorks(ctx, func(time.Time) (err error) {
		text, err = f.client.HGet(ctx, f.key(f.bucketOf(g.key), "robots"), field).Result()
		if redisIsNil(err) {
			return nil
		}
		return redisx.Explain(err)
	})
	if err != nil {
		return nil, err
	}
	p, err := decodePolicy(text)
	if err != nil {
		return nil, fmt.Errorf("redisfrontier: robots.txt of %s: %w", g.host, err)
	}
	group := p.For(f.opt.Agent)
	f.rules.put(&rules{key: field, times: g.robots, group: group})
	return group, nil
}

func (c *rulesCache) get(key, times string) *robots.Group {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil || e.Value.(*rules).times != times {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*rules).group
}

func (c *rulesCache) put(r *rules) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey == nil {
		c.byKey = map[string]*list.Element{}
	}
	if old := c.byKey[r.key]; old != nil {
		c.order.Remove(old)
	}
	c.byKey[r.key] = c.order.PushFront(r)
	if c.order.Len() > rulesMost {
		last := c.order.Remove(c.order.Back()).(*rules)
		delete(c.byKey, last.key)
	}
}

// encodePolicy returns the value of the robots table.
func encodePolicy(p *robots.Policy) string {
	var w writer
	w.byte(byte(p.Mode))
	w.time(p.Fetched)
	w.time(p.Next)
	w.uint(uint64(p.Failures))
	w.string(string(p.Text))
	return string(w)
}

func decodePolicy(text string) (p robots.Policy, err error) {
	if text == "" {
		return p, nil
	}
	r := reader{rest: text}
	p.Mode = robots.Mode(r.byte())
	p.Fetched, p.Next = r.time(), r.time()
	p.Failures = int(r.uint())
	p.Text = []byte(r.string())
	return p, r.err
}
