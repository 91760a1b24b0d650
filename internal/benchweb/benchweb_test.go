package benchweb_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"octopus/internal/benchweb"
)

var href = regexp.MustCompile(`<a href="([^"]+)"`)

// walk follows all links from the entry and returns the bodies by URL.
func walk(t *testing.T, s *benchweb.Server, client *http.Client) map[string]string {
	t.Helper()
	pages, queue := map[string]string{s.Entry(): ""}, []string{s.Entry()}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		resp, err := client.Get(at)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("%s: %s, %v", at, resp.Status, err)
		}
		pages[at] = string(body)
		base, _ := url.Parse(at)
		for _, m := range href.FindAllStringSubmatch(string(body), -1) {
			u, err := base.Parse(m[1])
			if err != nil {
				t.Fatal(err)
			}
			if _, met := pages[u.String()]; !met {
				pages[u.String()] = ""
				queue = append(queue, u.String())
			}
		}
	}
	return pages
}

func start(t *testing.T, opt benchweb.Options) *benchweb.Server {
	t.Helper()
	s, err := benchweb.Start(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// client trusts s and asks its name server.
func client(s *benchweb.Server) *http.Client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(s.CA())
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", s.Resolver())
	}}
	if s.Resolver() == "" {
		resolver = nil
	}
	dialer := &net.Dialer{Resolver: resolver}
	return &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{RootCAs: pool}}}
}

func TestAllPagesAreReached(t *testing.T) {
	for name, opt := range map[string]benchweb.Options{
		"one host":    {Pages: 300},
		"many hosts":  {Hosts: 40, Pages: 5},
		"many fronts": {Hosts: 300, Pages: 1, Names: true},
		"gzip":        {Hosts: 2, Pages: 50, Gzip: true},
		"tls":         {Hosts: 3, Pages: 20, TLS: true, Names: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, opt)
			c := client(s)
			defer c.CloseIdleConnections()
			pages := walk(t, s, c)
			bytes, links := 0, 0
			for _, body := range pages {
				bytes += len(body)
				links += len(href.FindAllString(body, -1))
			}
			n := max(opt.Hosts, 1) * opt.Pages
			st := s.Stats()
			if len(pages) != n || st.Distinct != n || st.Pages != n || st.Duplicates != 0 || st.Missing != 0 {
				t.Errorf("%d pages walked, stats %+v; want %d, each once", len(pages), st, n)
			}
			if mean := bytes / n; mean < 15_000 || mean > 26_000 {
				t.Errorf("mean size %d, want about 20,000", mean)
			}
			if mean := links / n; mean < 34 || mean > 48 {
				t.Errorf("mean number of links %d, want about 40", mean)
			}
		})
	}
}

func TestDeterministic(t *testing.T) {
	opt := benchweb.Options{Pages: 3, Port: 0}
	fetch := func(seed uint64) string {
		opt.Seed = seed
		s := start(t, opt)
		resp, err := http.Get(s.Entry() + "p/2")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return regexp.MustCompile(`:\d+`).ReplaceAllString(string(body), "")
	}
	a, b, c := fetch(1), fetch(1), fetch(2)
	if a != b {
		t.Error("the same seed gave another page")
	}
	if a == c {
		t.Error("another seed gave the same page")
	}
}

func TestCounting(t *testing.T) {
	s := start(t, benchweb.Options{Pages: 3})
	for _, path := range []string{"", "", "p/1", "p/3", "p/x", "robots.txt"} {
		resp, err := http.Get(s.Entry() + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	got := s.Stats()
	got.Conns = 0
	want := benchweb.Stats{Pages: 3, Distinct: 2, Duplicates: 1, Requests: 6, Robots: 1, Missing: 2}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	s.Reset()
	if got := s.Stats(); got != (benchweb.Stats{Pages: 3}) {
		t.Errorf("after Reset: %+v", got)
	}
}

func BenchmarkPage(b *testing.B) {
	s, err := benchweb.Start(benchweb.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		resp, err := http.Get(fmt.Sprint(s.Entry(), "p/", 1+i%19_000))
		if err != nil {
			b.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}
