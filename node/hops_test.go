package node_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"octopus"
	"octopus/node"
)

// A chain of redirects without end is followed for so many hops; the next one is
// counted, whatever remembers the URLs.
func TestTooManyRedirects(t *testing.T) {
	for _, seen := range []string{"exact", "bloom"} {
		requests := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/robots.txt" {
				requests++ // one request at a time
				http.Redirect(w, r, fmt.Sprintf("/%d", requests), http.StatusFound)
			}
		}))
		t.Cleanup(s.Close)
		cfg := config(t)
		cfg.Fetcher.Concurrency, cfg.Fetcher.ConnsPerHost, cfg.Seen.Kind = 1, 1, seen
		n, err := node.Open(cfg, node.Options{})
		if err != nil {
			t.Fatal(err)
		}
		sum, err := n.Run(t.Context(), []string{s.URL + "/0"})
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		if err != nil || requests != octopus.MaxHops+1 || sum.Skipped[octopus.ReasonHops] != 1 {
			t.Errorf("seen %s: %d requests, want %d; skipped %v, want one for %s; %v", seen, requests, octopus.MaxHops+1, sum.Skipped, octopus.ReasonHops, err)
		}
	}
}
