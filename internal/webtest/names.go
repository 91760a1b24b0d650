package webtest

import (
	"fmt"
	"net"
	"strings"

	mdns "github.com/miekg/dns"
)

const nameTTL = 60 // seconds

// startNames starts the name server, UDP and TCP on one loopback port.
func (w *Web) startNames() error {
	for try := 0; ; try++ {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("webtest: name server: %w", err)
		}
		p, err := net.ListenPacket("udp", l.Addr().String())
		if err != nil {
			l.Close()
			if try < 20 {
				continue // that port is free for TCP only
			}
			return fmt.Errorf("webtest: name server: %w", err)
		}
		w.names = []*mdns.Server{
			{Listener: l, Handler: mdns.HandlerFunc(w.answerName)},
			{PacketConn: p, Handler: mdns.HandlerFunc(w.answerName)},
		}
		break
	}
	for _, n := range w.names {
		started := make(chan struct{}) // Shutdown before the start would be an error
		n.NotifyStartedFunc = func() { close(started) }
		w.serving.Go(func() { n.ActivateAndServe() })
		<-started
	}
	return nil
}

// ResolverAddr returns HOST:PORT of the name server that knows the hosts.
func (w *Web) ResolverAddr() string { return w.names[0].Listener.Addr().String() }

// answerName answers one question: A records for the hosts that have an
// address, some behind a CNAME, NXDOMAIN for names that do not exist.
func (w *Web) answerName(out mdns.ResponseWriter, q *mdns.Msg) {
	m := new(mdns.Msg).SetReply(q)
	m.Authoritative = true
	if len(q.Question) != 1 {
		m.Rcode = mdns.RcodeFormatError
		out.WriteMsg(m)
		return
	}
	name := q.Question[0].Name
	h := w.byName[strings.ToLower(strings.TrimSuffix(name, "."))]
	if h == nil || h.state == missing {
		m.Rcode = mdns.RcodeNameError
		m.Ns = append(m.Ns, soa())
		out.WriteMsg(m)
		return
	}
	if t := q.Question[0].Qtype; t != mdns.TypeA && t != mdns.TypeCNAME {
		m.Ns = append(m.Ns, soa())
		out.WriteMsg(m)
		return
	}
	if h.alias != "" {
		alias := h.alias + "."
		m.Answer = append(m.Answer, &mdns.CNAME{Hdr: header(name, mdns.TypeCNAME), Target: alias})
		name = alias
	}
	if q.Question[0].Qtype == mdns.TypeA {
		m.Answer = append(m.Answer, &mdns.A{Hdr: header(name, mdns.TypeA), A: h.addr.AsSlice()})
	}
	out.WriteMsg(m)
}

func header(name string, rrtype uint16) mdns.RR_Header {
	return mdns.RR_Header{Name: name, Rrtype: rrtype, Class: mdns.ClassINET, Ttl: nameTTL}
}

func soa() mdns.RR {
	return &mdns.SOA{Hdr: header("test.", mdns.TypeSOA), Ns: "ns.test.", Mbox: "hostmaster.test.",
		Serial: 1, Refresh: 3600, Retry: 600, Expire: 86400, Minttl: nameTTL}
}
