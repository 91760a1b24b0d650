package webtest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	mdns "github.com/miekg/dns"
)

// Web is a synthetic web. Make it with New; between Start and Close it answers.
// All methods may be called by many goroutines at once.
type Web struct {
	opt    Options
	hosts  []*host // those that answer, then the dead ones
	byName map[string]*host
	text   *textbook

	port    int // 0 before Start
	listen  []net.Listener
	server  *http.Server
	names   []*mdns.Server
	certs   *certificates
	serving sync.WaitGroup // accept loops and name servers; Close waits

	mu    sync.Mutex
	log   []Request   // guarded by mu
	asked map[ref]int // guarded by mu: requests so far for what fails at first
	kills []time.Time // guarded by mu: see Killed

	buffers sync.Pool // of *[]byte, bodies
}

// New plans a web. It takes memory for the hosts and the pages of features, not
// for tree pages. Nothing listens before Start.
func New(opt Options) *Web {
	w := &Web{opt: opt.withDefaults(), asked: map[ref]int{}}
	w.text = newTextbook(w.opt.Seed)
	w.buffers.New = func() any { return new([]byte) }
	w.makeHosts()
	w.makeFeatures()
	return w
}

// Start begins to answer, on loopback addresses only. Hosts have an address
// each; where the system has only 127.0.0.1, they share it.
func (w *Web) Start() error {
	if w.opt.TLS {
		var err error
		if w.certs, err = newCertificates(); err != nil {
			return err
		}
	}
	if err := w.listenAll(); err != nil {
		return errors.Join(err, w.Close())
	}
	if err := w.startNames(); err != nil {
		return errors.Join(err, w.Close())
	}
	w.server = &http.Server{Handler: http.HandlerFunc(w.serve), ReadHeaderTimeout: 10 * time.Second,
		ConnContext: rememberAddr, ErrorLog: quiet()}
	if w.certs != nil {
		w.server.TLSConfig = &tls.Config{GetCertificate: w.certs.get, NextProtos: []string{"h2", "http/1.1"}}
	}
	for _, l := range w.listen {
		w.serving.Go(func() {
			if w.certs != nil {
				w.server.ServeTLS(l, "", "")
			} else {
				w.server.Serve(l)
			}
		})
	}
	return nil
}

// listenAll opens one listener per address, all on one port.
func (w *Web) listenAll() error {
	addrs := w.addresses()
	for try := 0; ; try++ {
		port, err := w.opt.Port, error(nil)
		for _, a := range addrs {
			var l net.Listener
			if l, err = net.Listen("tcp", netip.AddrPortFrom(a, uint16(port)).String()); err != nil {
				break
			}
			w.listen = append(w.listen, l)
			port = l.Addr().(*net.TCPAddr).Port
		}
		if err == nil {
			w.port = port
			return nil
		}
		w.closeListeners()
		switch {
		case len(addrs) > 1 && isNoAddress(err):
			for _, h := range w.hosts {
				h.addr = netip.AddrFrom4([4]byte{127, 0, 0, 1})
			}
			addrs = w.addresses()
		case w.opt.Port != 0, try == 20: // a free port of one address may be taken at another
			return fmt.Errorf("webtest: %w", err)
		}
	}
}

func (w *Web) closeListeners() {
	for _, l := range w.listen {
		l.Close()
	}
	w.listen = nil
}

// addresses returns the distinct addresses of the hosts that answer.
func (w *Web) addresses() []netip.Addr {
	var list []netip.Addr
	met := map[netip.Addr]bool{}
	for _, h := range w.hosts {
		if h.state == alive && !met[h.addr] {
			met[h.addr] = true
			list = append(list, h.addr)
		}
	}
	return list
}

// Close stops all servers and waits for them.
func (w *Web) Close() error {
	var errs []error
	if w.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if w.server.Shutdown(ctx) != nil { // a client is still there: cut it
			errs = append(errs, w.server.Close())
		}
	} else {
		w.closeListeners()
	}
	for _, n := range w.names {
		errs = append(errs, n.Shutdown())
	}
	w.serving.Wait()
	return errors.Join(errs...)
}

// Entries returns the URLs to start a crawl from. Valid after Start, like all
// that returns or takes URLs.
func (w *Web) Entries() []string { return []string{w.url(ref{0, "/"})} }

// Hosts returns the names of the hosts that answer.
func (w *Web) Hosts() []string {
	names := make([]string, w.opt.Hosts)
	for i := range names {
		names[i] = w.hosts[i].name
	}
	return names
}

// origin returns scheme, host and port of a host as canonical URLs have them.
func (w *Web) origin(name string) string {
	scheme, usual := "http", 80
	if w.opt.TLS {
		scheme, usual = "https", 443
	}
	if w.port == usual {
		return scheme + "://" + name
	}
	return fmt.Sprintf("%s://%s:%d", scheme, name, w.port)
}

func (w *Web) url(to ref) string { return w.origin(w.hosts[to.host].name) + to.path }
