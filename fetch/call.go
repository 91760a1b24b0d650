package fetch

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"octopus"
)

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
	timer    *time.Timer // calls expire; moved by do, overH1 and quiet
	inBody   atomic.Bool // the head has come
	wire     wire        // body being read; here only to save an allocation
}

// newCall starts the watchdog; end stops it.
func (f *Fetcher) newCall(ctx context.Context, p *octopus.Page, total time.Duration, maxBody int64) *call {
	c := &call{f: f, page: p, total: total, deadline: p.Start.Add(total), maxBody: maxBody}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
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
	switch {
	case !time.Now().Before(c.deadline):
		c.cancel(&errLimit{"whole request", c.total})
	case c.inBody.Load():
		c.cancel(&errLimit{"no byte of the body", c.f.opt.IdleTimeout})
	default:
		c.cancel(&errLimit{"no headers", c.f.opt.HeaderTimeout})
	}
}

// do sends the request, once, and fills the page from the answer.
func (c *call) do(req *http.Request) *octopus.Error {
	c.inBody.Store(false)
	c.timer.Reset(time.Until(c.deadline))
	at := origin{req.URL.Scheme, req.Host}
	if c.f.http2.has(at) {
		return c.overH2(req, nil)
	}
	conn := c.f.idle.get(at)
	if conn == nil {
		raw, err := c.f.dialer.open(c.ctx, at)
		switch {
		case err != nil:
			return classify(c.ctx, err)
		case speaksH2(raw):
			c.f.http2.add(at)
			return c.overH2(req, raw)
		}
		conn = newH1(raw, at)
	}
	return c.overH1(req, conn)
}

// overH1 makes the request over a connection, which it keeps or closes.
func (c *call) overH1(req *http.Request, conn *h1) *octopus.Error {
	stop := context.AfterFunc(c.ctx, func() { conn.SetDeadline(past) })
	c.page.IP = conn.ip
	c.timer.Reset(min(c.f.opt.HeaderTimeout, time.Until(c.deadline)))
	resp, err := conn.exchange(req, c.f.opt.MaxHeader)
	if err != nil {
		stop()
		conn.Close()
		failed := classify(c.ctx, err)
		if conn.used && failed.Kind == octopus.KindDisconnect {
			c.f.closing.add(conn.origin) // it closes connections without saying so: once is enough
		}
		return failed
	}
	failed := c.take(resp)
	whole := resp.Body == http.NoBody || c.wire.eof
	if stop() && whole && !resp.Close && conn.in.Buffered() == 0 && !c.f.closing.has(conn.origin) {
		c.f.idle.put(conn)
	} else {
		conn.Close() // resp.Body.Close would read what is left
	}
	return failed
}

// past is a deadline that ends all reading and writing at once.
var past = time.Unix(1, 0)

// take fills the page from the answer.
func (c *call) take(resp *http.Response) *octopus.Error {
	c.inBody.Store(true)
	c.wire = wire{}
	p := c.page
	p.Status, p.Proto, p.Header = resp.StatusCode, resp.Proto, resp.Header
	trim(p.Header)
	if Redirects(p.Status) {
		p.Location = p.Header.Get("Location")
	}
	p.RetryAfter = retryAfter(p.Header, p.Start)
	failed := c.body(resp)
	p.End = time.Now()
	return failed
}

// Redirects reports whether a status asks to go to Location.
func Redirects(status int) bool {
	switch status {
	case 301, 302, 303, 307, 308:
		return true
	}
	return false
}
