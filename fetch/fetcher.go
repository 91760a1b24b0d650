package fetch

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"

	"octopus"
	"octopus/internal/inflate"
)

// Fetcher makes requests. All methods may be called by many goroutines at once.
// All its connections follow one network policy; a job that may reach other
// networks needs a Fetcher of its own, so that they never share a socket.
type Fetcher struct {
	opt       Options
	dialer    *dialer
	idle      *idle           // connections of HTTP/1.1
	closing   origins         // those whose connections are not kept
	http2     origins         // those that are asked by HTTP/2 …
	transport *http.Transport // … which this does
	header    http.Header     // sent with every request; shared, so never changed
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
	f := &Fetcher{
		opt:    opt,
		dialer: newDialer(opt),
		idle:   newIdle(opt.ConnsPerHost, opt.MaxIdleConns),
		header: http.Header{
			"User-Agent":      {opt.UserAgent},
			"Accept":          {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"},
			"Accept-Encoding": {acceptEncoding},
		},
		buffers:  newBuffers(),
		decoders: decoders{members: sync.Pool{New: func() any { return new(inflate.Decoder) }}},
	}
	f.transport = newH2(opt, f.dialer, &f.http2)
	return f, nil
}

// Close closes the idle connections. Requests under way are ended by their
// contexts, not by Close.
func (f *Fetcher) Close() error {
	f.transport.CloseIdleConnections()
	f.idle.close()
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
	if m := l.Link.Method; err == nil && m != "" && !httpguts.ValidHeaderFieldName(m) {
		err = fmt.Errorf("method %q is no token", m)
	}
	if err != nil {
		p.Err = failure(octopus.KindOther, err)
		return
	}
	p.Err = c.do(newRequest(u, f.header, l))
}
