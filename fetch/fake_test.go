package fetch_test

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"octopus"
	"octopus/fetch"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// names is a resolver of fixed names; literals stand for themselves, and others
// do not exist.
type names map[string][]netip.Addr

func (n names) LookupNetIP(_ context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return []netip.Addr{a}, nil
	}
	if addrs, ok := n[host]; ok {
		return addrs, nil
	}
	return nil, &octopus.Error{Op: "resolve", URL: host, Kind: octopus.KindNoHost}
}

// fetcher returns a Fetcher that may reach loopback, unless opt says otherwise.
func fetcher(t testing.TB, opt fetch.Options) *fetch.Fetcher {
	t.Helper()
	if opt.AllowNet == nil {
		opt.AllowNet = loopback
	}
	if opt.Resolver == nil {
		opt.Resolver = names{"site.test": {netip.MustParseAddr("127.0.0.1")}}
	}
	f, err := fetch.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func lease(url string) octopus.Lease {
	return octopus.Lease{Link: octopus.Link{URL: octopus.URL{Text: url}}}
}

func robots(url string) octopus.Lease {
	l := lease(url)
	l.Purpose = octopus.FetchRobots
	return l
}

// site starts an ordinary server.
func site(t testing.TB, h http.HandlerFunc) *httptest.Server {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// raw starts a server that has handle write whatever it likes once the request
// headers have arrived. handle returns when the connection may be closed; stop
// is closed when the test ends.
func raw(t testing.TB, handle func(c net.Conn, stop <-chan struct{})) string {
	return listen(t, afterRequest(handle))
}

// afterRequest reads the request headers before it lets handle write.
func afterRequest(handle func(net.Conn, <-chan struct{})) func(net.Conn, <-chan struct{}) {
	return func(c net.Conn, stop <-chan struct{}) {
		r := bufio.NewReader(c)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			if strings.TrimSpace(line) == "" {
				handle(c, stop)
				return
			}
		}
	}
}

// answer is a handler that reads the request and writes text.
func answer(text string) func(net.Conn, <-chan struct{}) { return afterRequest(say(text)) }

// listen starts a TCP server and returns its URL.
func listen(t testing.TB, serve func(c net.Conn, stop <-chan struct{})) string {
	t.Helper()
	return listenOn(t, "127.0.0.1:0", serve)
}

// listenOn is listen on an address of choice.
func listenOn(t testing.TB, address string, serve func(c net.Conn, stop <-chan struct{})) string {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				serve(c, stop)
			})
		}
	})
	t.Cleanup(func() { close(stop); l.Close(); all.Wait() })
	return "http://" + l.Addr().String()
}

// say returns a handler that writes text and closes the connection.
func say(text string) func(net.Conn, <-chan struct{}) {
	return func(c net.Conn, _ <-chan struct{}) { c.Write([]byte(text)) }
}

// drip returns a handler that writes text, then piece every pause, without end.
func drip(text, piece string, pause time.Duration) func(net.Conn, <-chan struct{}) {
	return func(c net.Conn, stop <-chan struct{}) {
		_, err := c.Write([]byte(text))
		for err == nil {
			select {
			case <-stop:
				return
			case <-time.After(pause):
				_, err = c.Write([]byte(piece))
			}
		}
	}
}

// wantPage checks the outcome of a fetch: kind "" means no error.
func wantPage(t *testing.T, p *octopus.Page, status int, kind string, truncated string) {
	t.Helper()
	got := ""
	if p.Err != nil {
		got = p.Err.Kind.String()
		if p.Err.Op != "fetch" || p.Err.URL != p.URL().Text || p.Err.Err == nil {
			t.Errorf("the error does not name what failed: %#v", p.Err)
		}
	}
	if p.Status != status || got != kind || p.Truncated != truncated {
		t.Errorf("got status %d, error %v, truncated %q; want %d, %q, %q", p.Status, p.Err, p.Truncated, status, kind, truncated)
	}
	if p.Start.IsZero() || p.End.Before(p.Start) {
		t.Errorf("times %v to %v", p.Start, p.End)
	}
}
