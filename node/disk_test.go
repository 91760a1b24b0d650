package node_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"octopus/node"
)

// TestMaxDisk crawls into a directory that is too full, and goes on by itself
// once there is room.
func TestMaxDisk(t *testing.T) {
	s, cfg := newSite(t, 10), config(t)
	cfg.Store.MaxDisk = 4 << 20
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(cfg.Dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 5<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	n, err := node.Open(cfg, node.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	paused := make(chan string, 1)
	go func() {
		var why string
		for why == "" {
			why = n.Status().Waiting
			if !strings.HasPrefix(why, "paused") {
				why = ""
			}
			<-time.After(time.Millisecond)
		}
		os.Remove(ballast)
		paused <- why
	}()
	sum, err := n.Run(t.Context(), []string{s.entry()})
	if err != nil || sum.Pages != 10 {
		t.Errorf("%d pages, %v; want 10", sum.Pages, err)
	}
	if why := <-paused; !strings.Contains(why, "--max-disk 4MiB") {
		t.Errorf("waiting says %q", why)
	}
}

// TestMinFreeDisk pauses on a disk that nobody has, and ends when asked to.
func TestMinFreeDisk(t *testing.T) {
	s, cfg := newSite(t, 10), config(t)
	cfg.Store.MinFreeDisk = 1 << 60
	cfg.Crawl.MaxTime = node.Duration(300 * time.Millisecond)
	sum := run(t, cfg, node.Options{}, s.entry())
	if sum.Fetches != 0 || !strings.Contains(sum.Waiting, "--min-free-disk") {
		t.Errorf("%d requests, waiting %q", sum.Fetches, sum.Waiting)
	}
}

func TestRate(t *testing.T) {
	for text, want := range map[string]node.Rate{"2Mbit": 250_000, "2Mbit/s": 250_000, "500KB": 500_000, "8Kbit": 1000, "4096": 4096, "0": 0, "1MiB/s": 1 << 20} {
		var r node.Rate
		if err := r.UnmarshalText([]byte(text)); err != nil || r != want {
			t.Errorf("%s: %d, %v; want %d", text, r, err, want)
		}
		var again node.Rate
		if err := again.UnmarshalText([]byte(r.String())); err != nil || again != r {
			t.Errorf("%s is written %s and read as %d, %v", text, r, again, err)
		}
	}
	for _, text := range []string{"", "fast", "bit", "-1Mbit"} {
		if err := new(node.Rate).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken for a rate", text)
		}
	}
}
