package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"octopus"
)

// newH2 returns what speaks HTTP/2: the Transport of net/http, made to take the
// connections that this package opens. It never speaks anything else.
func newH2(opt Options, d *dialer, spoken *origins) *http.Transport {
	return &http.Transport{
		Proxy: nil, // not ProxyFromEnvironment: a proxy would go round the guard
		DialTLSContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			return openH2(ctx, d, spoken, address)
		},
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // decoded here, with limits
		MaxIdleConns:           opt.MaxIdleConns,
		MaxIdleConnsPerHost:    opt.ConnsPerHost,
		IdleConnTimeout:        idleFor,
		ResponseHeaderTimeout:  opt.HeaderTimeout,
		MaxResponseHeaderBytes: opt.MaxHeader,
		HTTP2: &http.HTTP2Config{
			MaxReceiveBufferPerStream:     1 << 20,
			MaxReceiveBufferPerConnection: 4 << 20,
		},
	}
}

// offered is a connection on its way to the Transport, in the context of the
// request it was opened for.
type offered struct {
	at   origin
	conn atomic.Pointer[net.Conn] // nil once it was taken
}

type offeredKey struct{}

func (o *offered) take() net.Conn {
	if conn := o.conn.Swap(nil); conn != nil {
		return *conn
	}
	return nil
}

// openH2 returns the connection that was opened already, or a new one.
func openH2(ctx context.Context, d *dialer, spoken *origins, address string) (net.Conn, error) {
	o := ctx.Value(offeredKey{}).(*offered) // overH2 makes all requests
	if conn := o.take(); conn != nil {
		return conn, nil
	}
	conn, err := d.dialTLS(ctx, address)
	if err != nil || speaksH2(conn) {
		return conn, err
	}
	spoken.remove(o.at)
	conn.Close()
	return nil, failure(octopus.KindConnect, errors.New("the server speaks HTTP/2 no longer"))
}

// overH2 makes the request over HTTP/2: on raw, or on a connection that the
// Transport has or opens. The Transport sends a request again only where the
// server said that it did not look at it.
func (c *call) overH2(req *http.Request, raw net.Conn) *octopus.Error {
	o := &offered{at: origin{req.URL.Scheme, req.Host}}
	if raw != nil {
		o.conn.Store(&raw)
		defer func() {
			if left := o.take(); left != nil { // there was a connection meanwhile
				left.Close()
			}
		}()
	}
	ctx := context.WithValue(c.ctx, offeredKey{}, o)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: c.gotConn})
	resp, err := c.f.transport.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return classify(c.ctx, err)
	}
	defer resp.Body.Close()
	return c.take(resp)
}

// gotConn notes the address that answers. It runs in the goroutine of overH2.
func (c *call) gotConn(info httptrace.GotConnInfo) {
	if tcp, ok := info.Conn.RemoteAddr().(*net.TCPAddr); ok {
		c.page.IP = tcp.AddrPort().Addr().Unmap()
	}
}

// speaksH2 reports whether HTTP/2 was agreed on.
func speaksH2(conn net.Conn) bool {
	t, ok := conn.(*tls.Conn)
	return ok && t.ConnectionState().NegotiatedProtocol == "h2"
}
