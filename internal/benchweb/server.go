package benchweb

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"errors"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
)

// Server is a web that answers between Start and Close. Its methods may be
// called by many goroutines at once.
type Server struct {
	site   *site
	listen net.Listener
	names  net.PacketConn // nil without names
	ca     []byte         // PEM; nil without TLS
	packed [][]byte       // compressed pages by number; nil without Gzip

	hits     []atomic.Uint32 // requests per page
	requests atomic.Int64    // of any kind
	robots   atomic.Int64
	missing  atomic.Int64
	conns    atomic.Int64

	buffers sync.Pool // of *[]byte: answers
	mu      sync.Mutex
	open    map[net.Conn]struct{} // guarded by mu; nil once closed
	serving sync.WaitGroup        // accept loop, connections, name server
}

// Stats is what the server has seen.
type Stats struct {
	Pages      int   `json:"pages"`       // in the web
	Distinct   int   `json:"distinct"`    // fetched at least once
	Duplicates int64 `json:"duplicates"`  // requests for a page beyond the first
	Requests   int64 `json:"requests"`    // of any kind
	Robots     int64 `json:"robots"`      // for robots.txt
	Missing    int64 `json:"missing"`     // for what does not exist
	Conns      int64 `json:"connections"` // accepted
}

// Start makes a web and serves it on all its loopback addresses; clients from
// elsewhere are sent away.
func Start(opt Options) (*Server, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	listen, err := net.Listen("tcp4", net.JoinHostPort("0.0.0.0", strconv.Itoa(opt.Port)))
	if err != nil {
		return nil, err
	}
	s := &Server{listen: listen, open: map[net.Conn]struct{}{}, hits: make([]atomic.Uint32, opt.Hosts*opt.Pages)}
	s.site = newSite(opt, listen.Addr().(*net.TCPAddr).Port)
	s.buffers.New = func() any { return new([]byte) }
	if opt.Gzip {
		s.pack()
	}
	var secure *tls.Config
	if opt.TLS {
		secure, s.ca, err = certificate(opt)
	}
	if err == nil && opt.Names {
		err = s.startNames()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.serving.Go(func() { s.accept(secure) })
	return s, nil
}

// Close ends all connections and waits for what serves them.
func (s *Server) Close() error {
	err := s.listen.Close()
	if s.names != nil {
		err = errors.Join(err, s.names.Close())
	}
	s.mu.Lock()
	for c := range s.open {
		c.Close()
	}
	s.open = nil
	s.mu.Unlock()
	s.serving.Wait()
	return err
}

// Entry is the URL from which all pages can be reached.
func (s *Server) Entry() string { return string(append(s.site.appendOrigin(nil, 0), '/')) }

// Resolver is the address of the name server, HOST:PORT; empty without names.
func (s *Server) Resolver() string {
	if s.names == nil {
		return ""
	}
	return s.names.LocalAddr().String()
}

// CA is the certificate that clients must trust, PEM; nil without TLS.
func (s *Server) CA() []byte { return s.ca }

// Stats counts what was asked for since the start or the last Reset.
func (s *Server) Stats() Stats {
	st := Stats{Pages: len(s.hits), Requests: s.requests.Load(), Robots: s.robots.Load(), Missing: s.missing.Load(), Conns: s.conns.Load()}
	for i := range s.hits {
		if n := s.hits[i].Load(); n > 0 {
			st.Distinct++
			st.Duplicates += int64(n) - 1
		}
	}
	return st
}

// Reset sets all counters to zero.
func (s *Server) Reset() {
	for i := range s.hits {
		s.hits[i].Store(0)
	}
	for _, n := range []*atomic.Int64{&s.requests, &s.robots, &s.missing, &s.conns} {
		n.Store(0)
	}
}

// pack compresses all pages, on all processors.
func (s *Server) pack() {
	s.packed = make([][]byte, s.site.total())
	var next atomic.Int64
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			var page []byte
			var out bytes.Buffer
			z := gzip.NewWriter(&out)
			for id := int(next.Add(1)) - 1; id < len(s.packed); id = int(next.Add(1)) - 1 {
				page = s.site.appendPage(page[:0], id)
				out.Reset()
				z.Reset(&out)
				z.Write(page) // a bytes.Buffer takes everything
				z.Close()
				s.packed[id] = bytes.Clone(out.Bytes())
			}
		})
	}
	work.Wait()
}
