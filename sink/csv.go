package sink

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"octopus"
)

// CSV is a Sink that appends records to a file of comma-separated values
// (RFC 4180, but lines end in a newline alone), each exactly once, as JSONL
// does. The first line names the columns; lists are JSON.
type CSV struct {
	appended
	columns []Column
	buf     bytes.Buffer
}

// NewCSV returns the sink of the file at path. Resume opens the file.
func NewCSV(path string) *CSV { return &CSV{appended: appended{path: path}, columns: Columns()} }

// Resume implements Resumer. A file that is there must have the same columns,
// or fewer: those of an older octopus.
func (s *CSV) Resume(state json.RawMessage) error {
	if err := s.resume(state); err != nil {
		return err
	}
	if err := s.header(); err != nil {
		return errors.Join(err, s.Close())
	}
	return nil
}

// header writes the first line of an empty file, and reads that of another.
func (s *CSV) header() error {
	if !s.plain || s.length == 0 {
		names := make([]string, len(s.columns))
		for i, c := range s.columns {
			names[i] = c.Name
		}
		return s.writeRows([][]string{names})
	}
	names, err := csv.NewReader(io.NewSectionReader(s.f, 0, s.length)).Read()
	if err != nil {
		return fmt.Errorf("%s: its first line does not name columns: %w", s.path, err)
	}
	s.columns = nil
	for _, name := range names {
		i := slices.IndexFunc(Columns(), func(c Column) bool { return c.Name == name })
		if i < 0 {
			return fmt.Errorf("%s has a column %q that records do not have; name another file", s.path, name)
		}
		s.columns = append(s.columns, Columns()[i])
	}
	return nil
}

// State implements Resumer.
func (s *CSV) State() json.RawMessage { return s.state() }

// Write implements Sink.
func (s *CSV) Write(_ context.Context, recs []octopus.Record) error {
	rows := make([][]string, len(recs))
	for i := range recs {
		row := make([]string, len(s.columns))
		for j, c := range s.columns {
			row[j] = csvText(c.Value(&recs[i]))
		}
		rows[i] = row
	}
	return s.writeRows(rows)
}

func (s *CSV) writeRows(rows [][]string) error {
	s.buf.Reset()
	w := csv.NewWriter(&s.buf)
	if err := w.WriteAll(rows); err != nil {
		return err
	}
	return s.write(s.buf.Bytes())
}

// csvText writes a value of a column; nothing is the empty text.
func csvText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	}
	return ""
}
