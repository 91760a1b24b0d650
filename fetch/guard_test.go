package fetch_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"octopus"
	"octopus/fetch"
)

// refused are addresses in many spellings, none of which may be reached.
var refused = []string{
	"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "100.127.255.255",
	"127.0.0.1", "127.0.0.2", "127.255.255.254", "168.63.129.16", "169.254.0.1", "169.254.169.254", "169.254.170.2",
	"172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.0.1", "192.168.255.255",
	"198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
	"[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:10.0.0.1]", "[::ffff:169.254.169.254]",
	"[::ffff:0:0]", "[::127.0.0.1]", "[::7f00:1]", "[::a00:1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::a00:1]", "[64:ff9b::a9fe:a9fe]",
	"[64:ff9b:1::1]", "[64:ff9b:1:ffff::808:808]", "[100::1]", "[2001::1]", "[2001:0:4136:e378:8000:63bf:3fff:fdd2]", "[2001:db8::1]",
	"[2001:10::1]", "[2002:7f00:1::]", "[2002:a00:1::1]", "[2002:a9fe:a9fe::]", "[2002:c0a8:1::]", "[3fff::1]", "[5f00::1]",
	"[fc00::1]", "[fd00:ec2::254]", "[fdff::1]", "[fe80::1]", "[fe80::1%25lo]", "[febf::1]", "[fec0::1]", "[feff::1]", "[ff02::1]", "[ff0e::1]",
}

// spellings are not addresses to a resolver, so they lead nowhere; the C
// library would take them for loopback.
var spellings = []string{"127.1", "2130706433", "0x7f.1", "0x7f000001", "0177.0.0.1", "017700000001", "0", "0x0", "127.0.1",
	"127.0.0.1.", "１２７.0.0.1", "[::1%25lo]", "localhost.localdomain"}

// honeypot counts the connections it gets on loopback.
func honeypot(t *testing.T) (port string, hits *atomic.Int64) {
	hits = new(atomic.Int64)
	url := listen(t, func(net.Conn, <-chan struct{}) { hits.Add(1) })
	_, port, _ = net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	return port, hits
}

func TestPrivateAddressesAreRefused(t *testing.T) {
	port, hits := honeypot(t)
	if len(refused)+len(spellings) < 60 {
		t.Fatal("the table has become too small")
	}
	guarded := fetcher(t, fetch.Options{AllowNet: []netip.Prefix{netip.MustParsePrefix("9.9.9.9/32")}})
	check := func(host string, kinds ...octopus.Kind) {
		t.Helper()
		for _, scheme := range []string{"http", "https"} {
			url := fmt.Sprintf("%s://%s/", scheme, net.JoinHostPort(strings.Trim(host, "[]"), port))
			for _, l := range []octopus.Lease{lease(url), robots(url)} {
				p := guarded.Fetch(t.Context(), l)
				if p.Err == nil || p.Status != 0 || !slices.Contains(kinds, p.Err.Kind) {
					t.Errorf("%s: got %d, %v; want one of %v", url, p.Status, p.Err, kinds)
				}
				if p.Err != nil && p.Err.Kind == octopus.KindForbidden && !strings.Contains(p.Err.Error(), "--allow-net") {
					t.Errorf("the refusal of %s does not name the way out: %v", host, p.Err)
				}
			}
		}
	}
	for _, host := range refused {
		check(host, octopus.KindForbidden)
	}
	for _, host := range spellings {
		check(host, octopus.KindForbidden, octopus.KindNoHost, octopus.KindOther, octopus.KindConnect)
	}
	if n := hits.Load(); n != 0 {
		t.Fatalf("%d connections reached the honeypot", n)
	}
}

