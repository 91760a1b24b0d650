package webtest_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	mdns "github.com/miekg/dns"

	"octopus/internal/webtest"
)

// The same seed and port give the same bytes, another seed others.
func TestSameSeedSameWeb(t *testing.T) {
	opt := webtest.Options{Seed: 7, Hosts: 6, Pages: 60}
	first := webtest.New(opt)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	truth := first.Truth()
	digests := map[string]string{}
	for u := range truth.Pages {
		digests[u] = first.Digest(u)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	fmt.Sscanf(first.Entries()[0], "http://www.site-0.test:%d/", &opt.Port)
	again := start(t, opt)
	for u := range again.Truth().Pages {
		if again.Digest(u) != digests[u] {
			t.Errorf("%s differs", u)
		}
	}
	opt.Seed, opt.Port = 8, 0
	other := start(t, opt)
	if u := other.Entries()[0]; other.Digest(u) == digests[first.Entries()[0]] {
		t.Error("another seed gives the same front page")
	}
}

func TestTLSWithHTTP2(t *testing.T) {
	web := start(t, webtest.Options{Seed: 1, Hosts: 2, Pages: 20, TLS: true, Gzip: true})
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(web.CA()) {
		t.Fatal("no certificate")
	}
	w := newWalker(t, web, 0)
	tr := w.client.Transport.(*http.Transport)
	tr.TLSClientConfig, tr.ForceAttemptHTTP2 = &tls.Config{RootCAs: pool}, true
	resp, err := w.client.Get(web.Entries()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.ProtoMajor != 2 || !resp.Uncompressed || digest(body) != web.Digest(web.Entries()[0]) {
		t.Errorf("%v, %s, gzip %v, %d bytes", err, resp.Proto, resp.Uncompressed, len(body))
	}
}

func TestNotModified(t *testing.T) {
	web := start(t, webtest.Options{Seed: 1, Hosts: 1, Pages: 20, Features: webtest.Plain})
	c := newClient(t, web)
	req, _ := http.NewRequest("GET", c.base+"/", nil)
	req.Header.Set("If-None-Match", c.get("/").Header.Get("ETag"))
	resp, err := c.http.Do(req)
	if err != nil || resp.StatusCode != 304 {
		t.Fatalf("%v %v", resp, err)
	}
	resp.Body.Close()
}

func TestNames(t *testing.T) {
	web := start(t, webtest.Options{Seed: 1})
	ask := func(network, name string, qtype uint16) *mdns.Msg {
		m, _, err := (&mdns.Client{Net: network, Timeout: 5 * time.Second}).Exchange(new(mdns.Msg).SetQuestion(name, qtype), web.ResolverAddr())
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, c := range []struct {
		name          string
		qtype         uint16
		rcode, answer int
	}{
		{"www.site-0.test.", mdns.TypeA, mdns.RcodeSuccess, 1},
		{"WWW.Site-0.TEST.", mdns.TypeA, mdns.RcodeSuccess, 1},
		{"www.site-0.test.", mdns.TypeAAAA, mdns.RcodeSuccess, 0},
		{"blog.site-0.test.", mdns.TypeA, mdns.RcodeSuccess, 2}, // behind a CNAME
		{"xn--bcher-kva.site-1.test.", mdns.TypeA, mdns.RcodeSuccess, 1},
		{"gone.no-such-site.test.", mdns.TypeA, mdns.RcodeNameError, 0},
		{"example.com.", mdns.TypeA, mdns.RcodeNameError, 0},
	} {
		for _, network := range []string{"udp", "tcp"} {
			if m := ask(network, c.name, c.qtype); m.Rcode != c.rcode || len(m.Answer) != c.answer {
				t.Errorf("%s %s: %v", network, c.name, m)
			}
		}
	}
}

// A web of many pages takes no memory for them, and a page little time.
func BenchmarkPage(b *testing.B) {
	web := start(b, webtest.Options{Seed: 1, Hosts: 1, Pages: 200_000, PageSize: 20_000, Links: 40, Features: webtest.Plain})
	url := strings.TrimSuffix(web.Entries()[0], "/")
	for i := 0; b.Loop(); i++ {
		if web.Digest(fmt.Sprintf("%s/topics/%d/", url, 1+i%19_000)) == "" {
			b.Fatal(i)
		}
	}
}

// The mean links of a page are about what was asked for.
func TestMeans(t *testing.T) {
	web := start(t, webtest.Options{Seed: 1, Hosts: 1, Pages: 3000, PageSize: 20_000, Links: 40, Features: webtest.Plain})
	url := strings.TrimSuffix(web.Entries()[0], "/")
	w := newWalker(t, web, 0)
	size, links, n := 0, 0, 0
	for u := range web.Truth().Pages {
		if n++; n > 300 {
			break
		}
		resp, body, err := w.get(u)
		if err != nil || resp.StatusCode != 200 || !strings.HasPrefix(u, url) {
			t.Fatalf("%s: %v", u, err)
		}
		size += len(body)
		links += strings.Count(string(body), "<a href=")
	}
	if s, l := size/300, links/300; s < 15_000 || s > 25_000 || l < 32 || l > 48 {
		t.Errorf("mean size %d, want about 20,000; mean links %d, want about 40", s, l)
	}
}
