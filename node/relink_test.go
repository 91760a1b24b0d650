package node_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"octopus"
	"octopus/node"
)

// TestLimitAddedLive: a crawl that was begun without any limit of depth gets a board
// with one. A page that is met by a longer way first, at the limit, has its links read
// again when the shorter way turns up.
func TestLimitAddedLive(t *testing.T) {
	links := map[string]string{"/": "/slow /a", "/a": "/b", "/b": "/x", "/x": "/y", "/slow": "/x"} // /y is 3 links away, by way of /slow
	var n *node.Node
	do := func(c node.BoardCommand) {
		if _, err := n.DoBoard(t.Context(), c); err != nil {
			t.Error(err)
		}
	}
	met := make(chan struct{})
	var found atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/start":
			b := node.BoardConfig{Name: "limited", Entry: []string{"http://" + r.Host + "/"}, Scope: octopus.ScopeHost, Depth: 3, Render: "off", Classify: "auto"}
			do(node.BoardCommand{Verb: node.BoardAdd, Board: &b})
			do(node.BoardCommand{Verb: node.BoardInject, Name: b.Name})
		case "/slow":
			<-met
		case "/x":
			defer close(met)
		case "/y":
			found.Store(true)
		}
		w.Header().Set("Content-Type", "text/html")
		for _, to := range strings.Fields(links[r.URL.Path]) {
			fmt.Fprintf(w, "<a href=%s>to</a>", to)
		}
	}))
	defer s.Close()
	cfg := config(t)
	cfg.Crawl.Scope, cfg.Fetcher.ConnsPerHost, cfg.Robots.Policy = octopus.ScopePage, 2, "ignore"
	n, err := node.Open(cfg, node.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = n.Run(t.Context(), []string{s.URL + "/start"}); err != nil {
		t.Error(err)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	if !found.Load() {
		t.Error("the crawl ended without the page that the limit lets in")
	}
}
