package dns_test

import (
	"net"
	"sync/atomic"
	"testing"
	"time"

	mdns "github.com/miekg/dns"
)

// fake is a DNS server on loopback, UDP and TCP on one port.
type fake struct {
	addr    string
	queries atomic.Int64
}

// serve starts a server that answers with handle; a nil reply is never sent.
func serve(t testing.TB, handle func(network string, q, reply *mdns.Msg) *mdns.Msg) *fake {
	t.Helper()
	f := &fake{}
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.addr = udp.LocalAddr().String()
	tcp, err := net.Listen("tcp", f.addr)
	if err != nil {
		t.Skip("the port is taken for TCP:", err)
	}
	for _, s := range []*mdns.Server{{PacketConn: udp}, {Listener: tcp}} {
		network := "udp"
		if s.Listener != nil {
			network = "tcp"
		}
		s.Handler = mdns.HandlerFunc(func(w mdns.ResponseWriter, q *mdns.Msg) {
			f.queries.Add(1)
			if m := handle(network, q, new(mdns.Msg).SetReply(q)); m != nil {
				w.WriteMsg(m)
			}
		})
		started, done := make(chan struct{}), make(chan struct{})
		s.NotifyStartedFunc = func() { close(started) }
		go func() { defer close(done); s.ActivateAndServe() }()
		<-started
		t.Cleanup(func() { s.Shutdown(); <-done })
	}
	return f
}

// rr parses one record in zone-file form.
func rr(t testing.TB, text string) mdns.RR {
	t.Helper()
	r, err := mdns.NewRR(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// clock is a clock that moves when told.
type clock struct{ nanos atomic.Int64 }

func (c *clock) now() time.Time          { return time.Unix(1_800_000_000, c.nanos.Load()) }
func (c *clock) advance(d time.Duration) { c.nanos.Add(int64(d)) }
