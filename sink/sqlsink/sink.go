package sqlsink

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"octopus"
	"octopus/sink"
)

// Options configures a sink.
type Options struct {
	// Timeout bounds one attempt to connect or to write, in which a server that
	// does not answer would hold the sink for good. 0 means 1 min.
	Timeout time.Duration
}

// Sink is a sink.Sink over one table. It is idempotent by (URL, visit).
type Sink struct {
	target
	db      *sql.DB // opens connections when they are needed
	columns []sink.Column
	timeout time.Duration
	ready   bool // the table was found or made since the last error
}

var _ sink.Resumer = (*Sink)(nil)

// New returns the sink of an address as the package comment writes them. It
// does not connect; an error is one of the address, and shows no password.
func New(address string, o Options) (*Sink, error) {
	t, err := parse(address)
	if err != nil {
		return nil, err
	}
	db, err := t.open()
	if err != nil {
		return nil, err
	}
	// The outbox has one batch under way at a time. An idle connection outlives
	// a pause between batches.
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	if o.Timeout <= 0 {
		o.Timeout = time.Minute
	}
	return &Sink{target: t, db: db, columns: sink.Columns(), timeout: o.Timeout}, nil
}

// Name returns the address without its password and parameters, but for the
// table: what the outbox knows the sink by.
func (s *Sink) Name() string { return s.name }

// Resume implements sink.Resumer: in the first run it connects and makes the
// table.
func (s *Sink) Resume(state json.RawMessage) error { return sink.Reach(state, s.timeout, s.prepare) }

// State implements sink.Resumer. There is nothing to remember but that the sink
// was there.
func (s *Sink) State() json.RawMessage { return json.RawMessage(`{}`) }

// rowsPerStatement is how many rows one INSERT has. Their arguments, some 40 a
// row, stay below the 32,766 that SQLite takes.
const rowsPerStatement = 64

// Write implements sink.Sink: all of recs in one transaction.
func (s *Sink) Write(ctx context.Context, recs []octopus.Record) (err error) {
	if len(recs) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, fmt.Errorf("no answer within %s", s.timeout))
	defer cancel()
	if err := s.write(ctx, sink.Latest(recs)); err != nil {
		s.ready = false // the server may come back with another database
		if cause := context.Cause(ctx); cause != nil && ctx.Err() != cause {
			return fmt.Errorf("%w (%w)", cause, err)
		}
		return err
	}
	return nil
}

func (s *Sink) write(ctx context.Context, recs []octopus.Record) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	for len(recs) > 0 {
		n := min(len(recs), rowsPerStatement)
		if _, err := tx.ExecContext(ctx, s.dialect.upsert(s.table, s.columns, n), s.args(recs[:n])...); err != nil {
			return err
		}
		recs = recs[n:]
	}
	return tx.Commit()
}

// args returns the arguments of an upsert of recs.
func (s *Sink) args(recs []octopus.Record) []any {
	args := make([]any, 0, len(recs)*(len(s.columns)+1))
	for i := range recs {
		r := sink.Portable(&recs[i])
		args = append(args, sink.URLKey(r.URL))
		for _, c := range s.columns {
			args = append(args, s.dialect.arg(c.Value(&r)))
		}
	}
	return args
}

// prepare sees to it that the table is there and has all columns.
func (s *Sink) prepare(ctx context.Context) error {
	if s.ready {
		return nil
	}
	if err := s.migrate(ctx); err != nil {
		return err
	}
	s.ready = true
	return nil
}

// Close implements sink.Sink.
func (s *Sink) Close() error { return s.db.Close() }
