package dns_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	mdns "github.com/miekg/dns"

	"octopus"
	"octopus/dns"
)

// resolver returns a Resolver that asks f, with short time-outs.
func resolver(f *fake, opt dns.Options) *dns.Resolver {
	if f != nil {
		opt.Servers = []string{f.addr}
	}
	if opt.Hosts == "" {
		opt.Hosts = "-"
	}
	if opt.TryTimeout == 0 {
		opt.TryTimeout = 2 * time.Second
	}
	return dns.New(opt)
}

// zone answers from records in zone-file form.
func zone(t testing.TB, records ...string) func(string, *mdns.Msg, *mdns.Msg) *mdns.Msg {
	var all []mdns.RR
	for _, r := range records {
		all = append(all, rr(t, r))
	}
	return func(_ string, q, m *mdns.Msg) *mdns.Msg {
		name, qtype := q.Question[0].Name, q.Question[0].Qtype
		known := false
		for {
			next := ""
			for _, r := range all {
				if !strings.EqualFold(r.Header().Name, name) {
					continue
				}
				known = true
				if r.Header().Rrtype == qtype {
					m.Answer = append(m.Answer, r)
				} else if c, ok := r.(*mdns.CNAME); ok {
					m.Answer, next = append(m.Answer, r), c.Target
				}
			}
			if next == "" {
				break
			}
			name = next
		}
		if !known {
			m.Rcode = mdns.RcodeNameError
		}
		return m
	}
}

func addrs(texts ...string) []netip.Addr {
	var out []netip.Addr
	for _, s := range texts {
		out = append(out, netip.MustParseAddr(s))
	}
	return out
}

func kindOf(err error) octopus.Kind {
	var e *octopus.Error
	if !errors.As(err, &e) {
		return 255
	}
	return e.Kind
}

func want(t *testing.T, r *dns.Resolver, host string, addresses ...string) {
	t.Helper()
	got, err := r.LookupNetIP(t.Context(), host)
	if err != nil || !slices.Equal(got, addrs(addresses...)) {
		t.Fatalf("LookupNetIP(%q) = %v, %v; want %v", host, got, err, addresses)
	}
}

func wantKind(t *testing.T, r *dns.Resolver, host string, kind octopus.Kind) {
	t.Helper()
	got, err := r.LookupNetIP(t.Context(), host)
	if kindOf(err) != kind || len(got) != 0 {
		t.Fatalf("LookupNetIP(%q) = %v, %v; want an error of kind %v", host, got, err, kind)
	}
}

func TestAddresses(t *testing.T) {
	f := serve(t, zone(t,
		"both.test. 300 IN AAAA 2001:470::5", "both.test. 300 IN A 9.9.9.1", "both.test. 300 IN A 9.9.9.2",
		"six.test. 300 IN AAAA 2001:470::6",
		"www.test. 300 IN CNAME web.test.", "web.test. 300 IN CNAME both.test.",
		"text.test. 300 IN TXT hello"))
	r := resolver(f, dns.Options{})
	want(t, r, "both.test", "9.9.9.1", "9.9.9.2", "2001:470::5")
	want(t, r, "BOTH.test.", "9.9.9.1", "9.9.9.2", "2001:470::5")
	want(t, r, "six.test", "2001:470::6")
	want(t, r, "www.test", "9.9.9.1", "9.9.9.2", "2001:470::5")
	wantKind(t, r, "text.test", octopus.KindNoHost)
	wantKind(t, r, "absent.test", octopus.KindNoHost)
}

func TestLiteralsAndOddNames(t *testing.T) {
	f := serve(t, zone(t))
	r := resolver(f, dns.Options{})
	want(t, r, "192.0.2.7", "192.0.2.7")
	want(t, r, "2001:db8::1", "2001:db8::1")
	want(t, r, "[2001:db8::1]", "2001:db8::1")
	want(t, r, "::ffff:10.0.0.1", "10.0.0.1")
	want(t, r, "localhost", "127.0.0.1", "::1")
	want(t, r, "a.b.localhost", "127.0.0.1", "::1")
	for _, name := range []string{"", ".", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "0x7f000001", "a.0x", "0", "1.2.3.4.5",
		"fe80::1%eth0", "a b", "a..b", "a/b", strings.Repeat("a", 64) + ".test", strings.Repeat("a.", 200) + "test", "a\x00b"} {
		wantKind(t, r, name, octopus.KindNoHost)
	}
	if n := f.queries.Load(); n != 0 {
		t.Errorf("%d questions were sent for names that need none", n)
	}
}

func TestHostsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hosts")
	text := "# comment\n10.1.2.3 Alpha.test alpha # tail\nfd00::7\talpha.test\nnonsense x\n10.1.2.4\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f := serve(t, zone(t))
	r := resolver(f, dns.Options{Hosts: file})
	want(t, r, "alpha.test", "10.1.2.3", "fd00::7")
	want(t, r, "ALPHA", "10.1.2.3")
	if f.queries.Load() != 0 {
		t.Error("a name of the hosts file was asked")
	}
}

func TestEveryRcode(t *testing.T) {
	for code := 1; code <= 10; code++ {
		t.Run(mdns.RcodeToString[code], func(t *testing.T) {
			f := serve(t, func(_ string, _, m *mdns.Msg) *mdns.Msg { m.Rcode = code; return m })
			kind := octopus.KindDNS
			if code == mdns.RcodeNameError {
				kind = octopus.KindNoHost
			}
			wantKind(t, resolver(f, dns.Options{}), "x.test", kind)
		})
	}
}

func TestTTL(t *testing.T) {
	for _, c := range []struct {
		name        string
		record      int // TTL in the record, seconds
		opt         dns.Options
		kept, asked time.Duration // still known after, asked again after
	}{
		{"as the zone says", 300, dns.Options{}, 299 * time.Second, 300 * time.Second},
		{"at least a minute", 0, dns.Options{}, 59 * time.Second, 60 * time.Second},
		{"at most a day", 1 << 30, dns.Options{}, 24*time.Hour - 1, 24 * time.Hour},
		{"lowered", 1, dns.Options{MinTTL: -1}, time.Second - 1, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := serve(t, zone(t, fmt.Sprintf("x.test. %d IN A 9.9.9.1", c.record)))
			var clk clock
			c.opt.Now = clk.now
			r := resolver(f, c.opt)
			want(t, r, "x.test", "9.9.9.1")
			first := f.queries.Load()
			clk.advance(c.kept)
			want(t, r, "x.test", "9.9.9.1")
			if f.queries.Load() != first {
				t.Errorf("asked again after %v", c.kept)
			}
			clk.advance(c.asked - c.kept)
			want(t, r, "x.test", "9.9.9.1")
			if f.queries.Load() == first {
				t.Errorf("not asked again after %v", c.asked)
			}
		})
	}
}

func TestNegativeCache(t *testing.T) {
	for _, c := range []struct {
		soa  string
		kept time.Duration
	}{
		{"", 5 * time.Minute},
		{"test. 3600 IN SOA ns.test. a.test. 1 2 3 4 90", 90 * time.Second},
		{"test. 3600 IN SOA ns.test. a.test. 1 2 3 4 86400", 5 * time.Minute},
		{"test. 0 IN SOA ns.test. a.test. 1 2 3 4 86400", time.Minute},
	} {
		f := serve(t, func(_ string, _, m *mdns.Msg) *mdns.Msg {
			m.Rcode = mdns.RcodeNameError
			if c.soa != "" {
				m.Ns = append(m.Ns, rr(t, c.soa))
			}
			return m
		})
		var clk clock
		r := resolver(f, dns.Options{Now: clk.now})
		wantKind(t, r, "x.test", octopus.KindNoHost)
		first := f.queries.Load()
		clk.advance(c.kept - 1)
		wantKind(t, r, "x.test", octopus.KindNoHost)
		if f.queries.Load() != first {
			t.Errorf("SOA %q: forgotten before %v", c.soa, c.kept)
		}
		clk.advance(1)
		wantKind(t, r, "x.test", octopus.KindNoHost)
		if f.queries.Load() == first {
			t.Errorf("SOA %q: still known after %v", c.soa, c.kept)
		}
	}
}

func TestFailureIsForgottenSoon(t *testing.T) {
	var broken atomic.Bool
	broken.Store(true)
	good := zone(t, "x.test. 300 IN A 9.9.9.1")
	f := serve(t, func(n string, q, m *mdns.Msg) *mdns.Msg {
		if broken.Load() {
			m.Rcode = mdns.RcodeServerFailure
			return m
		}
		return good(n, q, m)
	})
	var clk clock
	r := resolver(f, dns.Options{Now: clk.now})
	wantKind(t, r, "x.test", octopus.KindDNS)
	broken.Store(false)
	wantKind(t, r, "x.test", octopus.KindDNS)
	clk.advance(5 * time.Second)
	want(t, r, "x.test", "9.9.9.1")
}

