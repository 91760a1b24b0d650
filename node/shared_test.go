package node_test

import (
	"strings"
	"testing"

	"octopus/internal/servers"
	"octopus/node"
)

// TestSharedLimits: traps are parked in a shared crawl as in any other.
func TestSharedLimits(t *testing.T) {
	redis := servers.Redis(t)
	for traps, want := range map[string]int64{"on": 11, "off": 12} {
		cfg := config(t)
		cfg.Store.NoSync, cfg.Store.NoPages = true, true
		cfg.Frontier, cfg.Job, cfg.Limit.Traps = redis.URL(), traps, traps
		sum := run(t, cfg, node.Options{}, newWide(t, 10))
		if sum.Pages != want || sum.Counts.Parked != 13-want { // robots.txt forbids one
			t.Errorf("traps %s: %d pages, want %d; counts %+v", traps, sum.Pages, want, sum.Counts)
		}
	}
}

// TestSharedNotes: what does nothing in a shared crawl is named.
func TestSharedNotes(t *testing.T) {
	cfg := config(t)
	cfg.Frontier = "redis://127.0.0.1:6379/0"
	if notes := cfg.Notes(); len(notes) != 0 {
		t.Errorf("notes of the defaults: %q", notes)
	}
	cfg.Master.Bucket.Count, cfg.Master.Queue.Limit, cfg.Limit.Session = 4, 7, 3
	if notes := strings.Join(cfg.Notes(), "\n"); strings.Count(notes, "no effect") != 3 || !strings.Contains(notes, "limit.session") {
		t.Errorf("notes:\n%s", notes)
	}
	cfg.Frontier = ""
	if notes := cfg.Notes(); len(notes) != 0 {
		t.Errorf("notes of a crawl of its own: %q", notes)
	}
}
