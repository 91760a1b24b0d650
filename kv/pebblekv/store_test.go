package pebblekv_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"octopus/kv"
	"octopus/kv/kvtest"
	"octopus/kv/pebblekv"
)

func open(t *testing.T, dir string, fs vfs.FS) *pebblekv.Store {
	t.Helper()
	s, err := pebblekv.Open(dir, pebblekv.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) kv.Store {
		s := open(t, "db", vfs.NewMem())
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	})
}

func TestReopen(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	var b kv.Batch
	b.Set([]byte("a"), []byte("1"))
	if err := s.Apply(&b, kv.NoSync); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, nil)
	defer s.Close()
	if v, err := s.Get([]byte("a")); err != nil || string(v) != "1" {
		t.Errorf("after reopening: %q, %v", v, err)
	}
	if s.DiskUsage() <= 0 || s.Metrics().MemTableBytes <= 0 {
		t.Errorf("metrics %+v", s.Metrics())
	}
}

func TestLocked(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	defer s.Close()
	_, err := pebblekv.Open(dir, pebblekv.Options{})
	if !errors.Is(err, pebblekv.ErrLocked) || !strings.Contains(err.Error(), dir) {
		t.Errorf("second Open: %v, want ErrLocked that names the directory", err)
	}
}

func TestUnwritable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := pebblekv.Open(filepath.Join(file, "db"), pebblekv.Options{})
	if err == nil || errors.Is(err, pebblekv.ErrLocked) || !strings.Contains(err.Error(), file) {
		t.Errorf("Open below a file: %v", err)
	}
}

// TestCorrupt damages every file of a store in turn; each damage is an error
// that names the directory, or harmless, and never a panic or a wrong value.
func TestCorrupt(t *testing.T) {
	fill := func(dir string) {
		s := open(t, dir, nil)
		var b kv.Batch
		for i := range 2000 {
			b.Set([]byte{byte(i >> 8), byte(i)}, []byte(strings.Repeat("v", 50)))
		}
		if err := s.Apply(&b, kv.Sync); err != nil {
			t.Fatal(err)
		}
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	sample := t.TempDir()
	fill(sample)
	files, err := os.ReadDir(sample)
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for _, f := range files {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(sample)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, f.Name())
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := len(data) / 3; i < 2*len(data)/3; i++ {
			data[i] ^= 0x55
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := readAll(dir); err != nil {
			failed++
			if !strings.Contains(err.Error(), dir) {
				t.Errorf("%s damaged: the error does not name the directory: %v", f.Name(), err)
			}
		}
	}
	if failed < 2 {
		t.Errorf("only %d damaged files of %d were noticed", failed, len(files))
	}
}

func readAll(dir string) error {
	s, err := pebblekv.Open(dir, pebblekv.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Scan(nil, nil, func(_, v []byte) error {
		if string(v) != strings.Repeat("v", 50) {
			return errors.New("wrong value")
		}
		return nil
	})
}