// One family failing must neither hide the other nor make the name dead.
func TestHalfAnswers(t *testing.T) {
	f := serve(t, func(_ string, q, m *mdns.Msg) *mdns.Msg {
		switch {
		case q.Question[0].Qtype == mdns.TypeAAAA:
			m.Rcode = mdns.RcodeServerFailure
		case q.Question[0].Name == "four.test.":
			m.Answer = append(m.Answer, rr(t, "four.test. 60 IN A 9.9.9.1"))
		}
		return m
	})
	r := resolver(f, dns.Options{})
	want(t, r, "four.test", "9.9.9.1")
	wantKind(t, r, "none.test", octopus.KindDNS)
}

func TestAliasChains(t *testing.T) {
	chain := func(n int) []string {
		records := []string{fmt.Sprintf("n%d.test. 300 IN A 9.9.9.1", n)}
		for i := range n {
			records = append(records, fmt.Sprintf("n%d.test. 300 IN CNAME n%d.test.", i, i+1))
		}
		return records
	}
	step := func(records []string) func(string, *mdns.Msg, *mdns.Msg) *mdns.Msg { // one link per message
		return func(_ string, q, m *mdns.Msg) *mdns.Msg {
			for _, text := range records {
				r := rr(t, text)
				if r.Header().Name == q.Question[0].Name && (r.Header().Rrtype == q.Question[0].Qtype || r.Header().Rrtype == mdns.TypeCNAME) {
					m.Answer = append(m.Answer, r)
				}
			}
			return m
		}
	}
	want(t, resolver(serve(t, zone(t, chain(8)...)), dns.Options{}), "n0.test", "9.9.9.1")
	wantKind(t, resolver(serve(t, zone(t, chain(9)...)), dns.Options{}), "n0.test", octopus.KindNoHost)
	want(t, resolver(serve(t, step(chain(8))), dns.Options{}), "n0.test", "9.9.9.1")
	wantKind(t, resolver(serve(t, step(chain(9))), dns.Options{}), "n0.test", octopus.KindNoHost)
	loop := step([]string{"a.test. 300 IN CNAME b.test.", "b.test. 300 IN CNAME a.test."})
	wantKind(t, resolver(serve(t, loop), dns.Options{}), "a.test", octopus.KindNoHost)
}

func TestTruncatedGoesToTCP(t *testing.T) {
	var tcp atomic.Int64
	f := serve(t, func(network string, q, m *mdns.Msg) *mdns.Msg {
		if network == "udp" {
			m.Truncated = true
			return m
		}
		tcp.Add(1)
		if q.Question[0].Qtype == mdns.TypeA {
			for i := range 1000 {
				m.Answer = append(m.Answer, rr(t, fmt.Sprintf("x.test. 300 IN A 9.9.%d.%d", i/250, i%250+1)))
			}
		}
		return m
	})
	got, err := resolver(f, dns.Options{}).LookupNetIP(t.Context(), "x.test")
	if err != nil || len(got) != 32 || tcp.Load() != 2 {
		t.Fatalf("got %d addresses, %v, %d questions over TCP; want 32, nil, 2", len(got), err, tcp.Load())
	}
}

// Forged replies come first, the true one last.
func TestForgedRepliesAreIgnored(t *testing.T) {
	forge := map[string]func(m *mdns.Msg){
		"wrong id":       func(m *mdns.Msg) { m.Id++ },
		"wrong question": func(m *mdns.Msg) { m.Question[0].Name = "evil.test." },
		"wrong type":     func(m *mdns.Msg) { m.Question[0].Qtype = mdns.TypeMX },
		"no question":    func(m *mdns.Msg) { m.Question = nil },
		"not a reply":    func(m *mdns.Msg) { m.Response = false },
	}
	for name, spoil := range forge {
		t.Run(name, func(t *testing.T) {
			f := serve(t, func(_ string, q, m *mdns.Msg) *mdns.Msg {
				m.Answer = append(m.Answer, rr(t, "x.test. 300 IN A 6.6.6.6"))
				spoil(m)
				return m
			})
			r := resolver(f, dns.Options{TryTimeout: 50 * time.Millisecond})
			wantKind(t, r, "x.test", octopus.KindDNS)
		})
	}
}

func TestOtherNamesInAnAnswerDoNotCount(t *testing.T) {
	f := serve(t, func(_ string, _, m *mdns.Msg) *mdns.Msg {
		m.Answer = append(m.Answer, rr(t, "other.test. 300 IN A 6.6.6.6"))
		return m
	})
	wantKind(t, resolver(f, dns.Options{}), "x.test", octopus.KindNoHost)
}

