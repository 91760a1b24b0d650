package sink

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"octopus"
)

// Sink takes records. The outbox calls one sink from one goroutine at a time.
type Sink interface {
	// Write stores recs, in order, and returns when they are as durable as the
	// sink promises. After an error the same records come again, perhaps in
	// other company, so Write is idempotent by (URL, visit) or, in a Resumer,
	// undoes what it wrote.
	Write(ctx context.Context, recs []octopus.Record) error

	// Close releases what the sink holds. It is the last call.
	Close() error
}

// LineWriter is a Sink that takes records as the outbox keeps them, one JSON
// object each, without the newline. The outbox then calls WriteLines in place
// of Write, and saves decoding.
type LineWriter interface {
	Sink
	WriteLines(ctx context.Context, lines [][]byte) error
}

// Resumer is a Sink that must remember something with its place in the outbox,
// as a file its length. The outbox stores State in the commit that moves the
// sink's cursor.
type Resumer interface {
	Sink

	// Resume is the first call: state is what State returned before the cursor
	// was last stored, nil in the sink's first run.
	Resume(state json.RawMessage) error

	// State returns what to remember now. It is asked after Resume, after each
	// write, and after Close.
	State() json.RawMessage
}

// Gatherer is a Sink that wants many records at once, as a file of columns does.
// The outbox calls Write when records of them wait, or wait has passed since the
// first, or the crawl ends. A Write has no more than records, and not much more
// than size bytes of JSON.
type Gatherer interface {
	Sink
	Gather() (records, size int, wait time.Duration)
}

// ErrTwice is what Open returns, wrapped, where two targets have one name.
var ErrTwice = errors.New("given twice")

// ErrBackend is what Resume returns, wrapped, where a sink that is new to the
// outbox finds its server away, or is refused by it.
var ErrBackend = errors.New("the database cannot be used")

// Reach is the Resume of a sink that keeps no state: in the sink's first run it
// connects, so that a wrong address is found at once. Later a database may be
// away when a crawl starts. An error wraps ErrBackend.
func Reach(state json.RawMessage, timeout time.Duration, connect func(context.Context) error) error {
	if state != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if err := connect(ctx); err != nil {
		return fmt.Errorf("%w: %w", ErrBackend, err)
	}
	return nil
}

// Encode returns a record as one line of JSON without its newline: UTF-8
// (invalid bytes become U+FFFD), and <, > and & as themselves.
func Encode(rec *octopus.Record) ([]byte, error) {
	r := *rec
	if r.Links == nil {
		r.Links = []string{} // the field is a list, always
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(&r); err != nil {
		return nil, fmt.Errorf("record of %s: %w", rec.URL, err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
