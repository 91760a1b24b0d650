package webtest

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func isNoAddress(err error) bool { return errors.Is(err, syscall.EADDRNOTAVAIL) }

type addrKey struct{}

// rememberAddr keeps the server's address of a connection for its requests.
func rememberAddr(ctx context.Context, c net.Conn) context.Context {
	ap, _ := netip.ParseAddrPort(c.LocalAddr().String()) // of a TCP connection, so it parses
	return context.WithValue(ctx, addrKey{}, ap.Addr().Unmap())
}

// serve answers one request and logs it.
func (w *Web) serve(out http.ResponseWriter, req *http.Request) {
	a := &answer{web: w, out: out, req: req}
	addr := req.Context().Value(addrKey{}).(netip.Addr)
	name := req.Host
	if host, _, err := net.SplitHostPort(name); err == nil {
		name = host
	}
	name = strings.ToLower(name)
	a.entry = Request{Start: time.Now(), Host: name, IP: addr.String(), Path: target(req.RequestURI), UserAgent: req.UserAgent()}
	h := w.byName[name]
	switch {
	case h == nil || h.state != alive || h.addr != addr:
		a.plain(http.StatusMisdirectedRequest)
	case req.Method != http.MethodGet && req.Method != http.MethodHead:
		a.plain(http.StatusMethodNotAllowed)
	case !a.wait(w.opt.Latency + h.slow):
	default:
		a.answer(ref{h.index, a.entry.Path})
	}
	if a.entry.End.IsZero() { // not sent to its end
		a.entry.Aborted = true
		a.entry.End = time.Now()
	}
	w.note(&a.entry)
	if a.broken {
		panic(http.ErrAbortHandler) // closes the connection in the middle of the answer
	}
}

// target returns path and query of a request line, which proxies' clients write
// as a whole URL (RFC 9112, section 3.2.2).
func target(uri string) string {
	if _, rest, absolute := strings.Cut(uri, "://"); absolute && !strings.HasPrefix(uri, "/") {
		_, path, _ := strings.Cut(rest, "/")
		return "/" + path
	}
	return uri
}

// answer is one request being answered.
type answer struct {
	web    *Web
	out    http.ResponseWriter
	req    *http.Request
	entry  Request
	broken bool // the connection is to be cut
	last   int  // byte of the body that ends it for the client; 0: the last one
}

// wait lets time pass; false means that the client went away.
func (a *answer) wait(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-a.req.Context().Done():
		return false
	}
}

// answer sends what is at to, or fails first where it is meant to.
func (a *answer) answer(to ref) {
	w := a.web
	p := w.at(to)
	if p == nil {
		a.plain(http.StatusNotFound)
		return
	}
	f := sound
	if p.times > 0 && w.count(to) < p.times {
		f = p.first
		a.entry.Failed = true
	}
	if a.refuse(f) {
		return
	}
	buf := w.buffers.Get().(*[]byte)
	defer w.buffers.Put(buf)
	*buf = w.body((*buf)[:0], to, p)
	a.headers(to, p)
	tag := w.etag(to, p)
	if f == sound && p.status == 200 {
		a.out.Header().Set("ETag", tag)
		if a.req.Header.Get("If-None-Match") == tag {
			a.send(http.StatusNotModified, nil, 0)
			return
		}
	}
	body := a.encode(p, *buf)
	switch f {
	case cutLength, cutChunk:
		a.cut(f, body)
	case badGzip:
		a.out.Header().Set("Content-Encoding", "gzip")
		a.send(200, append([]byte("\x1f\x8b\x08\x00"), body...), 0)
	default:
		if p.cut {
			a.last = int(w.opt.MaxBody) // where the client will stop reading
		}
		a.send(p.status, body, p.drip)
	}
}

// refuse answers in place of the page where f says so.
func (a *answer) refuse(f fault) bool {
	status := map[fault]int{tooMany: 429, busy: 503, busyDate: 503, serverError: 500, badGateway: 502}[f]
	if status == 0 {
		return false
	}
	switch f {
	case tooMany, busy:
		a.out.Header().Set("Retry-After", "1")
	case busyDate:
		now := time.Now().UTC()
		a.out.Header().Set("Date", now.Format(http.TimeFormat))
		a.out.Header().Set("Retry-After", now.Add(time.Second).Format(http.TimeFormat))
	}
	a.plain(status)
	return true
}

func (a *answer) plain(status int) {
	a.out.Header().Set("Content-Type", "text/plain; charset=utf-8")
	a.send(status, []byte(strconv.Itoa(status)+" "+http.StatusText(status)+"\n"), 0)
}

func (a *answer) headers(to ref, p *resource) {
	h := a.out.Header()
	switch {
	case p.noMime:
		h["Content-Type"] = nil
	case p.mime != "":
		h.Set("Content-Type", p.mime)
	default:
		h.Set("Content-Type", "text/html; charset=utf-8")
	}
	if p.xRobots != "" {
		h.Set("X-Robots-Tag", p.xRobots)
	}
	if p.location != "" {
		h.Set("Location", p.location)
	} else if p.target != nil {
		h.Set("Location", a.web.url(*p.target))
	}
}

// send sends the answer and notes when it ended: right before the last bytes
// are handed over. A body that fits into the socket's buffer goes in one piece.
func (a *answer) send(status int, body []byte, drip time.Duration) {
	const whole = 64 << 10
	a.entry.Status, a.entry.Length = status, len(body)
	a.out.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if status == http.StatusNotModified {
		a.out.Header().Del("Content-Length")
	}
	a.out.WriteHeader(status)
	flush := http.NewResponseController(a.out).Flush
	if a.req.Method == http.MethodHead {
		body = nil
	}
	if drip > 0 {
		for range 8 {
			part := len(body) / 8
			a.out.Write(body[:part])
			body = body[part:]
			flush()
			if !a.wait(drip / 8) {
				return
			}
		}
	} else if len(body) > whole || a.last > 0 {
		if a.last == 0 {
			a.last = len(body) - 1
		}
		a.out.Write(body[:a.last])
		if flush() != nil || a.req.Context().Err() != nil {
			return
		}
		body = body[a.last:]
	}
	a.entry.End = time.Now()
	a.out.Write(body) // an error means that the client went away: the context tells
	flush()
}

// cut sends a part of the body and breaks the connection.
func (a *answer) cut(f fault, body []byte) {
	a.broken = true
	a.entry.Status, a.entry.Length = 200, len(body)/2
	if f == cutLength {
		a.out.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	a.out.WriteHeader(200)
	a.out.Write(body[:len(body)/2])
	a.entry.End = time.Now()
	http.NewResponseController(a.out).Flush()
}
