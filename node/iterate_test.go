package node_test

import (
	"context"
	"errors"
	"testing"

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
