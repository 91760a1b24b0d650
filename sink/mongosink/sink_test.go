package mongosink_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"octopus"
	"octopus/internal/servers"
	"octopus/kv"
	"octopus/sink"
	"octopus/sink/mongosink"
	"octopus/sink/sinktest"
)

func newSink(t *testing.T, address string) *mongosink.Sink {
	t.Helper()
	s, err := mongosink.New(address, mongosink.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() }) // again, where the test did
	return s
}

// collection opens a collection without the sink.
func collection(t *testing.T, s *servers.MongoServer, name string) *mongo.Collection {
	t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI(s.URL))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Disconnect(context.Background()) })
	return client.Database("octopus").Collection(name)
}

func documents(t *testing.T, c *mongo.Collection) (docs []bson.M) {
	t.Helper()
	cursor, err := c.Find(t.Context(), bson.D{})
	if err == nil {
		err = cursor.All(t.Context(), &docs)
	}
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

// names returns what is in a collection as sinktest wants it: ordered by number.
func names(t *testing.T, c *mongo.Collection) (list []string) {
	t.Helper()
	for _, d := range documents(t, c) {
		list = append(list, fmt.Sprint(d["url"], " ", d["visit"]))
	}
	slices.SortFunc(list, func(a, b string) int {
		if d := len(a) - len(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return list
}

func TestMongoDB(t *testing.T) {
	server := servers.MongoDB(t)
	t.Run("Conformance", func(t *testing.T) {
		n := 0
		sinktest.Run(t, true, func(t *testing.T) (sink.Sink, func() []string) {
			n++
			table := fmt.Sprint("t", n)
			return newSink(t, server.URL+"?table="+table), func() []string { return names(t, collection(t, server, table)) }
		})
	})
	t.Run("Content", func(t *testing.T) { testContent(t, server) })
	t.Run("Kill", func(t *testing.T) { testKill(t, server) })
}

func testContent(t *testing.T, server *servers.MongoServer) {
	s := newSink(t, server.URL)
	if err := s.Resume(nil); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	rec := octopus.Record{V: 1, URL: "http://h.example/a", Visit: 1, Status: 200, FetchedAt: at, Title: "多腕 🐙", Size: 1 << 40}
	if err := s.Write(t.Context(), []octopus.Record{rec}); err != nil {
		t.Fatal(err)
	}
	docs := documents(t, collection(t, server, "pages"))
	if len(docs) != 1 {
		t.Fatalf("%d documents", len(docs))
	}
	d := docs[0]
	if d["_id"] != sink.URLKey(rec.URL)+"-1" || d["title"] != rec.Title || d["size"] != rec.Size || d["fetched_at"] != bson.NewDateTimeFromTime(at) {
		t.Errorf("document: %v", d)
	}
	if _, there := d["text"]; there {
		t.Error("an empty text is not left out")
	}
	if links, ok := d["links"].(bson.A); !ok || len(links) != 0 {
		t.Errorf("no links are %v", d["links"])
	}
}

// testKill delivers records while the server is killed and started again: each
// is there once.
func testKill(t *testing.T, server *servers.MongoServer) {
	s, err := mongosink.New(server.URL+"?table=killed&serverSelectionTimeoutMS=300", mongosink.Options{Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var failures atomic.Int64
	store := kv.NewMemory()
	o, err := sink.Open(store, []byte("out/"), sink.Options{Targets: []sink.Target{{Name: s.Name(), Sink: s}}, Batch: 20,
		RetryMin: 10 * time.Millisecond, RetryMax: 100 * time.Millisecond, OnError: func(string, error, time.Duration) { failures.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- o.Run(ctx) }()
	var want []string
	for range 3 {
		var b kv.Batch
		for _, rec := range sinktest.Records(len(want), len(want)+200) {
			want = append(want, sinktest.Name(rec))
			if err := o.Append(&b, &rec); err != nil {
				t.Fatal(err)
			}
		}
		if err := store.Apply(&b, kv.Sync); err != nil {
			t.Fatal(err)
		}
		servers.Await(t, func() error { // some are delivered, others wait
			if pending := o.Status()[0].Pending; pending > 100 {
				return fmt.Errorf("%d wait: %s", pending, o.Status()[0].Error)
			}
			return nil
		})
		server.Kill()
		before := failures.Load()
		var one kv.Batch
		rec := sinktest.Records(len(want), len(want)+1)[0]
		want = append(want, sinktest.Name(rec))
		if err := errors.Join(o.Append(&one, &rec), store.Apply(&one, kv.Sync)); err != nil {
			t.Fatal(err)
		}
		servers.Await(t, func() error {
			if failures.Load() == before {
				return errors.New("a write to a server that is gone does not fail")
			}
			return nil
		})
		server.Start()
	}
	if err := o.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("Run: %v", err)
	}
	if got := names(t, collection(t, server, "killed")); !slices.Equal(got, want) {
		t.Errorf("%d documents, want %d, each once", len(got), len(want))
	}
	t.Logf("%d records, 3 kills, %d writes failed", len(want), failures.Load())
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"mongodb://u:geheim@h":               "names no database",
		"mongodb://u:geheim@h/d/e":           "names no database",
		"mongodb://u:geheim@h/d?table=a%00":  "no name of a collection",
		"mongodb://u:geheim@h/d?w=%zz":       "cannot be read",
		"mongodb://u:geheim@h/d?tls=perhaps": "no address of a MongoDB database",
		"mongodb://u:ge%heim@h/d":            "no address of a MongoDB database",
	} {
		s, err := mongosink.New(address, mongosink.Options{})
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "heim") {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
	for address, want := range map[string]string{
		"mongodb://u:geheim@a:1,b:2/d?w=1&table=x": "mongodb://u@a:1,b:2/d?table=x",
		"mongodb://127.0.0.1/d":                    "mongodb://127.0.0.1/d",
	} {
		if got := newSink(t, address).Name(); got != want {
			t.Errorf("%s is named %s, want %s", address, got, want)
		}
	}
}
