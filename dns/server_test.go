package dns_test

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	mdns "github.com/miekg/dns"

	"octopus"
	"octopus/dns"
)

// A Resolver that asks a Server that asks the fake one sees the same world; the
// second question is answered from the cache, with the TTL that is left.
func TestServer(t *testing.T) {
	records := []string{"x.test. 300 IN A 9.9.9.1", "x.test. 300 IN AAAA 2001:470::1", "six.test. 300 IN AAAA 2001:470::6"}
	for i := range 40 {
		records = append(records, fmt.Sprintf("many.test. 300 IN A 9.9.8.%d", i+1))
	}
	upstream := serve(t, zone(t, records...))
	var clk clock
	s := dns.NewServer("127.0.0.1:0", resolver(upstream, dns.Options{Now: clk.now}))
	ctx, stop := context.WithCancel(t.Context())
	address, ended := make(chan net.Addr), make(chan error)
	go func() { ended <- s.Run(ctx, func(a net.Addr) { address <- a }) }()
	f := &fake{addr: (<-address).String()}

	r := resolver(f, dns.Options{})
	want(t, r, "x.test", "9.9.9.1", "2001:470::1")
	want(t, r, "six.test", "2001:470::6")
	wantKind(t, r, "absent.test", octopus.KindNoHost)
	if got, err := r.LookupNetIP(t.Context(), "many.test"); len(got) != 32 {
		t.Errorf("many addresses: %d, %v", len(got), err)
	}

	old := &mdns.Client{Net: "udp"} // without EDNS: 512 bytes
	if m, _, err := old.Exchange(new(mdns.Msg).SetQuestion("many.test.", mdns.TypeA), f.addr); err != nil || !m.Truncated {
		t.Errorf("more than 512 bytes: %v, %v", m, err)
	}

	asked := upstream.queries.Load()
	clk.advance(100 * time.Second)
	client := &mdns.Client{Net: "tcp"}
	m, _, err := client.Exchange(new(mdns.Msg).SetQuestion("x.test.", mdns.TypeA), f.addr)
	if err != nil || len(m.Answer) != 1 || m.Answer[0].Header().Ttl != 200 || upstream.queries.Load() != asked {
		t.Errorf("from the cache: %v, %v", m, err)
	}
	m, _, err = client.Exchange(new(mdns.Msg).SetQuestion("x.test.", mdns.TypeMX), f.addr)
	if err != nil || m.Rcode != mdns.RcodeNotImplemented {
		t.Errorf("MX: %v, %v", m, err)
	}
	if err := dns.NewServer(f.addr, r).Run(t.Context(), nil); err == nil {
		t.Error("a second server on the same port runs")
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("stopped with %v", err)
	}
}
