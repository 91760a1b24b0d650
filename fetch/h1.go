package fetch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"
)

// h1 is a connection that speaks HTTP/1.1, one request after the other, in the
// goroutine of the caller. net/http reads the answers; sending and keeping are
// done here, because its Transport sends a request again by itself, and its two
// goroutines for each connection cost more than all the rest of a request. It is
// held by one call, or by idle.
type h1 struct {
	net.Conn
	origin
	ip    netip.Addr
	in    *bufio.Reader // longer reads, of bodies, go past it
	used  bool          // it has answered a request
	limit int64         // bytes that may be read until the head of an answer is over
	out   []byte        // the head of the request

	since      time.Time // when it was put by; guarded by idle.mu, as the next
	prev, next *h1       // in the ring of idle
}

func newH1(raw net.Conn, at origin) *h1 {
	c := &h1{Conn: raw, origin: at, out: make([]byte, 0, 512)}
	if c.in, _ = readers.Get().(*bufio.Reader); c.in == nil {
		c.in = bufio.NewReaderSize(nil, 4<<10)
	}
	c.in.Reset(c)
	if tcp, ok := raw.RemoteAddr().(*net.TCPAddr); ok {
		c.ip = tcp.AddrPort().Addr().Unmap()
	}
	return c
}

// readers keeps the readers of closed connections, which one connection for each
// host would make and drop.
var readers sync.Pool

// Close closes the connection, which nobody may use any more.
func (c *h1) Close() error {
	err := c.Conn.Close()
	c.in.Reset(nil)
	readers.Put(c.in)
	c.in = nil
	return err
}

// errHead is how the reading of a head ends that is too long.
var errHead = errors.New("response headers exceeded the limit")

// Read reads from the connection, within the limit for a head.
func (c *h1) Read(b []byte) (int, error) {
	if c.limit <= 0 {
		return 0, errHead
	}
	n, err := c.Conn.Read(b[:min(int64(len(b)), c.limit)])
	c.limit -= int64(n)
	return n, err
}

// exchange sends a request and reads the head of its answer; what comes before
// it, such as "103 Early Hints", is skipped. The body is to be read to its end
// before the next request.
func (c *h1) exchange(req *http.Request, maxHeader int64) (*http.Response, error) {
	c.out = appendRequest(c.out[:0], req)
	if _, err := c.Write(c.out); err != nil {
		return nil, err
	}
	if req.Body != nil {
		if _, err := io.Copy(c.Conn, req.Body); err != nil {
			return nil, err
		}
	}
	for c.limit = maxHeader; ; {
		resp, err := http.ReadResponse(c.in, req)
		switch {
		case err != nil:
			return nil, err
		case resp.StatusCode == http.StatusSwitchingProtocols:
			return nil, fmt.Errorf("status %d: nobody asked for another protocol", resp.StatusCode)
		case resp.StatusCode >= 200:
			c.limit, c.used = math.MaxInt64, true
			return resp, nil
		}
	}
}

// fields are all that a request may have, in the order they are sent.
var fields = [...]string{"User-Agent", "Accept", "Accept-Encoding", "If-None-Match", "If-Modified-Since", "Content-Type"}

// appendRequest appends the head of a request. Nothing in it can break the
// lines: the URL comes from target, method and values were checked when they were set.
func appendRequest(b []byte, req *http.Request) []byte {
	b = append(append(b, req.Method...), ' ')
	b = append(append(b, req.URL.RequestURI()...), " HTTP/1.1\r\nHost: "...)
	b = append(append(b, req.Host...), "\r\n"...)
	for _, name := range fields {
		for _, v := range req.Header[name] {
			b = append(append(append(append(b, name...), ": "...), v...), "\r\n"...)
		}
	}
	if req.ContentLength > 0 || req.Method == http.MethodPost {
		b = append(strconv.AppendInt(append(b, "Content-Length: "...), req.ContentLength, 10), "\r\n"...)
	}
	return append(b, "\r\n"...)
}

// alive reports whether a connection that was kept is open and silent: what a
// server says unasked, such as "408 Request Timeout", is no answer to the next
// request.
func (c *h1) alive() bool {
	raw := c.Conn
	if t, ok := raw.(interface{ NetConn() net.Conn }); ok {
		raw = t.NetConn() // under TLS
	}
	if m, ok := raw.(*metered); ok {
		raw = m.Conn
	}
	tcp, ok := raw.(*net.TCPConn)
	return ok && silent(tcp)
}
