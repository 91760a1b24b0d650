package sqlsink_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"octopus/internal/servers"
	"octopus/kv"
	"octopus/sink"
	"octopus/sink/sinktest"
)

// TestKillServer delivers records while the server is killed, stopped and
// started again: each is there once, with the content of its last commit.
func TestKillServer(t *testing.T) {
	for name, start := range map[string]func(testing.TB) *servers.SQLServer{"PostgreSQL": servers.Postgres, "MariaDB": servers.MariaDB} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			killServer(t, s)
		})
	}
}

func killServer(t *testing.T, s *servers.SQLServer) {
	const kills = 4
	store, out, failures := kv.NewMemory(), newSink(t, s.URL), atomic.Int64{}
	o, err := sink.Open(store, []byte("out/"), sink.Options{
		Targets: []sink.Target{{Name: "db", Sink: out}}, Batch: 20, RetryMin: 10 * time.Millisecond, RetryMax: 100 * time.Millisecond,
		OnError: func(_ string, err error, _ time.Duration) { failures.Add(1) },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- o.Run(ctx) }()

	n := 0
	commit := func(count int) {
		var b kv.Batch
		for _, rec := range sinktest.Records(n, n+count) {
			if err := o.Append(&b, &rec); err != nil {
				t.Fatal(err)
			}
		}
		n += count
		if err := store.Apply(&b, kv.Sync); err != nil {
			t.Fatal(err)
		}
	}
	for kill := range kills {
		commit(400)
		// Some batches of these are delivered, one is under way, others wait.
		delivered := func() int64 { return int64(n) - o.Status()[0].Pending }
		for target := int64(n - 300); delivered() < target; {
			<-time.After(time.Millisecond)
		}
		if kill%2 == 0 {
			s.Kill()
		} else {
			s.Stop()
		}
		before := failures.Load()
		commit(10)
		servers.Await(t, func() error {
			if failures.Load() == before || o.Status()[0].Error == "" {
				return errors.New("a write to a server that is gone does not fail")
			}
			return nil
		})
		s.Start()
	}
	if err := o.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("Run: %v", err)
	}
	got := serverDB(t, s).names(t, "pages")
	want := make([]string, n)
	for i, rec := range sinktest.Records(0, n) {
		want[i] = sinktest.Name(rec)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%d rows, want %d, each once", len(got), len(want))
	}
	t.Logf("%d records, %d ends of the server, %d writes failed: %d rows", n, kills, failures.Load(), len(got))
}
