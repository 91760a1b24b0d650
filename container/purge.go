package container

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"octopus"
	"octopus/canon"
	"octopus/warc"
)

// PurgeURL removes every version of a URL from the disk, for takedown: the
// segments that hold one, or a revisit that names one, are rewritten. Answers to
// requests of it with other methods go too. Payloads that other URLs share stay
// with those. The error names files beside the segments that may still hold it.
func (c *Container) PurgeURL(ctx context.Context, u octopus.URL, progress Progress) (Rewritten, error) {
	return c.purge(ctx, progress, u.Key, func(k octopus.Key) bool { return bytes.Equal(k[8:], u.Key[8:]) },
		func(url string) bool { return url == u.Text })
}

// PurgeHost removes every version of every URL of a host, as PurgeURL does.
func (c *Container) PurgeHost(ctx context.Context, host string, progress Progress) (Rewritten, error) {
	u, err := canon.Parse("http://" + octopus.HostInURL(host) + "/")
	if err != nil || u.Host == "" {
		return Rewritten{}, fmt.Errorf("container: purge host %q: it is not a host name: %w", host, err)
	}
	return c.purge(ctx, progress, u.Key, func(octopus.Key) bool { return true },
		func(url string) bool { p, err := canon.Parse(url); return err == nil && p.Host == u.Host })
}

// purge removes the units of a host whose URL is right, or whose key seems so where
// the record can't be read any more.
func (c *Container) purge(ctx context.Context, progress Progress, host octopus.Key, seems func(octopus.Key) bool, is func(url string) bool) (Rewritten, error) {
	c.rewriting.Lock()
	defer c.rewriting.Unlock()
	r := &rewrite{Container: c, victims: map[int]bool{}, touched: map[int]bool{}}
	r.dead = func(l link) bool {
		if !bytes.Equal(l.key[4:8], host[4:8]) {
			return false
		}
		rec, err := c.head(l.at)
		if errors.Is(err, warc.ErrFormat) || errors.Is(err, io.ErrUnexpectedEOF) {
			return seems(l.key)
		}
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
	return r.sum, errors.Join(r.run(ctx, progress), c.putAside())
}

// putAside is an error that names the files to which recovery moved bytes of
// segments, if there are any.
func (c *Container) putAside() error {
	all, err := c.opt.FS.List(c.opt.Dir)
	if err != nil {
		return fmt.Errorf("list %s: %w", c.opt.Dir, err)
	}
	all = slices.DeleteFunc(all, func(name string) bool {
		return !strings.HasSuffix(name, ".damaged") || strings.HasSuffix(name, keySuffix+".damaged")
	})
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	return fmt.Errorf("container: what recovery put aside in %s may hold it too: remove %s", c.opt.Dir, strings.Join(all, ", "))
}
