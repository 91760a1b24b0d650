package render

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"time"
)

// errSpent ends connections of a page that received more than it may.
var errSpent = errors.New("render: the page's bytes are spent")

// proxy is the only way out of a browser: a forward proxy on loopback that opens
// connections with dial. Nothing passes but between begin and end.
type proxy struct {
	dial      func(ctx context.Context, address string) (net.Conn, error)
	listener  net.Listener
	server    *http.Server
	transport *http.Transport
	done      chan struct{} // closed when the server has ended

	mu    sync.Mutex
	open  bool                  // guarded by mu: a page is loading
	left  int64                 // guarded by mu: bytes it may still receive
	conns map[net.Conn]struct{} // guarded by mu: to the sites
}

// newProxy listens. close ends it.
func newProxy(dial func(ctx context.Context, address string) (net.Conn, error)) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{dial: dial, listener: l, done: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	p.transport = &http.Transport{
		DialContext:            func(ctx context.Context, _, address string) (net.Conn, error) { return p.connect(ctx, address) },
		DisableCompression:     true, // bodies pass as they are
		MaxResponseHeaderBytes: 64 << 10,
		ResponseHeaderTimeout:  15 * time.Second,
	}
	quiet := log.New(io.Discard, "", 0) // a site that breaks off is no event here
	forward := &httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}, Transport: p.transport, ErrorLog: quiet, FlushInterval: -1}
	p.server = &http.Server{ErrorLog: quiet, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodConnect:
				p.tunnel(w, r)
			case r.URL.Scheme == "http" && r.URL.Host != "":
				forward.ServeHTTP(w, r)
			default:
				http.Error(w, "this is a proxy", http.StatusBadRequest)
			}
		})}
	go func() {
		defer close(p.done)
		_ = p.server.Serve(l) // ends with close
	}()
	return p, nil
}

// url is the address in the form that Chromium takes.
func (p *proxy) url() string { return "http://" + p.listener.Addr().String() }

// begin lets a page receive so many bytes.
func (p *proxy) begin(bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open, p.left = true, bytes
}

// end closes the connections of the page and lets nothing more pass. It returns
// how many bytes were left.
func (p *proxy) end() int64 {
	p.mu.Lock()
	p.open = false
	left := p.left
	for c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
	p.transport.CloseIdleConnections()
	return left
}

// close ends the proxy and waits for its server.
func (p *proxy) close() {
	p.end()
	p.server.Close()
	<-p.done
}

// connect opens a connection to a site, under the page's limit.
func (p *proxy) connect(ctx context.Context, address string) (net.Conn, error) {
	if !p.spend(0) {
		return nil, errSpent
	}
	conn, err := p.dial(ctx, address)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.open {
		conn.Close()
		return nil, errSpent
	}
	p.conns[conn] = struct{}{}
	return &metered{conn, p}, nil
}

// spend counts received bytes and reports whether more may come.
func (p *proxy) spend(n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left -= int64(n)
	return p.open && p.left > 0
}

// tunnel serves CONNECT: bytes both ways until one side ends.
func (p *proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	site, err := p.connect(r.Context(), r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer site.Close()
	browser, buf, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer browser.Close()
	if _, err := io.WriteString(browser, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	up := make(chan struct{})
	go func() {
		defer close(up)
		_, _ = io.Copy(site, buf) // whatever ends it, the tunnel is over
		site.Close()
	}()
	_, _ = io.Copy(browser, site)
	browser.Close()
	<-up
}

// metered is a connection whose received bytes count.
type metered struct {
	net.Conn
	proxy *proxy
}

func (c *metered) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if !c.proxy.spend(n) && err == nil {
		err = errSpent
	}
	return n, err
}

func (c *metered) Close() error {
	c.proxy.mu.Lock()
	delete(c.proxy.conns, c.Conn)
	c.proxy.mu.Unlock()
	return c.Conn.Close()
}
