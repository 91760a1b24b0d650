package benchweb

import (
	"net/netip"
	"strconv"
	"strings"
)

const firstAddress = 127<<24 | 1<<16 | 1 // 127.1.0.1

// address returns the loopback address of a host.
func address(host int) netip.Addr {
	a := uint32(firstAddress + host)
	return netip.AddrFrom4([4]byte{byte(a >> 24), byte(a >> 16), byte(a >> 8), byte(a)})
}

// hostOf returns the number of the host that a Host field means: an address or a
// name, with or without a port; -1 for any other.
func (s *site) hostOf(field string) int {
	field, _, _ = strings.Cut(field, ":")
	if name, ok := strings.CutSuffix(field, ".test"); ok && strings.HasPrefix(name, "h") {
		return s.checked(name[1:])
	}
	a, err := netip.ParseAddr(field)
	if err != nil || !a.Is4() {
		return -1
	}
	q := a.As4()
	n := int(q[0])<<24 | int(q[1])<<16 | int(q[2])<<8 | int(q[3])
	if n < firstAddress || n >= firstAddress+s.opt.Hosts {
		return -1
	}
	return n - firstAddress
}

func (s *site) checked(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || n >= s.opt.Hosts {
		return -1
	}
	return n
}

// pageOf returns the number of the page of a host that a path means, or -1.
func (s *site) pageOf(host int, path string) int {
	if host < 0 {
		return -1
	}
	if path == "/" {
		return host * s.opt.Pages
	}
	digits, ok := strings.CutPrefix(path, "/p/")
	if !ok {
		return -1
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n >= s.opt.Pages {
		return -1
	}
	return host*s.opt.Pages + n
}
