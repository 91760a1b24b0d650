package sinktest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"octopus"
	"octopus/sink"
)

// Open returns a sink on an empty target, and a function that reads back what
// is there, as "URL visit" in the order the target keeps.
type Open func(t *testing.T) (s sink.Sink, read func() []string)

// Run tests the sink that open returns. A sink that is idempotent by (URL,
// visit) gets records twice; a positional one (a Resumer) or a stream does not.
func Run(t *testing.T, idempotent bool, open Open) {
	t.Run("Write", func(t *testing.T) {
		s, read := open(t)
		write(t, s, Records(0, 3))
		write(t, s, nil)
		write(t, s, Records(3, 200))
		finish(t, s)
		compare(t, read(), 200)
	})
	if idempotent {
		t.Run("Repeated", func(t *testing.T) {
			s, read := open(t)
			write(t, s, Records(0, 50))
			write(t, s, Records(20, 70))
			write(t, s, Records(0, 10))
			write(t, s, append(Records(5, 10), Records(0, 10)...)) // twice in one batch
			finish(t, s)
			compare(t, read(), 70)
		})
	}
	t.Run("Cut", func(t *testing.T) {
		s, read := open(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		// Whether it was stored or not: the outbox brings it again.
		if err := s.Write(ctx, Records(0, 20)); err == nil && !idempotent {
			finish(t, s)
			return
		}
		write(t, s, Records(0, 20))
		finish(t, s)
		compare(t, read(), 20)
	})
	t.Run("OddContent", func(t *testing.T) {
		s, read := open(t)
		recs := Records(0, 2)
		recs[0].Title = "a\x00b\xff\n\u2028<&>\"\\ 🐙"
		recs[0].Links = nil
		recs[1].Text = string(make([]byte, 1<<20))
		recs[1].Markdown = strings.Repeat("永", 3<<20) // 9 MiB
		recs[1].Links = slices.Repeat([]string{"http://x.example/" + strings.Repeat("y", 1000)}, 10_000)
		write(t, s, recs)
		finish(t, s)
		compare(t, read(), 2)
	})
}

// Records returns the records with numbers [from, to).
func Records(from, to int) []octopus.Record {
	recs := make([]octopus.Record, 0, to-from)
	for n := from; n < to; n++ {
		recs = append(recs, octopus.Record{
			V: octopus.RecordVersion, URL: fmt.Sprintf("http://h.example/%d", n), Visit: 1, Status: 200,
			FetchedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Title: fmt.Sprint("page ", n), Links: []string{"http://x.example/"},
		})
	}
	return recs
}

// Name returns what a read function returns of a record.
func Name(r octopus.Record) string { return fmt.Sprintf("%s %d", r.URL, r.Visit) }

func write(t *testing.T, s sink.Sink, recs []octopus.Record) {
	t.Helper()
	if err := s.Write(context.Background(), recs); err != nil {
		t.Fatalf("Write: %v", err)
	}
}

func finish(t *testing.T, s sink.Sink) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

func compare(t *testing.T, got []string, n int) {
	t.Helper()
	var want []string
	for _, r := range Records(0, n) {
		want = append(want, Name(r))
	}
	if !slices.Equal(got, want) {
		t.Errorf("read %d records, want %d: %.300q", len(got), n, got)
	}
}
