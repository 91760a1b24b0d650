package fetch

import (
	"fmt"
	"net/netip"
	"slices"
)

// guard decides which addresses may be reached.
type guard struct {
	allow []netip.Prefix // open although not public
}

// check returns nil if addr may be reached.
func (g guard) check(addr netip.Addr) error {
	addr = addr.WithZone("").Unmap()
	covers := func(p netip.Prefix) bool { return p.Contains(addr) }
	if slices.ContainsFunc(g.allow, covers) {
		return nil
	}
	if v4, ok := embedded(addr); ok {
		if err := g.check(v4); err != nil {
			return fmt.Errorf("%v stands for %w", addr, err)
		}
		return nil
	}
	if !addr.IsValid() || slices.ContainsFunc(notPublic, covers) {
		return fmt.Errorf("%v is not a public address; --allow-net %v/%d permits it", addr, addr, addr.BitLen())
	}
	return nil
}

// notPublic is every network a crawler has no business in: the special-purpose
// registries of IANA, multicast, and the agent addresses of clouds.
var notPublic = prefixes(
	"0.0.0.0/8",         // this network
	"10.0.0.0/8",        // private
	"100.64.0.0/10",     // carrier-grade NAT; metadata of some clouds
	"127.0.0.0/8",       // loopback
	"168.63.129.16/32",  // agent of a cloud, inside a public range
	"169.254.0.0/16",    // link-local; metadata of most clouds
	"172.16.0.0/12",     // private
	"192.0.0.0/24",      // protocol assignments
	"192.0.2.0/24",      // documentation
	"192.88.99.0/24",    // 6to4 relays
	"192.168.0.0/16",    // private
	"198.18.0.0/15",     // benchmarks
	"198.51.100.0/24",   // documentation
	"203.0.113.0/24",    // documentation
	"224.0.0.0/4",       // multicast
	"240.0.0.0/4",       // reserved, broadcast
	"::/128", "::1/128", // unspecified, loopback
	"64:ff9b:1::/48", // local translation
	"100::/64",       // discard
	"2001::/23",      // protocol assignments, Teredo
	"2001:db8::/32",  // documentation
	"3fff::/20",      // documentation
	"5f00::/16",      // segment routing
	"fc00::/7",       // private
	"fe80::/10",      // link-local
	"fec0::/10",      // site-local
	"ff00::/8",       // multicast
)

// carriers are the IPv6 networks whose addresses stand for an IPv4 address, and
// where in the address it lies.
var carriers = []struct {
	net netip.Prefix
	at  int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12}, // translation (RFC 6052)
	{netip.MustParsePrefix("2002::/16"), 2},     // 6to4 (RFC 3056)
	{netip.MustParsePrefix("::/96"), 12},        // IPv4-compatible (RFC 4291)
}

// embedded returns the IPv4 address that an IPv6 address stands for.
func embedded(addr netip.Addr) (netip.Addr, bool) {
	if !addr.Is6() || addr.IsUnspecified() || addr.IsLoopback() {
		return netip.Addr{}, false
	}
	for _, c := range carriers {
		if c.net.Contains(addr) {
			b := addr.As16()
			return netip.AddrFrom4([4]byte(b[c.at:])), true
		}
	}
	return netip.Addr{}, false
}

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, s := range texts {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}
