package node_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"octopus/container"
	"octopus/node"
)

// TestIPv6 crawls a host that is an IPv6 address, obeys its robots.txt, blocks
// it by name and takes its pages off the disk.
func TestIPv6(t *testing.T) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("this machine has no IPv6 loopback:", err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /secret")
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<a href=/next>next</a> <a href=/secret>secret</a>")
		case "/secret":
			t.Error("robots.txt was not obeyed")
		}
	}))
	s.Listener.Close()
	s.Listener = l
	s.Start()
	defer s.Close()

	cfg := config(t)
	cfg.Fetcher.AllowNet = []string{"::1/128"}
	if sum := run(t, cfg, node.Options{}, s.URL+"/"); sum.Pages != 2 {
		t.Errorf("%d pages, want 2: errors %v", sum.Pages, sum.Errors)
	}
	n, err := node.Open(cfg, node.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Operate(t.Context(), node.Operation{Verb: node.BlockHost, Host: "::1", Until: time.Now().Add(time.Hour)}); err != nil {
		t.Error(err)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	pages, err := container.Open(container.Options{Dir: cfg.Dir + "/pages"})
	if err != nil {
		t.Fatal(err)
	}
	defer pages.Close()
	if r, err := pages.PurgeHost(t.Context(), "::1", nil); err != nil || r.Dropped != 2 {
		t.Errorf("purge: %+v, %v; want 2 dropped", r, err)
	}
}
