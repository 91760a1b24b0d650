package dns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	mdns "github.com/miekg/dns"

	"octopus"
)

// maxAsked bounds the questions a Server works on at once; more are dropped, and
// their senders ask again.
const maxAsked = 1024

// Server answers A and AAAA questions of other programs on the machine or the
// network from a Resolver, cache included. Other types get NOTIMP. It is a
// recursive resolver: a public address would offer it to attackers as an
// amplifier, so it belongs on loopback or a private network.
type Server struct {
	resolver *Resolver
	address  string
	slots    chan struct{} // one element per question being worked on
}

// NewServer returns a Server that will listen on address (HOST:PORT, UDP and
// TCP) and answer from r.
func NewServer(address string, r *Resolver) *Server {
	return &Server{resolver: r, address: address, slots: make(chan struct{}, maxAsked)}
}

// Run serves until ctx ends, and returns nil then. Other errors say why it
// cannot listen or serve. started, which may be nil, is called with the address
// in use once questions are answered.
func (s *Server) Run(ctx context.Context, started func(net.Addr)) error {
	udp, err := net.ListenPacket("udp", s.address)
	if err != nil {
		return fmt.Errorf("dns server: %w", err)
	}
	tcp, err := net.Listen("tcp", udp.LocalAddr().String()) // the same port where address says 0
	if err != nil {
		udp.Close()
		return fmt.Errorf("dns server: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	handler := mdns.HandlerFunc(func(w mdns.ResponseWriter, q *mdns.Msg) { s.serve(ctx, w, q) })
	servers := []*mdns.Server{{PacketConn: udp, Handler: handler}, {Listener: tcp, Handler: handler}}
	ended := make(chan error, len(servers))
	ready := make(chan struct{}, len(servers))
	for _, m := range servers {
		m.NotifyStartedFunc = func() { ready <- struct{}{} }
		go func() { ended <- m.ActivateAndServe() }()
	}
	for range servers {
		<-ready
	}
	if started != nil {
		started(udp.LocalAddr())
	}
	left := len(servers)
	select {
	case <-ctx.Done():
		err = nil
	case err = <-ended:
		left--
	}
	cancel()
	for _, m := range servers {
		err = errors.Join(err, ignoreStopped(m.Shutdown()))
	}
	for range left {
		err = errors.Join(err, <-ended)
	}
	return err
}

// ignoreStopped returns nil for a server that had ended by itself: why it did is
// reported elsewhere.
func ignoreStopped(err error) error {
	if err != nil && err.Error() == "dns: server not started" {
		return nil
	}
	return err
}

// serve answers one question.
func (s *Server) serve(ctx context.Context, w mdns.ResponseWriter, q *mdns.Msg) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		return
	}
	m := new(mdns.Msg).SetReply(q)
	m.RecursionAvailable = true
	size := mdns.MinMsgSize
	if opt := q.IsEdns0(); opt != nil {
		size = min(max(size, int(opt.UDPSize())), udpSize)
		m.SetEdns0(udpSize, false)
	}
	if len(q.Question) != 1 || q.Opcode != mdns.OpcodeQuery || !wanted(q.Question[0]) {
		m.Rcode = mdns.RcodeNotImplemented
	} else {
		s.fill(ctx, m, q.Question[0])
	}
	if w.LocalAddr().Network() == "udp" {
		m.Truncate(size)
	}
	_ = w.WriteMsg(m) // the asker is gone: nobody to tell
}

func wanted(q mdns.Question) bool {
	return q.Qclass == mdns.ClassINET && (q.Qtype == mdns.TypeA || q.Qtype == mdns.TypeAAAA)
}

// fill puts the answer to q into m, with the time it has left in the cache.
func (s *Server) fill(ctx context.Context, m *mdns.Msg, q mdns.Question) {
	a := s.resolver.resolve(ctx, canonical(q.Name))
	ttl := uint32(max(a.expires.Sub(s.resolver.opt.Now())/time.Second, 0))
	switch {
	case errors.Is(a.err, errNoAddress):
		return
	case a.err != nil && a.kind == octopus.KindNoHost:
		m.Rcode = mdns.RcodeNameError
	case a.err != nil:
		m.Rcode = mdns.RcodeServerFailure
	}
	for _, addr := range a.addrs {
		if addr.Is4() == (q.Qtype == mdns.TypeA) {
			m.Answer = append(m.Answer, record(q, addr, ttl))
		}
	}
}

// record is the record of an address.
func record(q mdns.Question, addr netip.Addr, ttl uint32) mdns.RR {
	h := mdns.RR_Header{Name: q.Name, Rrtype: q.Qtype, Class: mdns.ClassINET, Ttl: ttl}
	if addr.Is4() {
		return &mdns.A{Hdr: h, A: addr.AsSlice()}
	}
	return &mdns.AAAA{Hdr: h, AAAA: addr.AsSlice()}
}
