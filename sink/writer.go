package sink

import (
	"context"
	"io"

	"octopus"
)

// Writer is a Sink over a stream, one JSON object per line. It is at least
// once: what was written before a crash may be written again after it.
type Writer struct {
	w   io.Writer
	buf []byte
}

// NewWriter returns the sink of w, which stays open.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write implements Sink.
func (s *Writer) Write(ctx context.Context, recs []octopus.Record) error {
	lines, err := encodeAll(recs)
	if err != nil {
		return err
	}
	return s.WriteLines(ctx, lines)
}

// WriteLines implements LineWriter.
func (s *Writer) WriteLines(_ context.Context, lines [][]byte) error {
	s.buf = joinLines(s.buf[:0], lines)
	_, err := s.w.Write(s.buf)
	return err
}

// Close implements Sink.
func (s *Writer) Close() error { return nil }
