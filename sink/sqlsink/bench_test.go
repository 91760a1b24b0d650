package sqlsink_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"octopus/internal/servers"
	"octopus/sink"
	"octopus/sink/sinktest"
	"octopus/sink/sqlsink"
)

// BenchmarkWrite stores batches of 256 records with 4 KB of text and 50 links
// each, in a file of JSON lines and in the databases. The servers are real, on
// loopback, and sync each commit.
func BenchmarkWrite(b *testing.B) {
	lines := sink.NewJSONL(filepath.Join(b.TempDir(), "out.jsonl"))
	if err := lines.Resume(nil); err != nil {
		b.Fatal(err)
	}
	benchWrite(b, "JSONL", lines)
	for _, address := range []string{"sqlite:" + filepath.Join(b.TempDir(), "out.sqlite"), servers.Postgres(b).URL, servers.MariaDB(b).URL} {
		s, err := sqlsink.New(address, sqlsink.Options{})
		if err != nil {
			b.Fatal(err)
		}
		name, _, _ := strings.Cut(address, ":")
		benchWrite(b, name, s)
	}
}

func benchWrite(b *testing.B, name string, s sink.Sink) {
	defer s.Close()
	n := 0
	b.Run(name, func(b *testing.B) {
		for b.Loop() {
			recs := sinktest.Records(n, n+256)
			n += len(recs)
			for i := range recs {
				recs[i].Text = strings.Repeat("word ", 800)
				for link := range 50 {
					recs[i].Links = append(recs[i].Links, fmt.Sprintf("https://h.example/path/%d/%d", n, link))
				}
			}
			if err := s.Write(b.Context(), recs); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(256*float64(b.N)/b.Elapsed().Seconds(), "records/s")
	})
}
