package fetch

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"time"

	"octopus"
)

// Fetcher makes requests. All methods may be called by many goroutines at once.
// All its connections follow one network policy; a job that may reach other
// networks needs a Fetcher of its own, so that they never share a socket.
type Fetcher struct {
	opt       Options
	dialer    *dialer
	transport *http.Transport
	header    http.Header // sent with every request; shared, so never changed
	buffers   *buffers
	decoders  decoders
}

// New returns a Fetcher. It opens no connection. An option out of its range is
// an error.
func New(opt Options) (*Fetcher, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	d := newDialer(opt)
	return &Fetcher{
		opt:    opt,
		dialer: d,
		transport: &http.Transport{
			Proxy:                  nil, // not ProxyFromEnvironment: a proxy would go round the guard
			DialContext:            d.dial,
			DialTLSContext:         d.dialTLS,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true, // decoded here, with limits
			MaxIdleConns:           opt.MaxIdleConns,
			MaxIdleConnsPerHost:    opt.ConnsPerHost,
			IdleConnTimeout:        30 * time.Second,
			ResponseHeaderTimeout:  opt.HeaderTimeout,
			MaxResponseHeaderBytes: opt.MaxHeader,
			HTTP2: &http.HTTP2Config{
				MaxReceiveBufferPerStream:     1 << 20,
				MaxReceiveBufferPerConnection: 4 << 20,
			},
		},
		header: http.Header{
			"User-Agent":      {opt.UserAgent},
			"Accept":          {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"},
			"Accept-Encoding": {acceptEncoding},
		},
		buffers: newBuffers(),
	}, nil
}

// Close closes the idle connections. Requests under way are ended by their
// contexts, not by Close.
func (f *Fetcher) Close() error {
	f.transport.CloseIdleConnections()
	return nil
}

// Fetch makes the request of the lease and returns its page, never nil; what
// went wrong is in Page.Err. It ends within Options.Timeout (RobotsTimeout for
// octopus.FetchRobots), or soon after ctx does.
//
// Leases of purpose Relink are fetched without validators: they are asked for
// because the stored page is missing.
func (f *Fetcher) Fetch(ctx context.Context, l octopus.Lease) *octopus.Page {
	p := &octopus.Page{Lease: l, Start: time.Now()}
	if l.Purpose == octopus.FetchRobots {
		f.robots(ctx, p)
	} else {
		f.page(ctx, p)
	}
	if p.End.IsZero() {
		p.End = time.Now()
	}
	if p.Err != nil {
		p.Err.URL = l.Link.URL.Text
	}
	return p
}

// Recycle takes the page's body back for reuse and sets it to nil. Calling it
// is optional. Nobody may hold the body, or a slice of it, afterwards.
func (f *Fetcher) Recycle(p *octopus.Page) {
	f.buffers.put(p.Body)
	p.Body = nil
}

// page fetches the URL of the page's lease.
func (f *Fetcher) page(ctx context.Context, p *octopus.Page) {
	l := p.Lease
	c := f.newCall(ctx, p, f.opt.Timeout, f.opt.MaxBody)
	defer c.end()
	u, err := target(l.Link.URL.Text)
	if err != nil {
		p.Err = failure(octopus.KindOther, err)
		return
	}
	p.Err = c.do(newRequest(u, f.header, l))
}

// call is one Fetch under way: its page, its budget of time, and the watchdog
// that ends it.
type call struct {
	f        *Fetcher
	page     *octopus.Page
	ctx      context.Context
	cancel   context.CancelCauseFunc
	total    time.Duration // whole budget
	deadline time.Time     // its end
	maxBody  int64
	timer    *time.Timer // calls expire; moved by quiet
	trace    httptrace.ClientTrace
	wire     wire // body being read; here only to save an allocation
}

// newCall starts the watchdog; end stops it.
func (f *Fetcher) newCall(ctx context.Context, p *octopus.Page, total time.Duration, maxBody int64) *call {
	c := &call{f: f, page: p, total: total, deadline: p.Start.Add(total), maxBody: maxBody}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	c.trace.GotConn = c.gotConn
	c.ctx = httptrace.WithClientTrace(c.ctx, &c.trace)
	c.timer = time.AfterFunc(total, c.expire)
	return c
}

func (c *call) end() {
	c.timer.Stop()
	c.cancel(nil)
}

// quiet gives the body until the idle time-out, or the end of the budget, to
// send its next byte.
func (c *call) quiet(now time.Time) {
	c.timer.Reset(min(c.f.opt.IdleTimeout, c.deadline.Sub(now)))
}

// expire runs when the time is up, and cancels the request.
func (c *call) expire() {
	if time.Now().Before(c.deadline) {
		c.cancel(&errLimit{"no byte of the body", c.f.opt.IdleTimeout})
	} else {
		c.cancel(&errLimit{"whole request", c.total})
	}
}

// gotConn notes the address that answers. It runs in the goroutine of do.
func (c *call) gotConn(info httptrace.GotConnInfo) {
	if tcp, ok := info.Conn.RemoteAddr().(*net.TCPAddr); ok {
		c.page.IP = tcp.AddrPort().Addr().Unmap()
	}
}

// do sends the request and fills the page from the answer.
func (c *call) do(req *http.Request) *octopus.Error {
	resp, err := c.f.transport.RoundTrip(req.WithContext(c.ctx))
	if err != nil {
		return classify(c.ctx, err)
	}
	defer resp.Body.Close()
	p := c.page
	p.Status, p.Proto, p.Header = resp.StatusCode, resp.Proto, resp.Header
	trim(p.Header)
	if redirects(p.Status) {
		p.Location = p.Header.Get("Location")
	}
	p.RetryAfter = retryAfter(p.Header, p.Start)
	failed := c.body(resp)
	p.End = time.Now()
	return failed
}

// redirects reports whether the status asks to go to Location.
func redirects(status int) bool {
	switch status {
	case 301, 302, 303, 307, 308:
		return true
	}
	return false
}
