package node_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"octopus"
	"octopus/internal/webtest"
	"octopus/node"
	"octopus/stats"
)

// TestNews watches a news site over seven days of virtual time, through the
// whole crawler; only the network is in memory, and the store too but for
// OCTOPUS_LONG: Pebble's own timers take a minute to let a week pass.
func TestNews(t *testing.T) {
	patterns := []string{`/\d{4}/\d\d/\d\d/.*\.html$`}
	for _, tt := range []struct {
		name    string
		disk    bool
		article []string
	}{{"patterns", false, patterns}, {"automatic", false, nil}, {"on disk", true, patterns}} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.disk && os.Getenv("OCTOPUS_LONG") == "" {
				t.Skip("OCTOPUS_LONG is not set")
			}
			synctest.Test(t, func(t *testing.T) { watchNews(t, tt.disk, tt.article) })
		})
	}
}

func watchNews(t *testing.T, disk bool, article []string) {
	const refresh, days = time.Hour, 7
	site := webtest.NewNews(webtest.NewsOptions{Seed: 1, Start: time.Now(), Days: days})
	network := webtest.NewMemory()
	srv := &http.Server{Handler: site}
	go srv.Serve(network) // ends with Close
	defer srv.Close()

	cfg := node.DefaultConfig()
	cfg.Dir, cfg.Store.NoSync, cfg.Store.MinFreeDisk = t.TempDir(), true, 0
	cfg.Store.Discard = !disk
	cfg.Output = []string{"-"}
	cfg.Fetcher.AllowNet = []string{"127.0.0.0/8"}
	cfg.Crawl.MaxTime = node.Duration(days * 24 * time.Hour)
	cfg.Crawl.Watch = true
	b := node.DefaultBoard()
	b.Name, b.Entry, b.Article = "news", []string{site.Entry()}, article
	b.Depth = -1 // with a limit, pages that come nearer are read again from the store
	b.Refresh = node.Period{Min: node.Duration(refresh), Max: node.Duration(refresh)}
	cfg.Boards = []node.BoardConfig{b}
	var records bytes.Buffer
	n, err := node.Open(cfg, node.Options{Network: network, Stdout: &records})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Run(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	end := time.Now()
	var sum stats.Counts
	err = n.Stats(stats.Query{Span: stats.Day}, func(r stats.Row) error {
		sum.Add(&r.Counts)
		return nil
	})
	if err := errors.Join(err, n.Close()); err != nil {
		t.Fatal(err)
	}

	v := site.Check(end, refresh)
	t.Logf("%s", v)
	if v.Articles < 200 || len(v.Missed)+len(v.Repeated) > 0 {
		t.Errorf("missed %v, fetched again %v", v.Missed, v.Repeated)
	}
	if v.Median <= 0 || v.Median >= refresh {
		t.Errorf("half of the articles took longer than %s", v.Median)
	}
	if v.Oldest < refresh || v.Oldest > refresh*12/10 {
		t.Errorf("a list was %s old", v.Oldest)
	}
	if v.Requests*10 > v.Needed*13 {
		t.Errorf("%d requests, %d needed", v.Requests, v.Needed)
	}
	articles := checkNewsRecords(t, &records, v)
	if !disk {
		return // nothing is counted
	}
	if sum[stats.Requests] != int64(v.Requests) || sum[stats.Articles] != int64(articles) {
		t.Errorf("the statistics count %d requests and %d articles, want %d and %d", sum[stats.Requests], sum[stats.Articles], v.Requests, articles)
	}
}

// checkNewsRecords holds that each article came out once, as one, and returns
// how many there were.
func checkNewsRecords(t *testing.T, records *bytes.Buffer, v *webtest.NewsReport) int {
	t.Helper()
	seen := map[string]bool{}
	for line := range bytes.Lines(records.Bytes()) {
		var rec octopus.Record
		if err := json.Unmarshal(line, &rec); err != nil {
			t.Fatal(err)
		}
		if rec.Kind != octopus.Data.String() || rec.Status != 200 {
			continue
		}
		if seen[rec.URL] {
			t.Errorf("%s came out twice", rec.URL)
		}
		if seen[rec.URL] = true; rec.Title == "" || rec.Published == "" {
			t.Errorf("%s without title or date: %q, %q", rec.URL, rec.Title, rec.Published)
		}
	}
	if len(seen) < v.Captured {
		t.Errorf("%d articles came out, %d were captured", len(seen), v.Captured)
	}
	return len(seen)
}
