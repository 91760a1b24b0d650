package container

import (
	"bufio"
	"bytes"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"slices"

	"octopus/internal/durable"
)

// sorter sorts lines that do not fit into memory.
type sorter struct {
	fsys  durable.FS
	dir   string
	lines [][]byte
	bytes int
	runs  []durable.File
	names []string
}

const sortRun = 64 << 20

func (s *sorter) add(line []byte) error {
	s.lines = append(s.lines, line)
	if s.bytes += len(line); s.bytes < sortRun {
		return nil
	}
	return s.spill()
}

// spill writes the lines in memory as one sorted run.
func (s *sorter) spill() error {
	slices.SortFunc(s.lines, bytes.Compare)
	name := s.fsys.PathJoin(s.dir, fmt.Sprintf("sort-%03d.tmp", len(s.runs)))
	f, err := durable.Create(s.fsys, name)
	if err != nil {
		return err
	}
	s.runs, s.names = append(s.runs, f), append(s.names, name)
	out := bufio.NewWriterSize(f, 1<<20)
	for _, line := range s.lines {
		out.Write(line) // bufio keeps the first error for Flush
	}
	s.lines, s.bytes = nil, 0
	return out.Flush()
}

// merge writes all lines in order.
func (s *sorter) merge(w io.Writer) error {
	if err := s.spill(); err != nil {
		return err
	}
	var h runs
	for _, f := range s.runs {
		size, err := durable.Size(f)
		if err != nil {
			return err
		}
		r := &run{in: bufio.NewReaderSize(io.NewSectionReader(f, 0, size), 256<<10)}
		if r.next() {
			h = append(h, r)
		}
	}
	heap.Init(&h)
	out := bufio.NewWriter(w)
	for len(h) > 0 {
		out.Write(h[0].line)
		if h[0].next() {
			heap.Fix(&h, 0)
		} else if h[0].err != nil && h[0].err != io.EOF {
			return h[0].err
		} else {
			heap.Pop(&h)
		}
	}
	return out.Flush()
}

func (s *sorter) close() error {
	var errs []error
	for i, f := range s.runs {
		errs = append(errs, f.Close(), s.fsys.Remove(s.names[i]))
	}
	return errors.Join(errs...)
}

// run is a sorted file and its next line.
type run struct {
	in   *bufio.Reader
	line []byte
	err  error
}

func (r *run) next() bool {
	r.line, r.err = r.in.ReadBytes('\n')
	return r.err == nil
}

// runs is a heap of runs by their next lines.
type runs []*run

func (h runs) Len() int           { return len(h) }
func (h runs) Less(i, j int) bool { return bytes.Compare(h[i].line, h[j].line) < 0 }
func (h runs) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *runs) Push(x any) { *h = append(*h, x.(*run)) }

// Pop implements heap.Interface.
func (h *runs) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
