package container

import (
	"bytes"
	"context"
	"fmt"

	"octopus"
	"octopus/canon"
)

// PurgeURL removes every version of a URL from the disk, for takedown: the
// segments that hold one, or a revisit that names one, are rewritten. Payloads
// that other URLs share stay with those.
func (c *Container) PurgeURL(ctx context.Context, u octopus.URL, progress Progress) (Rewritten, error) {
	return c.purge(ctx, progress, func(k octopus.Key) bool { return bytes.Equal(k[8:], u.Key[8:]) },
		func(url string) bool { return url == u.Text })
}

// PurgeHost removes every version of every URL of a host, as PurgeURL does.
func (c *Container) PurgeHost(ctx context.Context, host string, progress Progress) (Rewritten, error) {
	u, err := canon.Parse("http://" + octopus.HostInURL(host) + "/")
	if err != nil || u.Host == "" {
		return Rewritten{}, fmt.Errorf("container: purge host %q: it is not a host name: %w", host, err)
	}
	return c.purge(ctx, progress, func(k octopus.Key) bool { return bytes.Equal(k[4:8], u.Key[4:8]) },
		func(url string) bool { p, err := canon.Parse(url); return err == nil && p.Host == u.Host })
}

// purge removes the units whose key seems right and whose URL is.
func (c *Container) purge(ctx context.Context, progress Progress, seems func(octopus.Key) bool, is func(url string) bool) (Rewritten, error) {
	c.rewriting.Lock()
	defer c.rewriting.Unlock()
	r := &rewrite{Container: c, victims: map[int]bool{}, touched: map[int]bool{}}
	r.dead = func(l link) bool {
		if !seems(l.key) {
			return false
		}
		rec, err := c.head(l.at)
		return err == nil && is(rec.TargetURI)
	}
	payloads := map[[20]byte]bool{}
	for _, s := range c.list() {
		err := s.each(func(e keyEntry) error {
			if r.dead(link{e, e.address(s.number)}) {
				r.victims[s.number] = true
				payloads[e.digest] = payloads[e.digest] || e.kind == Full
			}
			return ctx.Err()
		})
		if err != nil {
			return r.sum, err
		}
	}
	for _, s := range c.list() {
		err := s.each(func(e keyEntry) error {
			if e.kind != Full && payloads[e.digest] {
				r.victims[s.number] = true
			}
			return nil
		})
		if err != nil {
			return r.sum, err
		}
	}
	err := r.run(ctx, progress)
	return r.sum, err
}
