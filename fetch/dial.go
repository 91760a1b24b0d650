package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"octopus"
)

const (
	resolveTimeout = 30 * time.Second       // longest wait for the resolver, which has its own limits
	stagger        = 300 * time.Millisecond // head start of one address over the next (RFC 8305)
	maxDials       = 4                      // addresses tried for one connection
)

// dialer opens every connection of a Fetcher. Its errors are of type
// *octopus.Error.
type dialer struct {
	resolver Resolver
	guard    guard
	connect  func(ctx context.Context, network, address string) (net.Conn, error)
	tls      *tls.Config
	tlsTime  time.Duration
	bucket   *bucket // nil: no bound
}

func newDialer(o Options) *dialer {
	d := &dialer{
		resolver: o.Resolver,
		guard:    guard{allow: o.AllowNet},
		tlsTime:  o.TLSTimeout,
		tls: &tls.Config{
			MinVersion:         tls.VersionTLS12,
			NextProtos:         protocols(o.ConnsPerHost),
			ClientSessionCache: tls.NewLRUClientSessionCache(1024),
			RootCAs:            o.RootCAs,
			InsecureSkipVerify: o.InsecureTLS, // Options.InsecureTLS says what that means
		},
	}
	if o.Bandwidth > 0 {
		d.bucket = &bucket{rate: float64(o.Bandwidth)}
	}
	system := net.Dialer{Timeout: o.ConnectTimeout, ControlContext: d.control}
	if d.connect = o.Dial; d.connect == nil {
		d.connect = system.DialContext
	}
	return d
}

// protocols are those that are offered: HTTP/2 only where several requests to one
// host may be under way, which it carries over one connection. One after the other
// they cost half as much again as over HTTP/1.1.
func protocols(connsPerHost int) []string {
	if connsPerHost > 1 {
		return []string{"h2", "http/1.1"}
	}
	return []string{"http/1.1"}
}

// control is the last look at an address, when the socket exists and nothing
// has been sent.
func (d *dialer) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err == nil {
		err = d.guard.check(ap.Addr())
	}
	if err != nil {
		return failure(octopus.KindForbidden, err)
	}
	return nil
}

// dial connects to address, HOST:PORT.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, failure(octopus.KindOther, err)
	}
	addrs, err := d.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	conn, err := d.race(ctx, network, addrs, port)
	if err != nil {
		return nil, classifyDial(err)
	}
	return d.bucket.meter(conn), nil
}

// resolve returns the addresses of host that may be reached, at least one.
func (d *dialer) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	all, err := d.resolver.LookupNetIP(ctx, host)
	if err != nil {
		return nil, classifyResolve(err)
	}
	var refused error
	addrs := slices.DeleteFunc(slices.Clone(all), func(a netip.Addr) bool {
		err := d.guard.check(a)
		refused = errors.Join(refused, err)
		return err != nil
	})
	switch {
	case len(addrs) > 0:
		return addrs[:min(len(addrs), maxDials)], nil
	case refused != nil:
		return nil, failure(octopus.KindForbidden, refused)
	}
	return nil, failure(octopus.KindNoHost, errors.New("the name has no address"))
}

// race dials the addresses in order, the next one when the one before failed or
// took longer than stagger, and returns the first connection. Connections that
// come too late are closed.
func (d *dialer) race(ctx context.Context, network string, addrs []netip.Addr, port string) (net.Conn, error) {
	if len(addrs) == 1 {
		return d.connect(ctx, network, net.JoinHostPort(addrs[0].String(), port))
	}
	type result struct {
		conn net.Conn
		err  error
	}
	ctx, cancel := context.WithCancel(ctx)
	results := make(chan result)
	running := 0
	defer func() { // end the losers before leaving
		cancel()
		for ; running > 0; running-- {
			if r := <-results; r.conn != nil {
				r.conn.Close()
			}
		}
	}()
	var errs error
	for next := 0; ; {
		var late <-chan time.Time
		if next < len(addrs) {
			target := net.JoinHostPort(addrs[next].String(), port)
			go func() {
				conn, err := d.connect(ctx, network, target)
				results <- result{conn, err}
			}()
			next, running = next+1, running+1
			late = time.After(stagger)
		} else if running == 0 {
			return nil, errs
		}
		select {
		case r := <-results:
			running--
			if r.err == nil {
				return r.conn, nil
			}
			errs = errors.Join(errs, r.err)
		case <-late:
		}
	}
}

// open connects to an origin.
func (d *dialer) open(ctx context.Context, at origin) (net.Conn, error) {
	if at.scheme == "https" {
		return d.dialTLS(ctx, at.address())
	}
	return d.dial(ctx, "tcp", at.address())
}

// dialTLS connects and makes the handshake. A failed handshake is never tried
// again with weaker rules.
func (d *dialer) dialTLS(ctx context.Context, address string) (net.Conn, error) {
	raw, err := d.dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	host, _, _ := net.SplitHostPort(address)
	config := d.tls.Clone()
	config.ServerName = host
	conn := tls.Client(raw, config)
	ctx, cancel := context.WithTimeout(ctx, d.tlsTime)
	defer cancel()
	if err := conn.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, classifyTLS(ctx, err)
	}
	return conn, nil
}
