package node_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"octopus"
	"octopus/node"
)

// TestChecksumSavesParsing: of pages that are the same to the byte one is parsed
// for its text; the others name it, and their links count all the same.
func TestChecksumSavesParsing(t *testing.T) {
	story := strings.Repeat("<p>The old bridge over the river was repaired at last, two years later than planned.</p>", 12)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch dir, file, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/"); {
		case dir == "":
			fmt.Fprint(w, `<a href=/a/story>a</a>`)
		case file == "story":
			fmt.Fprintf(w, `<title>The bridge</title><article><h1>The bridge</h1>%s</article><a href=more>more</a>`, story)
		case file == "more" && dir == "a":
			fmt.Fprint(w, `<a href=/b/story>b</a>`) // met once the first story is stored
		case file == "more" && dir == "b":
			fmt.Fprint(w, "the end")
		default:
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	cfg := config(t)
	cfg.Crawl.Extract = "text"
	cfg.Output = []string{filepath.Join(t.TempDir(), "out.jsonl")}
	sum := run(t, cfg, node.Options{}, s.URL+"/")
	lines, err := os.ReadFile(cfg.Output[0])
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]*octopus.Record{}
	for line := range bytes.Lines(lines) {
		rec := new(octopus.Record)
		if err := json.Unmarshal(line, rec); err != nil {
			t.Fatal(err)
		}
		got[strings.TrimPrefix(rec.URL, s.URL)] = rec
	}
	a, b := got["/a/story"], got["/b/story"]
	if a == nil || b == nil || got["/b/more"] == nil {
		t.Fatalf("pages %v: a link of the second story was lost", got)
	}
	if !strings.Contains(a.Text, "bridge") || a.DuplicateOf != "" || b.Text != "" || b.DuplicateOf != s.URL+"/a/story" {
		t.Errorf("first: %.20q, duplicate of %q; second: %.20q, duplicate of %q", a.Text, a.DuplicateOf, b.Text, b.DuplicateOf)
	}
	if sum.Saved != 1 {
		t.Errorf("parsing saved %d times, want once", sum.Saved)
	}
}
