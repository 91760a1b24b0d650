package dns

import (
	"bufio"
	"io"
	"net/netip"
	"slices"
	"strings"
)

// hosts maps a name, lower case and without a trailing dot, to its addresses.
type hosts map[string][]netip.Addr

// parseHosts reads the format of /etc/hosts: an address, then its names;
// comments start with "#". Lines it cannot read are skipped, as every other
// reader of that file does.
func parseHosts(r io.Reader) hosts {
	h := hosts{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		addr, err := netip.ParseAddr(fields[0])
		if err != nil {
			continue
		}
		for _, name := range fields[1:] {
			name = canonical(name)
			if !slices.Contains(h[name], addr) {
				h[name] = append(h[name], addr)
			}
		}
	}
	return h
}

// lookup returns the addresses of name. "localhost" and all names under it are
// the loopback addresses (RFC 6761, section 6.3), whatever the file says.
func (h hosts) lookup(name string) ([]netip.Addr, bool) {
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, true
	}
	addrs, ok := h[name]
	return addrs, ok
}

// canonical returns the name in lower case, without a trailing dot.
func canonical(name string) string {
	return strings.ToLower(strings.TrimSuffix(name, "."))
}
