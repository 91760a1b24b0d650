package dns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	mdns "github.com/miekg/dns"
)

const (
	rounds  = 2    // times every server is asked
	udpSize = 1232 // bytes of a reply that cross any path unfragmented (DNS flag day 2020)
)

// exchange asks the servers in order, twice, until one gives an answer that
// says something of the name: found, or certainly not there.
func (r *Resolver) exchange(ctx context.Context, name string, qtype uint16) (*mdns.Msg, error) {
	var last error
	for range rounds {
		for _, server := range r.opt.Servers {
			m, err := r.ask(ctx, server, name, qtype)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err == nil && (m.Rcode == mdns.RcodeSuccess || m.Rcode == mdns.RcodeNameError) {
				return m, nil
			}
			if err == nil {
				err = errors.New(mdns.RcodeToString[m.Rcode])
			}
			last = fmt.Errorf("server %s: %w", server, err)
		}
	}
	return nil, last
}

// ask puts one question to one server: over UDP, over TCP where the reply was
// truncated, and without EDNS where the server does not know it.
func (r *Resolver) ask(ctx context.Context, server, name string, qtype uint16) (*mdns.Msg, error) {
	q := new(mdns.Msg).SetQuestion(mdns.Fqdn(name), qtype)
	q.SetEdns0(udpSize, false)
	m, err := r.once(ctx, "udp", server, q)
	if err == nil && (m.Rcode == mdns.RcodeFormatError || m.Rcode == mdns.RcodeNotImplemented) {
		q.Extra = nil
		m, err = r.once(ctx, "udp", server, q)
	}
	if err == nil && m.Truncated {
		m, err = r.once(ctx, "tcp", server, q)
	}
	return m, err
}

// once sends q and waits for its reply. Over UDP everything that is not the
// reply is ignored, so that junk sent by a third party can neither pass for an
// answer nor end the wait. Each question has its own socket, so its own random
// port.
func (r *Resolver) once(ctx context.Context, network, server string, q *mdns.Msg) (*mdns.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, r.opt.TryTimeout)
	defer cancel()
	raw, err := r.dialer.DialContext(ctx, network, server)
	if err != nil {
		return nil, err
	}
	conn := &mdns.Conn{Conn: raw, UDPSize: udpSize}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := conn.WriteMsg(q); err != nil {
		return nil, err
	}
	for {
		m, err := conn.ReadMsg()
		switch {
		case m == nil:
			return nil, timeoutOr(ctx, err)
		case err == nil && answers(m, q):
			return m, nil
		case network == "tcp":
			return nil, errors.New("the reply is not one to the question")
		}
	}
}

// answers reports whether m is the reply to q.
func answers(m, q *mdns.Msg) bool {
	if !m.Response || m.Id != q.Id || len(m.Question) > 1 {
		return false
	}
	if len(m.Question) == 0 { // some servers leave it out of a refusal
		return m.Rcode != mdns.RcodeSuccess && m.Rcode != mdns.RcodeNameError
	}
	a, b := m.Question[0], q.Question[0]
	return a.Qtype == b.Qtype && a.Qclass == b.Qclass && strings.EqualFold(a.Name, b.Name)
}

// timeoutOr returns "no answer" in place of the poll error that ends a wait.
func timeoutOr(ctx context.Context, err error) error {
	var ne net.Error
	if ctx.Err() != nil || errors.As(err, &ne) && ne.Timeout() {
		return errors.New("no answer in time")
	}
	return err
}
