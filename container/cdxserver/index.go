package cdxserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"octopus/warc"
)

// index is a file of CDXJ lines, sorted by their bytes. It may be read by many
// goroutines at once.
type index struct {
	f    *os.File
	size int64
}

// makeIndex writes the index of store to a temporary file in dir.
func makeIndex(ctx context.Context, store Store, dir string) (*index, error) {
	f, err := os.CreateTemp(dir, "octopus-cdx-*")
	if err != nil {
		return nil, err
	}
	x := &index{f: f}
	w := bufio.NewWriterSize(f, 1<<20)
	_, err = store.ExportCDXJ(ctx, w)
	if err = errors.Join(err, w.Flush()); err == nil {
		x.size, err = f.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("index: %w", err), x.close())
	}
	return x, nil
}

func (x *index) close() error { return errors.Join(x.f.Close(), os.Remove(x.f.Name())) }

// lineAt returns a reader that stands at the first line that begins at or after
// offset.
func (x *index) lineAt(offset int64) (*bufio.Reader, error) {
	if offset == 0 {
		return bufio.NewReader(io.NewSectionReader(x.f, 0, x.size)), nil
	}
	r := bufio.NewReader(io.NewSectionReader(x.f, offset-1, x.size-offset+1))
	_, err := r.ReadString('\n')
	return r, err
}

// find returns an offset at which lineAt stands before the first line >= key,
// by halves, as look does.
func (x *index) find(key string) (int64, error) {
	low, high := int64(0), x.size
	for low < high {
		middle := (low + high) / 2
		line := ""
		r, err := x.lineAt(middle)
		if err == nil {
			line, err = r.ReadString('\n')
		}
		if err != nil && err != io.EOF {
			return 0, err
		}
		if line != "" && line < key {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, nil
}

// each calls visit for the captures with first <= key < last, in order, until
// it returns false.
func (x *index) each(first, last string, visit func(*warc.CDX) bool) error {
	from, err := x.find(first)
	if err != nil {
		return err
	}
	r, err := x.lineAt(from)
	for err == nil {
		var line string
		if line, err = r.ReadString('\n'); err != nil {
			break
		}
		if key, _, _ := strings.Cut(line, " "); key >= last {
			return nil
		}
		c, bad := warc.ParseCDX(line)
		if bad != nil {
			return bad
		}
		if !visit(&c) {
			return nil
		}
	}
	if err == io.EOF {
		return nil
	}
	return err
}
