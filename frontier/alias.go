package frontier

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"octopus"
	"octopus/canon"
	"octopus/kv"
)

// A host may stand for another, its alias: links to the alias are taken for links
// to the host, with scheme, port, path and query as they are. What the alias has
// queued is parked with ReasonAlias, and its URL on the host offered: at once by
// Merge, and what comes into that queue later (after a failed attempt, a refresh,
// Revive) when its turn comes.

// aliases says which host stands for which other. It does not change once made;
// what it says leads to no circle.
type aliases map[octopus.HostKey]string

// link returns a link to an alias as one to the host that stands for it; ok is
// false where there is nothing to change. A host that redirects a URL to its alias
// does not answer for it: that link stays as it is.
func (a aliases) link(l octopus.Link) (to octopus.Link, ok bool) {
	to = l
	for host, found := a[l.URL.Key.Host()]; found; host, found = a[to.URL.Key.Host()] {
		u, err := withHost(to.URL, host)
		if err != nil {
			return l, false // longer than a URL may be
		}
		to.URL, ok = u, true
		to.URL.Key = canon.Key(u, l.Method, l.Body)
	}
	if ok && l.Kind == octopus.Redirect && l.Via == to.URL.Text {
		return l, false
	}
	return to, ok
}

// withHost returns u on another host.
func withHost(u octopus.URL, host string) (octopus.URL, error) {
	scheme, authority := canon.Authority(u)
	port := authority[strings.LastIndexByte(authority, ':'):]
	return canon.Parse(scheme + "://" + octopus.HostInURL(host) + port + canon.Target(u))
}

// links is link for many. It does not change what it is given.
func (a aliases) links(links []octopus.Link) []octopus.Link {
	if len(a) == 0 {
		return links
	}
	cloned := false
	for i := range links {
		to, ok := a.link(links[i])
		if !ok {
			continue
		}
		if !cloned {
			links, cloned = slices.Clone(links), true
		}
		links[i] = to
	}
	return links
}

// check tells why the host of into cannot stand for that of alias, or with a zero
// into why that cannot end.
func (a aliases) check(alias, into octopus.URL) error {
	of, merged := a[into.Key.Host()]
	switch {
	case into.IsZero() && a[alias.Key.Host()] == "":
		return fmt.Errorf("no host stands for %s", alias.Host)
	case into.Key.Host() == alias.Key.Host():
		return fmt.Errorf("%s cannot stand for itself", into.Host)
	case merged:
		return fmt.Errorf("%s cannot stand for %s: it is an alias of %s itself", into.Host, alias.Host, of)
	}
	return nil
}

// readAliases reads the table of a job.
func readAliases(store kv.Store, keys keyspace) (aliases, error) {
	a := aliases{}
	lo := keys.table(tableAlias)
	err := store.Scan(lo, after(lo), func(key, value []byte) error {
		a[octopus.HostKey(key[len(lo):])] = string(value)
		return nil
	})
	if err != nil {
		err = fmt.Errorf("frontier: read aliases: %w", err)
	}
	return a, err
}

// SetAlias has the host of into stand for that of alias, which must be in memory,
// from now on; a zero into ends that.
func (c *Core) SetAlias(alias, into octopus.URL) error {
	if err := c.aliases.check(alias, into); err != nil {
		return err
	}
	h := alias.Key.Host()
	c.aliases = maps.Clone(c.aliases)
	if into.IsZero() {
		delete(c.aliases, h)
		c.out.Delete(c.keys.alias(h))
	} else {
		c.aliases[h] = into.Host
		c.out.Set(c.keys.alias(h), []byte(into.Host))
	}
	c.touch(c.hosts[h])
	return nil
}

// elsewhere returns the link that e, an entry of h, is taken for where another
// host stands for h.
func (c *Core) elsewhere(h *host, e *entry) (to octopus.Link, ok bool) {
	if c.aliases[h.key] == "" {
		return to, false
	}
	return c.aliases.link(e.link(h, e.key(h)))
}

// elsewhere reports whether the record is of a URL that is parked because another
// stood for it. A link that is not taken for that one, because the host redirects
// to the alias or is one of its own again, queues it.
func (r *record) elsewhere() bool { return r.state == stateParked && r.reason == octopus.ReasonAlias }

// standIn is the detail of a URL that is parked because to stands for it.
func standIn(to octopus.Link) string { return to.URL.Text + " stands for it" }

// Merge has into, a host with known URLs, stand for the host of alias from now on,
// durably, and moves there what that has queued. It returns how many URLs it moved:
// each is parked with ReasonAlias and offered as a URL of into, in one commit. What
// is handed out stays where it is.
func (f *Frontier) Merge(ctx context.Context, alias, into octopus.URL) (moved int, err error) {
	if err := f.MayMerge(ctx, alias, into); err != nil {
		return 0, err
	}
	if err := f.setAlias(ctx, alias, into); err != nil {
		return 0, err
	}
	return f.change(ctx, ListQueued, Filter{Host: alias}, func(i Item, old *record) (bool, error) {
		f.mu.Lock()
		to, ok := f.core.elsewhere(f.core.hosts[i.key.Host()], i.entry)
		f.mu.Unlock()
		if !ok {
			return false, nil
		}
		return f.divert(ctx, i.key, to, func() bool {
			return f.core.Drop(f.opt.Now(), i.key, i.entry, old, octopus.ReasonAlias, standIn(to))
		})
	})
}

// MayMerge tells why Merge would refuse; nil where it would not.
func (f *Frontier) MayMerge(ctx context.Context, alias, into octopus.URL) error {
	h, _, err := f.Host(ctx, into)
	if err == nil && h.Known == 0 {
		err = fmt.Errorf("%s cannot stand for %s: none of its URLs is known", into.Host, alias.Host)
	}
	return cmp.Or(err, f.alias.Load().check(alias, into))
}

// Unmerge ends that another host stands for that of alias: later links to it are
// its own again. What was moved stays moved until Revive.
func (f *Frontier) Unmerge(ctx context.Context, alias octopus.URL) error {
	return f.setAlias(ctx, alias, octopus.URL{})
}

func (f *Frontier) setAlias(ctx context.Context, alias, into octopus.URL) error {
	return f.changeHost(ctx, alias, func(time.Time, octopus.HostKey) error {
		if err := f.core.SetAlias(alias, into); err != nil {
			return err
		}
		now := f.core.aliases
		f.alias.Store(&now)
		return nil
	})
}

// divert has park put the URL of key aside, and offers the one that stands for it in
// the same commit. The caller holds write.
func (f *Frontier) divert(ctx context.Context, key octopus.Key, to octopus.Link, park func() bool) (parked bool, err error) {
	links, rest := []octopus.Link{to}, []int{0}
	look, err := f.look(ctx, links, rest)
	if err != nil {
		return false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.usable(); err != nil {
		return false, err
	}
	if parked = park(); parked {
		f.index.Load().reopen(key)
	}
	if parked || f.opt.Seen != nil { // the seen set has taken it for met
		f.offer(links, rest, look, nil)
	}
	return parked, nil
}
