package dns

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	mdns "github.com/miekg/dns"

	"octopus"
)

const (
	maxChain = 8  // aliases followed from one name
	maxAddrs = 32 // addresses kept of one answer
)

// answer is what a look-up found. It is never changed once it is in the cache.
type answer struct {
	addrs   []netip.Addr  // IPv4 first; empty where err is set
	ttl     time.Duration // as the zone says; before Options' bounds
	expires time.Time     // set when it goes into the cache
	kind    octopus.Kind  // of err
	err     error         // why there is no address
}

// error returns the answer's failure for the name, or nil.
func (a answer) error(name string) error {
	if a.err == nil {
		return nil
	}
	return &octopus.Error{Op: "resolve", URL: name, Kind: a.kind, Err: a.err}
}

var (
	errNoSuchName = errors.New("no such name")
	errNoAddress  = errors.New("the name has no address")
	errChain      = fmt.Errorf("more than %d aliases", maxChain)
)

// noHost says that the name does not lead anywhere, for ttl.
func noHost(err error, ttl time.Duration) answer {
	return answer{kind: octopus.KindNoHost, err: err, ttl: ttl}
}

// failed says that no answer could be had now.
func failed(err error) answer { return answer{kind: octopus.KindDNS, err: err} }

// merge makes one answer of those to the A and the AAAA question: addresses
// win, then "could not be asked" over "does not exist", so that nothing is
// taken for dead while a part of the truth is missing.
func merge(a, b answer) answer {
	switch {
	case a.err == nil && b.err == nil:
		return answer{addrs: slices.Concat(a.addrs, b.addrs), ttl: min(a.ttl, b.ttl)}
	case a.err == nil:
		return a
	case b.err == nil:
		return b
	case a.kind == octopus.KindNoHost && b.kind == octopus.KindDNS:
		return b
	case b.kind == octopus.KindNoHost && a.kind == octopus.KindNoHost:
		a.ttl = min(a.ttl, b.ttl)
	}
	return a
}

// reply is what one message says of a name and a type.
type reply struct {
	addrs []netip.Addr
	alias string        // where to ask on; empty where the message ends the chain
	hops  int           // aliases followed inside the message
	ttl   time.Duration // least TTL on the way
	err   error         // errNoSuchName or errNoAddress
}

// read follows the aliases of name through the message, whatever their order,
// and collects the addresses at their end. Records of other names do not count.
func read(m *mdns.Msg, name string, qtype uint16) reply {
	r := reply{ttl: 1 << 62}
	owner := mdns.Fqdn(name)
	for r.hops <= maxChain {
		target := ""
		for _, rr := range m.Answer {
			if !strings.EqualFold(rr.Header().Name, owner) {
				continue
			}
			ttl := time.Duration(rr.Header().Ttl) * time.Second
			if addr, ok := address(rr, qtype); ok && len(r.addrs) < maxAddrs {
				r.addrs, r.ttl = append(r.addrs, addr), min(r.ttl, ttl)
			} else if c, ok := rr.(*mdns.CNAME); ok {
				target, r.ttl = c.Target, min(r.ttl, ttl)
			}
		}
		if len(r.addrs) > 0 {
			return r
		}
		if target == "" {
			break
		}
		r.hops, r.alias, owner = r.hops+1, canonical(target), target
	}
	switch {
	case m.Rcode == mdns.RcodeNameError:
		r.err, r.alias = errNoSuchName, ""
	case r.alias == "" || hasSOA(m):
		r.err, r.alias = errNoAddress, ""
	}
	if r.err != nil {
		r.ttl = min(r.ttl, negativeTTL(m))
	}
	return r
}

// address returns the address of an A or AAAA record of the type asked for.
func address(rr mdns.RR, qtype uint16) (netip.Addr, bool) {
	switch rr := rr.(type) {
	case *mdns.A:
		a, ok := netip.AddrFromSlice(rr.A.To4())
		return a, ok && qtype == mdns.TypeA
	case *mdns.AAAA:
		a, ok := netip.AddrFromSlice(rr.AAAA)
		return a, ok && qtype == mdns.TypeAAAA
	}
	return netip.Addr{}, false
}

func hasSOA(m *mdns.Msg) bool {
	return slices.ContainsFunc(m.Ns, func(rr mdns.RR) bool { return rr.Header().Rrtype == mdns.TypeSOA })
}

// negativeTTL is how long a zone wants a missing name remembered: the smaller of
// its SOA's TTL and minimum (RFC 2308, section 5). Without SOA it says nothing,
// and the time is without limit.
func negativeTTL(m *mdns.Msg) time.Duration {
	for _, rr := range m.Ns {
		if soa, ok := rr.(*mdns.SOA); ok {
			return time.Duration(min(soa.Hdr.Ttl, soa.Minttl)) * time.Second
		}
	}
	return 1 << 62
}
