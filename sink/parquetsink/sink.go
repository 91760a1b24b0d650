package parquetsink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/parquet-go/parquet-go"

	"octopus"
	"octopus/internal/durable"
	"octopus/sink"
)

// What the outbox gathers for one file. The records are in memory meanwhile.
const (
	fileRecords = 20_000
	fileBytes   = 32 << 20
	fileWait    = 5 * time.Minute
)

// Sink is a sink.Sink over a folder. Each record is there exactly once.
type Sink struct {
	dir     string
	fs      durable.FS
	columns []sink.Column
	row     reflect.Type // of a row, with a field for each column
	next    int          // number of the next file
	open    bool
}

var (
	_ sink.Resumer  = (*Sink)(nil)
	_ sink.Gatherer = (*Sink)(nil)
)

// New returns the sink of a folder. Resume makes it where it is missing.
func New(dir string) *Sink {
	columns := sink.Columns()
	return &Sink{dir: dir, fs: durable.Disk(), columns: columns, row: rowType(columns)}
}

// rowType is a struct with a field for each column, with the tags that
// parquet-go reads.
func rowType(columns []sink.Column) reflect.Type {
	var fields []reflect.StructField
	for i, c := range columns {
		f := reflect.StructField{Name: fmt.Sprint("F", i), Type: types[c.Kind]}
		tag := c.Name
		switch {
		case c.List():
			f.Type = reflect.TypeFor[[]string]()
			tag += ",list"
		case c.Kind == sink.Time:
			tag += ",timestamp(millisecond)"
		case c.Nullable:
			tag += ",optional"
		}
		f.Tag = reflect.StructTag(fmt.Sprintf("parquet:%q", tag))
		fields = append(fields, f)
	}
	return reflect.StructOf(fields)
}

// types are those of values that are no lists.
var types = map[sink.ColumnKind]reflect.Type{
	sink.Text: reflect.TypeFor[string](), sink.Integer: reflect.TypeFor[int64](), sink.Real: reflect.TypeFor[float64](),
	sink.Time: reflect.TypeFor[time.Time](), sink.JSON: reflect.TypeFor[string](),
}

// rowOf returns a record as a row. Where the value is nothing it stays empty,
// which in an optional column is null.
func (s *Sink) rowOf(r *octopus.Record) any {
	p := sink.Portable(r)
	row := reflect.New(s.row).Elem()
	for i, c := range s.columns {
		if v := c.Raw(&p); v != nil {
			row.Field(i).Set(reflect.ValueOf(v))
		}
	}
	return row.Interface()
}

// Gather implements sink.Gatherer.
func (s *Sink) Gather() (records, size int, wait time.Duration) {
	return fileRecords, fileBytes, fileWait
}

// state is what the sink remembers.
type state struct {
	Next int  `json:"next"`
	Open bool `json:"open"`
}

// Resume implements sink.Resumer. In a folder that has files of another crawl
// the numbers go on behind those.
func (s *Sink) Resume(saved json.RawMessage) error {
	var was state
	if saved != nil {
		if err := json.Unmarshal(saved, &was); err != nil {
			return fmt.Errorf("what is remembered of %s is damaged: %w", s.dir, err)
		}
	}
	if err := durable.MkdirAll(s.fs, s.dir); err != nil {
		return err
	}
	last, err := s.lastFile()
	if err != nil {
		return err
	}
	s.next = last + 1
	if was.Open {
		for ; s.next > was.Next; s.next-- {
			if err := os.Remove(s.file(s.next - 1)); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	s.next, s.open = max(s.next, was.Next), true
	return durable.SyncDir(s.fs, s.dir)
}

// lastFile returns the largest number of a file, 0 where there is none.
func (s *Sink) lastFile() (last int, err error) {
	entries, err := os.ReadDir(s.dir)
	for _, e := range entries {
		var n int
		if _, err := fmt.Sscanf(e.Name(), "part-%d.parquet", &n); err == nil && e.Name() == filepath.Base(s.file(n)) {
			last = max(last, n)
		}
	}
	return last, err
}

func (s *Sink) file(n int) string { return filepath.Join(s.dir, fmt.Sprintf("part-%08d.parquet", n)) }

// State implements sink.Resumer.
func (s *Sink) State() json.RawMessage {
	text, err := json.Marshal(state{s.next, s.open})
	if err != nil {
		panic(err) // a number and a boolean
	}
	return text
}

// Write implements sink.Sink: recs become one file.
func (s *Sink) Write(_ context.Context, recs []octopus.Record) error {
	if len(recs) == 0 {
		return nil
	}
	err := durable.WriteFile(s.fs, s.file(s.next), func(w io.Writer) error {
		out := parquet.NewWriter(w, parquet.SchemaOf(reflect.New(s.row).Interface()), parquet.Compression(&parquet.Zstd))
		for i := range recs {
			if err := out.Write(s.rowOf(&recs[i])); err != nil {
				return err
			}
		}
		return out.Close()
	})
	if err != nil {
		return err
	}
	s.next++
	return nil
}

// Close implements sink.Sink.
func (s *Sink) Close() error {
	s.open = false
	return nil
}