func TestServersInTurn(t *testing.T) {
	silent := serve(t, func(string, *mdns.Msg, *mdns.Msg) *mdns.Msg { return nil })
	failing := serve(t, func(_ string, _, m *mdns.Msg) *mdns.Msg { m.Rcode = mdns.RcodeServerFailure; return m })
	good := serve(t, zone(t, "x.test. 300 IN A 9.9.9.1"))
	opt := dns.Options{Servers: []string{silent.addr, failing.addr, good.addr}, TryTimeout: 50 * time.Millisecond}
	want(t, resolver(nil, opt), "x.test", "9.9.9.1")
	opt.Servers = []string{silent.addr}
	wantKind(t, resolver(nil, opt), "x.test", octopus.KindDNS)
	if n := silent.queries.Load(); n != 2+4 {
		t.Errorf("the silent server got %d questions, want 2 and then 4", n)
	}
}

func TestOldServerWithoutEDNS(t *testing.T) {
	good := zone(t, "x.test. 300 IN A 9.9.9.1")
	f := serve(t, func(n string, q, m *mdns.Msg) *mdns.Msg {
		if q.IsEdns0() != nil {
			m.Rcode = mdns.RcodeFormatError
			return m
		}
		return good(n, q, m)
	})
	want(t, resolver(f, dns.Options{}), "x.test", "9.9.9.1")
}

func TestOneLookupForAll(t *testing.T) {
	release := make(chan struct{})
	good := zone(t, "x.test. 300 IN A 9.9.9.1")
	f := serve(t, func(n string, q, m *mdns.Msg) *mdns.Msg { <-release; return good(n, q, m) })
	r := resolver(f, dns.Options{TryTimeout: 10 * time.Second})
	impatient, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() { _, err := r.LookupNetIP(impatient, "x.test"); left <- err }()
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if got, err := r.LookupNetIP(t.Context(), "x.test"); err != nil || len(got) != 1 {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
	cancel()
	if err := <-left; kindOf(err) != octopus.KindCanceled {
		t.Errorf("a waiter that was cancelled got %v", err)
	}
	close(release)
	all.Wait()
	if n := f.queries.Load(); n > 4 { // two, or four where the impatient one was alone first
		t.Errorf("%d questions for one name, want 2", n)
	}
}

func TestDeadlineOfAWaiter(t *testing.T) {
	f := serve(t, func(string, *mdns.Msg, *mdns.Msg) *mdns.Msg { return nil })
	r := resolver(f, dns.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := r.LookupNetIP(ctx, "x.test"); kindOf(err) != octopus.KindDNS || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want KindDNS for the deadline", err)
	}
}

func TestCacheIsBounded(t *testing.T) {
	f := serve(t, func(_ string, q, m *mdns.Msg) *mdns.Msg {
		if q.Question[0].Qtype == mdns.TypeA {
			m.Answer = append(m.Answer, rr(t, q.Question[0].Name+" 300 IN A 9.9.9.1"))
		}
		return m
	})
	r := resolver(f, dns.Options{MaxEntries: 2})
	ask := func(name string, asked int64) {
		t.Helper()
		before := f.queries.Load()
		want(t, r, name, "9.9.9.1")
		if n := f.queries.Load() - before; n != asked {
			t.Errorf("%s: %d questions, want %d", name, n, asked)
		}
	}
	ask("a.test", 2)
	ask("b.test", 2)
	ask("a.test", 0) // now b is the oldest
	ask("c.test", 2)
	ask("a.test", 0)
	ask("b.test", 2)
}

// A name whose address changes with every question, TTL 0, keeps its first one
// for MinTTL.
func TestRebinding(t *testing.T) {
	var n atomic.Int64
	f := serve(t, func(_ string, q, m *mdns.Msg) *mdns.Msg {
		if q.Question[0].Qtype == mdns.TypeA {
			ip := []string{"9.9.9.1", "127.0.0.1"}[(n.Add(1)-1)%2]
			m.Answer = append(m.Answer, rr(t, "x.test. 0 IN A "+ip))
		}
		return m
	})
	var clk clock
	r := resolver(f, dns.Options{Now: clk.now})
	for range 59 {
		want(t, r, "x.test", "9.9.9.1")
		clk.advance(time.Second)
	}
}

func BenchmarkCached(b *testing.B) {
	f := serve(b, zone(b, "x.test. 300 IN A 9.9.9.1"))
	r := resolver(f, dns.Options{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.LookupNetIP(b.Context(), "x.test"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAsked(b *testing.B) {
	f := serve(b, zone(b, "x.test. 0 IN A 9.9.9.1"))
	r := resolver(f, dns.Options{MinTTL: -1})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.LookupNetIP(b.Context(), "x.test"); err != nil {
			b.Fatal(err)
		}
	}
}
