package node_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"octopus/node"
)

// TestCrawlLeft leaves the loop of Crawl in every way: the directory is free
// afterwards, and nothing is yielded any more.
func TestCrawlLeft(t *testing.T) {
	s := newSite(t, 30)
	leave := map[string]func(node.Config) error{
		"break": func(cfg node.Config) error {
			for _, err := range node.Crawl(t.Context(), s.entry(), cfg) {
				return err
			}
			return nil
		},
		"panic": func(cfg node.Config) (err error) {
			defer func() { recover() }()
			for range node.Crawl(t.Context(), s.entry(), cfg) {
				panic("in the body of the loop")
			}
			return errors.New("no page came")
		},
		"break, and Close fails": func(cfg node.Config) error {
			cfg.Fetcher.Log = "/dev/full"
			for _, err := range node.Crawl(t.Context(), s.entry(), cfg) {
				return err
			}
			return nil
		},
		"context": func(cfg node.Config) error {
			ctx, cancel := context.WithCancel(t.Context())
			for _, err := range node.Crawl(ctx, s.entry(), cfg) {
				cancel()
				if err != nil && !errors.Is(err, context.Canceled) {
					return err
				}
			}
			cancel()
			return nil
		},
	}
	for way, leave := range leave {
		cfg := config(t)
		if err := leave(cfg); err != nil {
			t.Errorf("%s: %v", way, err)
		}
		n, err := node.Open(cfg, node.Options{})
		if err != nil {
			t.Fatalf("after %s: %v", way, err)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestCrawlYieldsVisits: attempts that are made again, and robots.txt, are no
// visits.
func TestCrawlYieldsVisits(t *testing.T) {
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/":
			fmt.Fprint(w, "<title>Start</title><a href=/broken>broken</a>")
		case r.URL.Path == "/broken" || asked.Add(1) == 1: // cut off
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				conn.Close()
			}
		}
	}))
	defer s.Close()
	for _, outputs := range [][]string{nil, {filepath.Join(t.TempDir(), "pages.jsonl")}} {
		cfg := config(t)
		cfg.Output = outputs
		cfg.Fetcher.Retry.Max, cfg.Fetcher.Retry.Backoff = 2, node.Duration(time.Millisecond)
		asked.Store(0)
		var got []string
		for page, err := range node.Crawl(t.Context(), s.URL+"/", cfg) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, strings.TrimPrefix(page.URL, s.URL))
		}
		if !slices.Equal(got, []string{"/", "/broken"}) {
			t.Errorf("outputs %v: visits %v, want one of each page", outputs, got)
		}
	}
}
