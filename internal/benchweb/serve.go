package benchweb

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"net"
	"strconv"
	"time"
)

// accept serves connections until the listener is closed. HTTP is spoken by
// hand: net/http would cost more per page than writing it does.
func (s *Server) accept(secure *tls.Config) {
	for {
		raw, err := s.listen.Accept()
		if err != nil {
			return
		}
		conn := raw
		if secure != nil {
			conn = tls.Server(raw, secure)
		}
		if !s.track(conn) {
			conn.Close()
			continue
		}
		s.conns.Add(1)
		s.serving.Go(func() { s.serve(conn) })
	}
}

// track remembers a connection for Close; it refuses strangers, and all once
// closed.
func (s *Server) track(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil || !c.RemoteAddr().(*net.TCPAddr).IP.IsLoopback() {
		return false
	}
	s.open[c] = struct{}{}
	return true
}

func (s *Server) serve(c net.Conn) {
	defer func() {
		c.Close()
		s.mu.Lock()
		delete(s.open, c)
		s.mu.Unlock()
	}()
	in := bufio.NewReaderSize(c, 2048)
	for {
		r, ok := readRequest(in)
		if !ok {
			return
		}
		if d := s.site.opt.Latency; d > 0 {
			time.Sleep(d)
		}
		buf := s.buffers.Get().(*[]byte)
		*buf = s.answer((*buf)[:0], r)
		_, err := c.Write(*buf)
		s.buffers.Put(buf)
		if err != nil || r.last {
			return
		}
	}
}

// request is what matters of one.
type request struct {
	path, host string
	gzip       bool // the client takes it
	head       bool // HEAD instead of GET
	last       bool // the client wants the connection closed
}

// readRequest reads a request without a body.
func readRequest(in *bufio.Reader) (request, bool) {
	var r request
	line, err := in.ReadSlice('\n')
	if err != nil {
		return r, false
	}
	method, rest, _ := bytes.Cut(line, []byte(" "))
	path, version, _ := bytes.Cut(rest, []byte(" "))
	r.path, r.head = string(path), string(method) == "HEAD"
	r.last = !bytes.HasPrefix(version, []byte("HTTP/1.1"))
	for {
		if line, err = in.ReadSlice('\n'); err != nil {
			return r, false
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return r, true
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("host")):
			r.host = string(value)
		case bytes.EqualFold(name, []byte("connection")):
			r.last = bytes.EqualFold(value, []byte("close"))
		case bytes.EqualFold(name, []byte("accept-encoding")):
			r.gzip = bytes.Contains(value, []byte("gzip"))
		}
	}
}

// answer appends the whole answer to a request.
func (s *Server) answer(b []byte, r request) []byte {
	s.requests.Add(1)
	id := s.site.pageOf(s.site.hostOf(r.host), r.path)
	switch {
	case r.path == "/robots.txt":
		s.robots.Add(1)
		return frame(b, "200 OK", "text/plain", "", []byte("User-agent: *\nDisallow:\n"), r)
	case id < 0:
		s.missing.Add(1)
		return frame(b, "404 Not Found", "text/plain", "", []byte("no such page\n"), r)
	}
	if !r.head {
		s.hits[id].Add(1)
	}
	if s.packed != nil && r.gzip {
		return frame(b, "200 OK", "text/html; charset=utf-8", "Content-Encoding: gzip\r\n", s.packed[id], r)
	}
	buf := s.buffers.Get().(*[]byte)
	*buf = s.site.appendPage((*buf)[:0], id)
	b = frame(b, "200 OK", "text/html; charset=utf-8", "", *buf, r)
	s.buffers.Put(buf)
	return b
}

// frame appends a head and a body. fields are further header lines.
func frame(b []byte, status, mime, fields string, body []byte, r request) []byte {
	b = append(append(b, "HTTP/1.1 "...), status...)
	b = append(append(b, "\r\nContent-Type: "...), mime...)
	b = strconv.AppendInt(append(b, "\r\nContent-Length: "...), int64(len(body)), 10)
	if r.last {
		b = append(b, "\r\nConnection: close"...)
	} else {
		b = append(b, "\r\nConnection: keep-alive"...)
	}
	b = append(append(append(b, "\r\n"...), fields...), "\r\n"...)
	if r.head {
		return b
	}
	return append(b, body...)
}
