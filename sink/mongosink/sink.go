package mongosink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"octopus"
	"octopus/sink"
)

// Options configures a sink.
type Options struct {
	// Timeout bounds one attempt to connect or to write. 0 means 1 min.
	Timeout time.Duration
}

// Sink is a sink.Sink over one collection. It is idempotent by (URL, visit).
type Sink struct {
	name       string
	client     *mongo.Client // watches its servers from New to Close
	collection *mongo.Collection
	columns    []sink.Column
	timeout    time.Duration
	ready      bool // the indexes were found or made since the last error
}

var _ sink.Resumer = (*Sink)(nil)

// selection is how long a driver that finds no server looks for one before it
// says so.
const selection = 10 * time.Second

// New returns the sink of an address as the package comment writes them. An
// error is one of the address, and shows no password.
func New(address string, o Options) (*Sink, error) {
	a, err := parse(address)
	if err != nil {
		return nil, err
	}
	opt := options.Client().ApplyURI(a.uri)
	if err := opt.Validate(); err != nil {
		return nil, fmt.Errorf("is no address of a MongoDB database: %w", err)
	}
	if opt.WriteConcern == nil {
		journaled := true
		opt.SetWriteConcern(&writeconcern.WriteConcern{W: writeconcern.Majority().W, Journal: &journaled})
	}
	if opt.ServerSelectionTimeout == nil {
		opt.SetServerSelectionTimeout(selection)
	}
	client, err := mongo.Connect(opt)
	if err != nil {
		return nil, err
	}
	if o.Timeout <= 0 {
		o.Timeout = time.Minute
	}
	return &Sink{name: a.name, client: client, collection: client.Database(a.database).Collection(a.table),
		columns: sink.Columns(), timeout: o.Timeout}, nil
}

// address is what an address names.
type address struct {
	uri, name, database, table string
}

// parse reads an address. It is no URL for package net/url, because it may name
// several hosts.
func parse(text string) (a address, err error) {
	a.table = "pages"
	front, query, _ := strings.Cut(text, "?")
	scheme, rest, _ := strings.Cut(front, "://")
	at := strings.LastIndexByte(rest, '@')
	user, hosts := rest[:max(at, 0)], rest[at+1:]
	hosts, a.database, _ = strings.Cut(hosts, "/")
	if a.database == "" || strings.Contains(a.database, "/") {
		return a, fmt.Errorf("names no database; write %s://USER:PASSWORD@HOST/DATABASE", scheme)
	}
	q, err := url.ParseQuery(query)
	if err != nil {
		return a, errors.New("its parameters cannot be read")
	}
	if user, _, _ = strings.Cut(user, ":"); user != "" {
		user += "@"
	}
	a.name = scheme + "://" + user + hosts + "/" + a.database
	if q.Has("table") {
		a.table = q.Get("table")
		a.name += "?table=" + a.table
		q.Del("table")
	}
	if a.table == "" || strings.ContainsAny(a.table, "$\x00") || strings.HasPrefix(a.table, "system.") {
		return a, fmt.Errorf("table %q is no name of a collection", a.table)
	}
	a.uri = front
	if len(q) > 0 {
		a.uri += "?" + q.Encode()
	}
	return a, nil
}

// Name returns the address without its password and parameters, but for the
// table: what the outbox knows the sink by.
func (s *Sink) Name() string { return s.name }

// Resume implements sink.Resumer: in the first run it connects.
func (s *Sink) Resume(state json.RawMessage) error { return sink.Reach(state, s.timeout, s.prepare) }

// State implements sink.Resumer. There is nothing to remember but that the sink
// was there.
func (s *Sink) State() json.RawMessage { return json.RawMessage(`{}`) }

// Write implements sink.Sink.
func (s *Sink) Write(ctx context.Context, recs []octopus.Record) error {
	if len(recs) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if err := s.prepare(ctx); err != nil {
		return err
	}
	var models []mongo.WriteModel
	for _, r := range sink.Latest(recs) {
		d := s.document(&r)
		models = append(models, mongo.NewReplaceOneModel().SetFilter(bson.D{d[0]}).SetReplacement(d).SetUpsert(true))
	}
	_, err := s.collection.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
	s.ready = err == nil // the server may come back with another database
	return err
}

// document returns a record as it is stored.
func (s *Sink) document(r *octopus.Record) bson.D {
	p := sink.Portable(r)
	d := bson.D{{Key: "_id", Value: fmt.Sprintf("%s-%d", sink.URLKey(p.URL), p.Visit)}}
	for _, c := range s.columns {
		if v := c.Raw(&p); v != nil {
			d = append(d, bson.E{Key: c.Name, Value: v})
		}
	}
	return d
}

// prepare makes the indexes where they are missing.
func (s *Sink) prepare(ctx context.Context) error {
	if s.ready {
		return nil
	}
	there, err := s.collection.Indexes().ListSpecifications(ctx)
	if err != nil {
		return err
	}
	for _, field := range []string{"url", "fetched_at"} {
		name := field + "_1"
		if slices.ContainsFunc(there, func(i mongo.IndexSpecification) bool { return i.Name == name }) {
			continue
		}
		index := mongo.IndexModel{Keys: bson.D{{Key: field, Value: 1}}, Options: options.Index().SetName(name)}
		if _, err := s.collection.Indexes().CreateOne(ctx, index); err != nil {
			return err
		}
	}
	s.ready = true
	return nil
}

// Close implements sink.Sink.
func (s *Sink) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	return s.client.Disconnect(ctx)
}
