package node_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"octopus/internal/servers"
	"octopus/node"
)

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		"postgres://ada:s@cret@db.test/x":                       "postgres://ada:xxxxx@db.test/x",
		"postgres://db.test/x?user=ada&password=secret&table=t": "postgres://db.test/x?user=ada&password=xxxxx&table=t",
		`dial "mysql://db.test/?sslPassword=secret": refused`:   `dial "mysql://db.test/?sslPassword=xxxxx": refused`,
		"https://example.com/?page=2":                           "https://example.com/?page=2",
	} {
		if got := node.Redact(text); got != want {
			t.Errorf("Redact(%s) = %s, want %s", text, got, want)
		}
	}
}

// TestDeadOutput kills the server of one of two outputs: the crawl goes on up
// to the bound, pauses there with the reason, can be cut, and a later run
// delivers all that was kept.
func TestDeadOutput(t *testing.T) {
	const pages = 300 // many more than the bound and all that may be under way
	s, cfg, server := newSite(t, pages), config(t), servers.MariaDB(t)
	file := filepath.Join(t.TempDir(), "out.jsonl")
	cfg.Output = []string{server.URL, file}
	cfg.Store.MaxPending = 20
	cfg.Crawl.MaxPages = 1
	run(t, cfg, node.Options{}, s.entry()) // the output is known now
	server.Kill()

	cfg.Crawl.MaxPages = 0
	n, err := node.Open(cfg, node.Options{})
	if err != nil {
		t.Fatalf("a crawl does not start without a server it knows: %v", err)
	}
	ctx, cut := context.WithCancel(t.Context())
	defer cut()
	done := make(chan node.Summary, 1)
	go func() {
		sum, err := n.Run(ctx, []string{s.entry()})
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v", err)
		}
		done <- sum
	}()
	servers.Await(t, func() error {
		st := n.Status()
		if why := st.Waiting; !strings.Contains(why, "paused: output mysql://octopus@") || !strings.Contains(why, "--max-pending is 20") || !strings.Contains(why, "refused") {
			return fmt.Errorf("waiting says %q", why)
		}
		if o := st.Outputs[0]; o.Pending < 20 || o.Error == "" || st.Counts.Queued == 0 {
			return fmt.Errorf("%d records wait, %d URLs are queued, error %q", o.Pending, st.Counts.Queued, o.Error)
		}
		if o := st.Outputs[1]; o.Pending != 0 || o.Error != "" {
			return fmt.Errorf("the file has %d records to come: %s", o.Pending, o.Error)
		}
		return nil
	})
	cut()
	sum := <-done
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(sum.Lack, "mysql://octopus@") || !strings.Contains(sum.Lack, "the same command delivers them") {
		t.Errorf("the summary lacks what an output lacks: %q", sum.Lack)
	}

	server.Start()
	if sum := run(t, cfg, node.Options{}, s.entry()); sum.Lack != "" || sum.End != node.EndEmpty || sum.Counts.Pages != pages {
		t.Errorf("afterwards: %d pages, %s, lack %q", sum.Counts.Pages, sum.End, sum.Lack)
	}
	if got := lines(t, file); len(got) != pages {
		t.Errorf("%d lines, want %d", len(got), pages)
	}
}
