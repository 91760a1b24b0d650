package parquetsink_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"octopus"
	"octopus/sink"
	"octopus/sink/parquetsink"
	"octopus/sink/sinktest"
)

// row is what the tests read of a record; the library matches names.
type row struct {
	URL     string    `parquet:"url"`
	Visit   int64     `parquet:"visit"`
	Status  int64     `parquet:"status"`
	Title   *string   `parquet:"title,optional"`
	Author  *string   `parquet:"author,optional"`
	Fetched time.Time `parquet:"fetched_at,timestamp(millisecond)"`
	Links   []string  `parquet:"links,list"`
}

func read(t *testing.T, dir string) (rows []row, files int) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		part, err := parquet.ReadFile[row](name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		rows = append(rows, part...)
	}
	return rows, len(names)
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	rows, _ := read(t, dir)
	for _, r := range rows {
		list = append(list, fmt.Sprintf("%s %d", r.URL, r.Visit))
	}
	return list
}

func resumed(t *testing.T, dir string, state json.RawMessage) *parquetsink.Sink {
	t.Helper()
	s := parquetsink.New(dir)
	if err := s.Resume(state); err != nil {
		t.Fatal(err)
	}
	return s
}

func write(t *testing.T, s sink.Sink, recs []octopus.Record) {
	t.Helper()
	if err := s.Write(t.Context(), recs); err != nil {
		t.Fatal(err)
	}
}

func TestConformance(t *testing.T) {
	sinktest.Run(t, false, func(t *testing.T) (sink.Sink, func() []string) {
		dir := filepath.Join(t.TempDir(), "new", "out.parquet")
		return resumed(t, dir, nil), func() []string { return names(t, dir) }
	})
}

func TestContent(t *testing.T) {
	dir := t.TempDir()
	recs := sinktest.Records(0, 2)
	recs[0].Author, recs[0].Links = "多腕 🐙", []string{"http://a.example/", "http://b.example/"}
	recs[1].Title, recs[1].Links = "", nil
	write(t, resumed(t, dir, nil), recs)
	rows, files := read(t, dir)
	if files != 1 || len(rows) != 2 {
		t.Fatalf("%d rows in %d files", len(rows), files)
	}
	if r := rows[0]; r.URL != recs[0].URL || r.Status != 200 || *r.Author != "多腕 🐙" || !r.Fetched.Equal(recs[0].FetchedAt) || !slices.Equal(r.Links, recs[0].Links) {
		t.Errorf("%+v", r)
	}
	if r := rows[1]; r.Title != nil || r.Author != nil || len(r.Links) != 0 {
		t.Errorf("empty values: %+v", r)
	}
}

// TestCrash takes up the work at the place that was stored last, after each of
// the writes that a crash took back.
func TestCrash(t *testing.T) {
	for stored := range 4 {
		dir := t.TempDir()
		s := resumed(t, dir, nil)
		states := []json.RawMessage{s.State()}
		for part := range 3 {
			write(t, s, sinktest.Records(10*part, 10*part+10))
			states = append(states, s.State())
		}
		if err := os.WriteFile(filepath.Join(dir, "part-00000004.parquet.tmp"), []byte("torn"), 0o600); err != nil {
			t.Fatal(err)
		}
		s = resumed(t, dir, states[stored])
		write(t, s, sinktest.Records(10*stored, 40))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, r := range sinktest.Records(0, 40) {
			want = append(want, sinktest.Name(r))
		}
		if got := names(t, dir); !slices.Equal(got, want) {
			t.Errorf("crash after write %d: %d records, want 40 once each", stored, len(got))
		}
		// A new crawl adds to what is there.
		write(t, resumed(t, dir, nil), sinktest.Records(40, 41))
		write(t, resumed(t, dir, s.State()), sinktest.Records(41, 42))
		if got := names(t, dir); len(got) != 42 {
			t.Errorf("%d records after two more crawls, want 42", len(got))
		}
	}
}
