package fetch

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/net/http/httpguts"

	"octopus"
)

// Resolver turns a host name into addresses. Its errors keep their kind if they
// are of type *octopus.Error.
type Resolver interface {
	LookupNetIP(ctx context.Context, host string) ([]netip.Addr, error)
}

// Options tunes a Fetcher. The zero value works: it fetches public addresses
// only, with the limits below.
type Options struct {
	// UserAgent is sent with every request. Default "octopus/0.1
	// (+https://octopus.invalid/bot)"; a real crawl should name a page of its
	// own, so that site owners know whom to ask.
	UserAgent string

	// Resolver finds the addresses of host names. Default: the standard
	// library's resolver, which keeps nothing.
	Resolver Resolver

	// Dial opens connections to addresses that the guard allows, in place of the
	// network: for tests and simulations. Nil: the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// AllowNet lists networks that may be reached although they are not public.
	// Default none: loopback, private and link-local addresses are refused.
	AllowNet []netip.Prefix

	Timeout        time.Duration // whole request, DNS to last byte; default 60 s
	RobotsTimeout  time.Duration // robots.txt with all its redirects; default 30 s
	ConnectTimeout time.Duration // one TCP connection; default 5 s
	TLSTimeout     time.Duration // TLS handshake; default 10 s
	HeaderTimeout  time.Duration // request sent to end of the headers; default 15 s
	IdleTimeout    time.Duration // between two reads of a body; default 15 s

	// FloorRate is the least average of body bytes per second, asked for once a
	// body has taken FloorAfter. Defaults 1,024 and 10 s.
	FloorRate  int64
	FloorAfter time.Duration

	// MaxBody bounds a body in bytes, on the wire and decoded; the rest is cut
	// and the page says Truncated "length". Default 10 MiB.
	MaxBody int64

	// MaxHeader bounds the response headers in bytes; beyond it the answer is an
	// error of KindTooLarge. Default 64 KiB. At most 256 fields are kept.
	MaxHeader int64

	// ConnsPerHost is the number of idle connections kept per host and port.
	// Default 2. The frontier, not the fetcher, bounds those in use. With 1 TLS
	// offers no HTTP/2, which wins only where requests share a connection.
	ConnsPerHost int

	// MaxIdleConns is the number of idle connections kept in all; the oldest
	// is closed first. Default 512. One costs about 10 KiB, more with TLS.
	MaxIdleConns int

	// Bandwidth bounds what all connections together receive, in bytes per
	// second, TLS and headers included. FloorRate must be below a connection's
	// share of it, or pages that wait their turn fail as too slow. Default 0:
	// no bound.
	Bandwidth int64

	// RootCAs replaces the system's certificate authorities. Default nil.
	RootCAs *x509.CertPool

	// InsecureTLS accepts any certificate. Default false.
	InsecureTLS bool
}

func (o Options) withDefaults() (Options, error) {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&o.Timeout, time.Minute}, {&o.RobotsTimeout, 30 * time.Second}, {&o.ConnectTimeout, 5 * time.Second},
		{&o.TLSTimeout, 10 * time.Second}, {&o.HeaderTimeout, 15 * time.Second}, {&o.IdleTimeout, 15 * time.Second},
		{&o.FloorAfter, 10 * time.Second},
	} {
		if *d.field == 0 {
			*d.field = d.value
		} else if *d.field < 0 {
			return o, fmt.Errorf("fetch: time limit %v: want a positive duration, or 0 for the default", *d.field)
		}
	}
	for _, n := range []struct {
		field *int64
		value int64
	}{{&o.FloorRate, 1 << 10}, {&o.MaxBody, 10 << 20}, {&o.MaxHeader, 64 << 10}} {
		if *n.field == 0 {
			*n.field = n.value
		} else if *n.field < 0 {
			return o, fmt.Errorf("fetch: limit %d: want a positive number, or 0 for the default", *n.field)
		}
	}
	if o.Bandwidth < 0 {
		return o, fmt.Errorf("fetch: bandwidth %d: want bytes per second, or 0 for no bound", o.Bandwidth)
	}
	if o.ConnsPerHost <= 0 {
		o.ConnsPerHost = 2
	}
	if o.MaxIdleConns <= 0 {
		o.MaxIdleConns = 512
	}
	if o.UserAgent == "" {
		o.UserAgent = "octopus/0.1 (+https://octopus.invalid/bot)"
	}
	if !httpguts.ValidHeaderFieldValue(o.UserAgent) {
		return o, fmt.Errorf("fetch: user agent %q: control characters are not allowed", o.UserAgent)
	}
	if o.Resolver == nil {
		o.Resolver = stdResolver{}
	}
	return o, nil
}

// stdResolver is the standard library's resolver, in pure Go so that odd
// spellings of addresses do not reach the C library.
type stdResolver struct{}

func (stdResolver) LookupNetIP(ctx context.Context, host string) ([]netip.Addr, error) {
	addrs, err := (&net.Resolver{PreferGo: true}).LookupNetIP(ctx, "ip", host)
	if err == nil {
		return addrs, nil
	}
	kind := octopus.KindDNS
	var dnsErr *net.DNSError
	if errors.As(err, &dnsErr) && dnsErr.IsNotFound {
		kind = octopus.KindNoHost
	}
	return nil, &octopus.Error{Op: "resolve", URL: host, Kind: kind, Err: err}
}
