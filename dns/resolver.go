package dns

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	mdns "github.com/miekg/dns"

	"octopus"
)

// Resolver turns host names into addresses. All methods may be called by many
// goroutines at once. It holds no socket and no goroutine between look-ups, so
// there is nothing to close.
type Resolver struct {
	opt    Options
	hosts  hosts
	dialer net.Dialer

	mu     sync.Mutex
	cache  *cache           // guarded by mu
	flight map[string]*call // guarded by mu: look-ups under way
}

// call is one look-up and those who wait for it.
type call struct {
	done    chan struct{}      // closed once ans is set
	ans     answer             // readable after done
	waiters int                // guarded by Resolver.mu
	cancel  context.CancelFunc // stops the look-up; called when the last waiter left
}

// New returns a Resolver. It reads the system's configuration where opt does
// not replace it, and sends nothing.
func New(opt Options) *Resolver {
	opt = opt.withDefaults()
	return &Resolver{
		opt:    opt,
		hosts:  readHosts(opt.Hosts),
		cache:  newCache(opt.MaxEntries),
		flight: map[string]*call{},
	}
}

// LookupNetIP returns the addresses of host, IPv4 ones first; at least one,
// each without zone and not in IPv4-mapped form. An IP literal, with or without
// brackets, is returned as it is. The slice is the caller's.
//
// Errors are of type *octopus.Error: KindNoHost where the name does not exist
// or has no address, KindDNS where that cannot be known now, KindCanceled where
// ctx was cancelled.
func (r *Resolver) LookupNetIP(ctx context.Context, host string) ([]netip.Addr, error) {
	a := r.resolve(ctx, canonical(host))
	return slices.Clone(a.addrs), a.error(host)
}

// resolve answers from what is known, or asks.
func (r *Resolver) resolve(ctx context.Context, name string) answer {
	if addr, ok := literal(name); ok {
		return answer{addrs: []netip.Addr{addr}, expires: r.opt.Now().Add(r.opt.MaxTTL)}
	}
	if addrs, ok := r.hosts.lookup(name); ok {
		return answer{addrs: addrs, expires: r.opt.Now().Add(r.opt.MinTTL)}
	}
	if err := check(name); err != nil {
		return noHost(err, r.opt.NegativeTTL)
	}
	r.mu.Lock()
	if a, ok := r.cache.get(name, r.opt.Now()); ok {
		r.mu.Unlock()
		return a
	}
	c := r.join(name)
	r.mu.Unlock()
	select {
	case <-c.done:
		return c.ans
	case <-ctx.Done():
		r.leave(name, c)
		return interrupted(ctx)
	}
}

// join returns the look-up of name that is under way, or starts one. r.mu is
// held.
func (r *Resolver) join(name string) *call {
	if c, ok := r.flight[name]; ok {
		c.waiters++
		return c
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*r.opt.TryTimeout)
	c := &call{done: make(chan struct{}), waiters: 1, cancel: cancel}
	r.flight[name] = c
	go r.run(ctx, name, c)
	return c
}

// leave takes one waiter off the call. The last one ends the look-up: nobody
// wants it any more.
func (r *Resolver) leave(name string, c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.waiters--; c.waiters == 0 {
		c.cancel()
		r.forget(name, c)
	}
}

// forget takes the call off the look-ups under way. r.mu is held.
func (r *Resolver) forget(name string, c *call) {
	if r.flight[name] == c {
		delete(r.flight, name)
	}
}

// run makes the look-up of one call and tells its waiters. It ends with ctx,
// which is the call's own.
func (r *Resolver) run(ctx context.Context, name string, c *call) {
	defer c.cancel()
	ans := r.lookup(ctx, name)
	r.mu.Lock()
	defer r.mu.Unlock()
	if keep := r.lifetime(ans); keep > 0 && !errors.Is(ctx.Err(), context.Canceled) {
		ans.expires = r.opt.Now().Add(keep)
		r.cache.put(name, ans)
	}
	r.forget(name, c)
	c.ans = ans
	close(c.done)
}

// lifetime is how long an answer is kept.
func (r *Resolver) lifetime(a answer) time.Duration {
	switch {
	case a.err == nil:
		return max(min(a.ttl, r.opt.MaxTTL), r.opt.MinTTL)
	case a.kind == octopus.KindNoHost:
		return max(min(a.ttl, r.opt.NegativeTTL), min(r.opt.MinTTL, r.opt.NegativeTTL))
	default:
		return r.opt.FailureTTL
	}
}

// lookup asks for IPv4 and IPv6 addresses at once.
func (r *Resolver) lookup(ctx context.Context, name string) answer {
	var v4, v6 answer
	var both sync.WaitGroup
	both.Go(func() { v6 = r.chase(ctx, name, mdns.TypeAAAA) })
	v4 = r.chase(ctx, name, mdns.TypeA)
	both.Wait()
	return merge(v4, v6)
}

// chase asks for addresses of one family, and asks on where a server returns an
// alias without what it stands for.
func (r *Resolver) chase(ctx context.Context, name string, qtype uint16) answer {
	ttl := r.opt.MaxTTL
	for hops := 0; hops <= maxChain; {
		m, err := r.exchange(ctx, name, qtype)
		if err != nil {
			return failed(err)
		}
		got := read(m, name, qtype)
		ttl = min(ttl, got.ttl)
		hops += got.hops
		switch {
		case hops > maxChain:
		case got.err != nil:
			return noHost(got.err, ttl)
		case got.alias == "" || len(got.addrs) > 0:
			return answer{addrs: got.addrs, ttl: ttl}
		default:
			name = got.alias
		}
	}
	return noHost(errChain, ttl)
}

// literal reads an IP address, with or without the brackets of a URL. One with
// a zone is none: it means nothing outside this machine.
func literal(name string) (netip.Addr, bool) {
	if len(name) > 2 && name[0] == '[' && name[len(name)-1] == ']' {
		name = name[1 : len(name)-1]
	}
	addr, err := netip.ParseAddr(name)
	return addr.Unmap(), err == nil && addr.Zone() == ""
}

// check refuses what is no host name. A last label that is a number makes a
// name an IPv4 address in the eyes of browsers (WHATWG URL, "ends in a number").
func check(name string) error {
	if _, ok := mdns.IsDomainName(name); !ok || name == "" || strings.ContainsAny(name, " %:[]/\\@\x00\r\n\t") {
		return errors.New("not a host name")
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	hex := strings.HasPrefix(last, "0x") && strings.Trim(last[2:], "0123456789abcdef") == ""
	if hex || strings.Trim(last, "0123456789") == "" {
		return errors.New("a number is not a host name")
	}
	return nil
}

// interrupted is the answer to a waiter that could not wait.
func interrupted(ctx context.Context) answer {
	kind := octopus.KindDNS
	if errors.Is(ctx.Err(), context.Canceled) {
		kind = octopus.KindCanceled
	}
	return answer{kind: kind, err: context.Cause(ctx)}
}
