package sink_test

import (
	"context"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"octopus/kv"
	"octopus/kv/pebblekv"
	"octopus/sink"
	"octopus/sink/sinktest"
)

// TestKill9 kills a process that commits and delivers, again and again, and
// lets the last one end: the file holds every record once, in order.
func TestKill9(t *testing.T) {
	if dir := os.Getenv("OCTOPUS_SINK_CHILD"); dir != "" {
		deliverAll(t, dir)
		return
	}
	dir := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	kills := 0
	for life := 4 * time.Millisecond; ; life = life * 8 / 5 { // the first is too short for any machine
		child := exec.Command(program, "-test.run", "^TestKill9$")
		child.Env = append(os.Environ(), "OCTOPUS_SINK_CHILD="+dir)
		ctx, cancel := context.WithTimeout(t.Context(), life)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		go func() {
			<-ctx.Done()
			child.Process.Kill() // an error says that it ended by itself
		}()
		err := child.Wait()
		cancel()
		if err == nil {
			break
		}
		kills++
	}
	data, err := os.ReadFile(filepath.Join(dir, "out.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if got := names(t, data); !slices.Equal(got, wanted(0, killRecords)) {
		t.Errorf("after %d kills the file holds %d records, want %d once each", kills, len(got), killRecords)
	}
	t.Logf("%d kills", kills)
	if kills == 0 {
		t.Error("no run was killed")
	}
}

const killRecords = 900

// deliverAll goes on committing records where the last run came to, to a store
// and a file in dir.
func deliverAll(t *testing.T, dir string) {
	s, err := pebblekv.Open(filepath.Join(dir, "kv"), pebblekv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "out.jsonl")
	o := open(t, s, sink.Options{Batch: 7, Targets: []sink.Target{{Name: path, Sink: sink.NewJSONL(path)}}})
	stop := run(t, o)
	n := 0
	if v, err := s.Get([]byte("n")); err == nil {
		n = int(binary.BigEndian.Uint64(v))
	}
	for n < killRecords {
		var b kv.Batch
		part := sinktest.Records(n, min(n+3, killRecords))
		for i := range part {
			if err := o.Append(&b, &part[i]); err != nil {
				t.Fatal(err)
			}
		}
		n += len(part)
		b.Set([]byte("n"), binary.BigEndian.AppendUint64(nil, uint64(n)))
		if err := s.Apply(&b, kv.Durability(n%2 == 0)); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
