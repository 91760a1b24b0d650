package sink

import (
	"context"
	"encoding/json"

	"octopus"
)

// JSONL is a Sink that appends records to a file, one JSON object per line,
// each exactly once: it writes at the length it remembers, fsyncs before the
// outbox counts the records as delivered, and cuts what a crash left beyond
// that length. Content that was in the file before stays in front.
//
// A path that is no regular file (a pipe, /dev/stdout) is written at least
// once: nothing can be cut there.
type JSONL struct {
	appended
	buf []byte
}

// NewJSONL returns the sink of the file at path. Resume opens the file.
func NewJSONL(path string) *JSONL { return &JSONL{appended: appended{path: path}} }

// Resume implements Resumer.
func (s *JSONL) Resume(state json.RawMessage) error { return s.resume(state) }

// ResumeFile is Resume on a file that is open already; Close closes it.
func (s *JSONL) ResumeFile(f File, state json.RawMessage) error { return s.resumeFile(f, state) }

// State implements Resumer.
func (s *JSONL) State() json.RawMessage { return s.state() }

// Write implements Sink.
func (s *JSONL) Write(ctx context.Context, recs []octopus.Record) error {
	lines, err := encodeAll(recs)
	if err != nil {
		return err
	}
	return s.WriteLines(ctx, lines)
}

// WriteLines implements LineWriter.
func (s *JSONL) WriteLines(_ context.Context, lines [][]byte) error {
	s.buf = joinLines(s.buf[:0], lines)
	return s.write(s.buf)
}

func encodeAll(recs []octopus.Record) ([][]byte, error) {
	lines := make([][]byte, len(recs))
	for i := range recs {
		line, err := Encode(&recs[i])
		if err != nil {
			return nil, err
		}
		lines[i] = line
	}
	return lines, nil
}

func joinLines(buf []byte, lines [][]byte) []byte {
	for _, l := range lines {
		buf = append(append(buf, l...), '\n')
	}
	return buf
}