// The guard holds on every hop from robots.txt, and for names as for literals.
func TestRedirectToPrivateAddress(t *testing.T) {
	port, hits := honeypot(t)
	for _, host := range append([]string{"inside.test"}, refused...) {
		target := "http://" + net.JoinHostPort(strings.Trim(host, "[]"), port) + "/robots.txt"
		public := listenOn(t, "127.99.0.1:0", answer("HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: 0\r\nLocation: "+target+"\r\n\r\n"))
		f := fetcher(t, fetch.Options{
			AllowNet: []netip.Prefix{netip.MustParsePrefix("127.99.0.1/32")},
			Resolver: names{"inside.test": {netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")}},
		})
		p := f.Fetch(t.Context(), robots(public+"/"))
		if host == "[fe80::1%25lo]" {
			continue // no literal any resolver knows; it only must not connect
		}
		wantPage(t, p, 0, "forbidden-address", "")
	}
	if n := hits.Load(); n != 0 {
		t.Fatalf("%d connections reached the honeypot", n)
	}
}

// The guard alone, since nothing public can be reached here.
func TestPublicAddressesPass(t *testing.T) {
	for _, host := range []string{"1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.0", "172.15.0.1", "172.32.0.1", "192.0.1.1",
		"198.17.0.1", "198.20.0.1", "223.255.255.255", "168.63.129.17", "2606:4700::1", "2001:470::1", "64:ff9b::808:808", "2002:808:808::1"} {
		if err := fetch.Check(netip.MustParseAddr(host)); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, host := range refused {
		if a, err := netip.ParseAddr(strings.ReplaceAll(strings.Trim(host, "[]"), "%25", "%")); err != nil {
			t.Errorf("%s is no address", host)
		} else if fetch.Check(a) == nil {
			t.Errorf("%s passes", host)
		}
	}
}

func TestAllowNet(t *testing.T) {
	s := site(t, func(w http.ResponseWriter, r *http.Request) {})
	port := s.URL[strings.LastIndexByte(s.URL, ':')+1:]
	for prefix, kind := range map[string]string{"127.0.0.1/32": "", "127.0.0.0/8": "", "0.0.0.0/0": "", "10.0.0.0/8": "forbidden-address", "127.0.0.2/32": "forbidden-address"} {
		f := fetcher(t, fetch.Options{AllowNet: []netip.Prefix{netip.MustParsePrefix(prefix)}})
		status := 200
		if kind != "" {
			status = 0
		}
		for _, host := range []string{"127.0.0.1", "[::ffff:127.0.0.1]", "site.test"} {
			p := f.Fetch(t.Context(), lease("http://"+host+":"+port+"/"))
			wantPage(t, p, status, kind, "")
		}
	}
}

// flip is a resolver that answers one address, then another, and so on.
type flip struct {
	n     atomic.Int64
	addrs []string
}

func (f *flip) LookupNetIP(context.Context, string) ([]netip.Addr, error) {
	n := int(f.n.Add(1)-1) % len(f.addrs)
	return []netip.Addr{netip.MustParseAddr(f.addrs[n])}, nil
}

// Each connection resolves once and dials what was checked: a name that changes
// its address between two looks wins nothing.
func TestRebinding(t *testing.T) {
	port, hits := honeypot(t)
	listenOn(t, "127.99.0.1:"+port, answer(ok+"Content-Length: 0\r\nConnection: close\r\n\r\n"))
	r := &flip{addrs: []string{"127.99.0.1", "127.0.0.1"}}
	f := fetcher(t, fetch.Options{AllowNet: []netip.Prefix{netip.MustParsePrefix("127.99.0.1/32")}, Resolver: r})
	answered := 0
	for range 1000 {
		if p := f.Fetch(t.Context(), lease("http://x.test:"+port+"/")); p.Err == nil || p.Err.Kind != octopus.KindForbidden {
			answered++
		}
	}
	if hits.Load() != 0 || answered != 500 {
		t.Errorf("%d hits on the honeypot, %d requests passed the guard; want 0 and 500", hits.Load(), answered)
	}
}

// Of several addresses only the permitted ones are tried, and one that does not
// answer gives way to the next.
func TestSeveralAddresses(t *testing.T) {
	port, hits := honeypot(t)
	listenOn(t, "127.99.0.1:"+port, answer(ok+"Content-Length: 0\r\n\r\n"))
	all := []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.99.0.2"), netip.MustParseAddr("127.99.0.1")}
	f := fetcher(t, fetch.Options{AllowNet: []netip.Prefix{netip.MustParsePrefix("127.99.0.0/24")}, Resolver: names{"x.test": all}})
	p := f.Fetch(t.Context(), lease("http://x.test:"+port+"/"))
	wantPage(t, p, 200, "", "")
	if p.IP.String() != "127.99.0.1" || hits.Load() != 0 {
		t.Errorf("answered by %v, %d hits on the honeypot", p.IP, hits.Load())
	}
	if all[0].String() != "127.0.0.1" {
		t.Error("the resolver's answer was changed")
	}
}

func TestEnvironmentProxyIsIgnored(t *testing.T) {
	port, hits := honeypot(t)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:"+port)
	}
	s := listenOn(t, "127.99.0.1:0", answer(ok+"Content-Length: 0\r\n\r\n"))
	p := fetcher(t, fetch.Options{}).Fetch(t.Context(), lease(s+"/"))
	wantPage(t, p, 200, "", "")
	if hits.Load() != 0 {
		t.Error("the proxy was used")
	}
}
