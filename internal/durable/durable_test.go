package durable_test

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"octopus/internal/durable"
)

func write(text string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
}

func read(t *testing.T, fsys durable.FS, name string) string {
	t.Helper()
	f, err := durable.Open(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// each runs a test on the disk and in memory.
func each(t *testing.T, f func(t *testing.T, fsys durable.FS, dir string)) {
	t.Run("disk", func(t *testing.T) { f(t, durable.Disk(), t.TempDir()) })
	t.Run("memory", func(t *testing.T) {
		m := durable.Memory()
		m.MkdirAll("dir", 0o777)
		f(t, m, "dir")
	})
}

func TestWriteFile(t *testing.T) {
	each(t, func(t *testing.T, fsys durable.FS, dir string) {
		name := fsys.PathJoin(dir, "file")
		for _, text := range []string{"first and long", "second"} {
			if err := durable.WriteFile(fsys, name, write(text)); err != nil {
				t.Fatal(err)
			}
			if got := read(t, fsys, name); got != text {
				t.Errorf("%q, want %q", got, text)
			}
		}
		broken := errors.New("broken")
		if err := durable.WriteFile(fsys, name, func(w io.Writer) error { io.WriteString(w, "third"); return broken }); !errors.Is(err, broken) {
			t.Error(err)
		}
		if got := read(t, fsys, name); got != "second" {
			t.Errorf("after an error: %q", got)
		}
		if names, _ := fsys.List(dir); len(names) != 1 {
			t.Error(names)
		}
	})
}

// A power cut at any operation leaves the old file or the new one.
func TestWriteFileCrash(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for seed := range 50 {
		mem := durable.Crashable()
		if err := durable.MkdirAll(mem, "a/b"); err != nil {
			t.Fatal(err)
		}
		if err := durable.WriteFile(mem, "a/b/file", write("old")); err != nil {
			t.Fatal(err)
		}
		var copies []*durable.MemFS
		fsys, _ := durable.Failing(mem, func(bool) { copies = append(copies, durable.Crash(mem, []int{0, 50}[seed%2], rng)) })
		if err := durable.WriteFile(fsys, "a/b/file", write("new")); err != nil {
			t.Fatal(err)
		}
		for i, c := range copies {
			if got := read(t, c, "a/b/file"); got != "old" && got != "new" {
				t.Fatalf("seed %d, cut %d: %q", seed, i, got)
			}
		}
		if got := read(t, durable.Crash(mem, 0, nil), "a/b/file"); got != "new" {
			t.Fatalf("after it returned: %q", got)
		}
	}
}

func TestWriteFileErrors(t *testing.T) {
	for n := int64(0); ; n++ {
		mem := durable.Memory()
		if err := durable.WriteFile(mem, "file", write("old")); err != nil {
			t.Fatal(err)
		}
		fsys, faults := durable.Failing(mem, nil)
		faults.FailAfter(n, false)
		err := durable.WriteFile(fsys, "file", write("new"))
		if faults.Ops() <= n {
			if err != nil || n < 4 {
				t.Errorf("%d operations, %v", n, err)
			}
			return
		}
		if got := read(t, mem, "file"); got != "old" && got != "new" || err == nil && got != "new" {
			t.Fatalf("operation %d failed: %q, %v", n, got, err)
		}
	}
}

func TestTruncate(t *testing.T) {
	each(t, func(t *testing.T, fsys durable.FS, dir string) {
		name := fsys.PathJoin(dir, "file")
		if err := durable.WriteFile(fsys, name, write("0123456789")); err != nil {
			t.Fatal(err)
		}
		if err := durable.Truncate(fsys, name, 4); err != nil {
			t.Fatal(err)
		}
		if got := read(t, fsys, name); got != "0123" {
			t.Errorf("%q", got)
		}
		if err := durable.Truncate(fsys, fsys.PathJoin(dir, "none"), 0); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "none") {
			t.Error(err)
		}
	})
}

func TestLock(t *testing.T) {
	each(t, func(t *testing.T, fsys durable.FS, dir string) {
		name := fsys.PathJoin(dir, "LOCK")
		l, err := durable.Lock(fsys, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := durable.Lock(fsys, name); !errors.Is(err, durable.ErrLocked) || !strings.Contains(err.Error(), name) {
			t.Errorf("second lock: %v", err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if l, err = durable.Lock(fsys, name); err != nil {
			t.Fatal(err)
		}
		l.Close()
	})
	if _, err := durable.Lock(durable.Disk(), filepath.Join(t.TempDir(), "none", "LOCK")); err == nil || errors.Is(err, durable.ErrLocked) {
		t.Errorf("lock in a directory that is not there: %v", err)
	}
}

func TestOpenWriteDoesNotCreate(t *testing.T) {
	each(t, func(t *testing.T, fsys durable.FS, dir string) {
		name := fsys.PathJoin(dir, "none")
		for _, open := range []func(durable.FS, string) (durable.File, error){durable.OpenWrite, durable.Open} {
			if _, err := open(fsys, name); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), name) {
				t.Error(err)
			}
		}
		if names, _ := fsys.List(dir); len(names) != 0 {
			t.Error(names)
		}
	})
}

func TestMkdirAll(t *testing.T) {
	mem := durable.Crashable()
	if err := durable.MkdirAll(mem, "a/b/c"); err != nil {
		t.Fatal(err)
	}
	if _, err := durable.Crash(mem, 0, nil).Stat("a/b/c"); err != nil {
		t.Errorf("a power cut took the directory: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "x", "y")
	if err := durable.MkdirAll(durable.Disk(), dir); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Error(err)
	}
}

func TestSeal(t *testing.T) {
	p := durable.Seal([]byte("some bytes"))
	if !durable.Sealed(p) {
		t.Error("not sealed")
	}
	for i := range p {
		p[i] ^= 4
		if durable.Sealed(p) {
			t.Errorf("byte %d changed unnoticed", i)
		}
		p[i] ^= 4
	}
	for n := range 12 {
		if durable.Sealed(make([]byte, n)) {
			t.Errorf("%d zeros are sealed", n)
		}
	}
	if crc := durable.CRC([]byte("123456789")); crc != 0xe3069283 { // the check value of CRC-32C
		t.Errorf("%x", crc)
	}
}
