package sink_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"octopus/sink"
	"octopus/sink/sinktest"
)

// csvRows reads a file; the first row names the columns.
func csvRows(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) == 0 {
		t.Fatalf("%s: %d rows, %v", path, len(rows), err)
	}
	return rows
}

func csvNames(t *testing.T, path string) (names []string) {
	rows := csvRows(t, path)
	url, visit := slices.Index(rows[0], "url"), slices.Index(rows[0], "visit")
	for _, row := range rows[1:] {
		names = append(names, row[url]+" "+row[visit])
	}
	return names
}

func newCSV(t *testing.T, path string) *sink.CSV {
	t.Helper()
	s := sink.NewCSV(path)
	if err := s.Resume(nil); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCSV(t *testing.T) {
	sinktest.Run(t, false, func(t *testing.T) (sink.Sink, func() []string) {
		path := filepath.Join(t.TempDir(), "out.csv")
		return newCSV(t, path), func() []string { return csvNames(t, path) }
	})
}

// TestCSVResume cuts what a crash left, and keeps the columns of the file.
func TestCSVResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv")
	s := newCSV(t, path)
	if err := s.Write(t.Context(), sinktest.Records(0, 5)); err != nil {
		t.Fatal(err)
	}
	state := s.State()
	if err := s.Write(t.Context(), sinktest.Records(5, 9)); err != nil {
		t.Fatal(err)
	}
	again := sink.NewCSV(path) // the first one crashed
	if err := again.Resume(state); err != nil {
		t.Fatal(err)
	}
	if err := again.Write(t.Context(), sinktest.Records(5, 7)); err != nil {
		t.Fatal(err)
	}
	if got := csvNames(t, path); !slices.Equal(got, wanted(0, 7)) {
		t.Errorf("the file holds %q", got)
	}
	if rows := csvRows(t, path); rows[1][slices.Index(rows[0], "fetched_at")] != "2026-01-02T03:04:05Z" || rows[1][slices.Index(rows[0], "links")] != `["http://x.example/"]` {
		t.Errorf("a row: %q", rows[1])
	}

	old := filepath.Join(t.TempDir(), "old.csv")
	if err := os.WriteFile(old, []byte("visit,url\n1,http://h.example/old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := newCSV(t, old).Write(t.Context(), sinktest.Records(0, 1)); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(old); string(text) != "visit,url\n1,http://h.example/old\n1,http://h.example/0\n" {
		t.Errorf("an older file holds %q", text)
	}
	if err := os.WriteFile(old, []byte("visit,price\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sink.NewCSV(old).Resume(nil); err == nil || !strings.Contains(err.Error(), `column "price"`) {
		t.Errorf("somebody else's file: %v", err)
	}
}
