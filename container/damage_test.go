package container_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"octopus"
	"octopus/canon"
	"octopus/container"
	"octopus/internal/durable"
)

// sample makes a container of a few segments in memory and returns its files
// and what it holds.
func sample(t testing.TB) (files map[string][]byte, want map[string]string) {
	fsys := durable.Memory()
	c := open(t, container.Options{Dir: "pages", FS: fsys, SegmentBytes: 6000})
	want = map[string]string{}
	for i := range 60 {
		url, body := fmt.Sprintf("http://h%d.example/%d", i%4, i%50), fmt.Sprintf("page %d %s", i, strings.Repeat("word ", i))
		if i%7 == 6 {
			body = "shared text of some pages"
		}
		put(t, c, container.Entry{Page: page(t, url, body, start.Add(time.Duration(i)*time.Second))})
		want[url] = body
	}
	closed(t, c)
	names, _ := fsys.List("pages")
	files = map[string][]byte{}
	for _, name := range names {
		f, err := fsys.Open("pages/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files[name], _ = io.ReadAll(f)
		f.Close()
	}
	return files, want
}

func fill(t testing.TB, files map[string][]byte) *durable.MemFS {
	fsys := durable.Memory()
	fsys.MkdirAll("pages", 0o777)
	for name, data := range files {
		f, err := durable.Create(fsys, "pages/"+name)
		if err != nil {
			t.Fatal(err)
		}
		f.Write(bytes.Clone(data)) // Pebble scrambles what it was given, to find who relies on it
		f.Close()
	}
	return fsys
}

// readAll counts the pages that can't be read, and fails on a wrong one or one
// that is said not to exist.
func readAll(t testing.TB, c *container.Container, want map[string]string, what string) (unreadable int) {
	t.Helper()
	for url, body := range want {
		u, _ := canon.Parse(url)
		s, err := c.Get(context.Background(), u)
		switch {
		case err == nil && (s.URL != url || string(s.Body) != body):
			t.Fatalf("%s: %s holds %.50q, want %.50q", what, url, s.Body, body)
		case err == nil:
		case !errors.Is(err, container.ErrCorrupt) || !strings.Contains(err.Error(), "offset"):
			t.Fatalf("%s: %s: %v", what, url, err)
		default:
			unreadable++
		}
	}
	return unreadable
}

// TestDamage flips bits and cuts files. No read may bring wrong content; each
// names file and offset; pages that are not hit stay readable; Verify sees what
// reads see; and where only indexes were hit, Rebuild brings everything back.
func TestDamage(t *testing.T) {
	files, want := sample(t)
	var names []string
	for name, data := range files {
		if len(data) > 0 {
			names = append(names, name)
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for _, suffix := range []string{".warc.gz", ".key", "address.idx"} {
		var hits []string
		for _, name := range names {
			if strings.HasSuffix(name, suffix) {
				hits = append(hits, name)
			}
		}
		lost, flips, cuts := 0, scale(40), scale(4) // a campaign of 250: 10,000 and 1,000
		for trial := range flips + cuts {
			hit := hits[rng.IntN(len(hits))]
			data := bytes.Clone(files[hit])
			at, bit := rng.IntN(len(data)), rng.IntN(8)
			what := fmt.Sprintf("%s: bit %d of byte %d", hit, bit, at)
			if data[at] ^= 1 << bit; trial >= flips {
				data = data[:at]
				what = fmt.Sprintf("%s cut at %d", hit, at)
			}
			damaged := maps.Clone(files)
			if trial%4 == 3 { // without a checkpoint key files are read, and healed
				delete(damaged, "address.idx")
			}
			damaged[hit] = data
			lost += damage(t, damaged, want, what, suffix == ".warc.gz", trial < flips)
		}
		t.Logf("%s: %d flips, %d cuts, %d reads failed with an error", suffix, flips, cuts, lost)
	}
}

// damage opens, reads, verifies and rebuilds a container of which one file is
// damaged, and returns how many pages were unreadable.
func damage(t *testing.T, files map[string][]byte, want map[string]string, what string, isWARC, flip bool) int {
	t.Helper()
	c, err := container.Open(container.Options{Dir: "pages", FS: fill(t, files), SegmentBytes: 6000})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer closed(t, c)
	n := readAll(t, c, want, what)
	if flip && n > 1 && !(isWARC && n < 12) {
		t.Fatalf("%s: %d pages unreadable", what, n)
	}
	rep, err := c.Verify(context.Background(), nil)
	if err != nil || n > 0 && len(rep.Errors) == 0 {
		t.Fatalf("%s: %d pages unreadable, verify: %v, %v", what, n, rep.Errors, err)
	}
	lost := map[octopus.Key]bool{}
	err = c.Rebuild(context.Background(), nil, func(keys []octopus.Key) error {
		for _, k := range keys {
			lost[k] = true
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%s: rebuild: %v", what, err)
	}
	rest := maps.Clone(want) // without the damaged record, which has left the index
	maps.DeleteFunc(rest, func(url, _ string) bool { u, _ := canon.Parse(url); return lost[u.Key] })
	if left := readAll(t, c, rest, what+", rebuilt"); left > 0 || len(lost) > 0 && !isWARC {
		t.Fatalf("%s: %d pages unreadable after rebuild, %d lost", what, left, len(lost))
	}
	if rep, err := c.Verify(context.Background(), nil); err != nil || len(rep.Errors) > 0 && len(lost) == 0 {
		t.Fatalf("%s: after rebuild: %v, %v", what, rep.Errors, err)
	}
	return n
}

// allocated returns the bytes allocated since the process began.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// FuzzKeyFile opens a container whose key file is anything, and one whose
// checkpoint is.
func FuzzKeyFile(f *testing.F) {
	files, want := sample(f)
	key := ""
	for name := range files {
		if strings.HasSuffix(name, "-00000001.key") {
			key = name
		}
	}
	f.Add(files[key], false)
	f.Add(files["address.idx"][:3000], true)
	f.Add(files["address.idx"], true)
	f.Add([]byte("OCTOKEY1"), false)
	f.Fuzz(func(t *testing.T, data []byte, checkpoint bool) {
		damaged := map[string][]byte{}
		for name, d := range files {
			damaged[name] = d
		}
		if checkpoint {
			damaged["address.idx"] = data
		} else {
			delete(damaged, "address.idx")
			damaged[key] = data
		}
		for _, memory := range []int64{0, 1 << 20} { // index in memory, and on disk
			fsys := fill(t, damaged)
			before := allocated()
			c, err := container.Open(container.Options{Dir: "pages", FS: fsys, SegmentBytes: 6000, IndexMemory: memory})
			if err != nil {
				t.Fatal(err)
			}
			if used := allocated() - before; used > 64*uint64(len(data))+(8<<20) { // besides what the other files need
				t.Fatalf("%d bytes allocated for %d", used, len(data))
			}
			readAll(t, c, want, "fuzz")
			closed(t, c)
		}
	})
}

// A full disk, a directory that cannot be made: errors that name the thing.
func TestOpenErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for name, opt := range map[string]container.Options{
		"Options.Dir":  {},
		"SegmentBytes": {Dir: t.TempDir(), SegmentBytes: 2 << 30},
		"level 11":     {Dir: t.TempDir(), Level: 11},
		file:           {Dir: filepath.Join(file, "below")},
	} {
		if _, err := container.Open(opt); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFullDisk verifies a container that was closed, where nothing can be
// written, and stores nothing there without saying so.
func TestFullDisk(t *testing.T) {
	files, want := sample(t)
	full := false
	var faults *durable.Faults
	fsys, faults := durable.Failing(fill(t, files), func(write bool) {
		if write && full {
			faults.FailAfter(0, false) // this very operation
		}
	})
	c := open(t, container.Options{Dir: "pages", FS: fsys, SegmentBytes: 6000})
	full = true // the lock alone was made before
	readAll(t, c, want, "full disk")
	if rep, err := c.Verify(context.Background(), nil); err != nil || len(rep.Errors) > 0 {
		t.Errorf("verify: %v, %v", rep.Errors, err)
	}
	closed(t, c)
	full = false
	c = open(t, container.Options{Dir: "pages", FS: fsys, SegmentBytes: 6000})
	full = true
	if _, err := c.Put(context.Background(), container.Entry{Page: page(t, "http://a.example/new", "text", start)}); !errors.Is(err, durable.ErrInjected) {
		t.Errorf("put: %v", err)
	}
	readAll(t, c, want, "after a put that failed")
	if err := c.Close(); err != nil && !errors.Is(err, durable.ErrInjected) {
		t.Error(err)
	}
}

// TestBrokenTail breaks a record in the last segment where nothing vouches for
// its end: key files and checkpoint are gone. The record is lost with an error;
// what follows is kept, and the file is a clean WARC again.
func TestBrokenTail(t *testing.T) {
	dir := t.TempDir()
	c := open(t, container.Options{Dir: dir})
	var refs []container.Ref
	for i := range 10 {
		refs = append(refs, put(t, c, container.Entry{Page: page(t, fmt.Sprintf("http://a.example/%d", i), fmt.Sprintf("text %d", i), start)}).Ref)
	}
	closed(t, c)
	for _, pattern := range []string{"*.key", "*.idx"} {
		files, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, f := range files {
			os.Remove(f)
		}
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
	data, _ := os.ReadFile(files[0])
	data[refs[4].Offset+refs[4].Length/2] ^= 0x55
	if err := os.WriteFile(files[0], data, 0o666); err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		c = open(t, container.Options{Dir: dir})
		if d := c.Damage(); (len(d) == 1) != (round == 0) {
			t.Errorf("round %d: damage %v", round, d)
		}
		for i := range 10 {
			u, _ := canon.Parse(fmt.Sprintf("http://a.example/%d", i))
			if s, err := c.Get(context.Background(), u); (err != nil) != (i == 4) || err == nil && string(s.Body) != fmt.Sprintf("text %d", i) {
				t.Errorf("round %d: page %d: %v", round, i, err)
			}
		}
		closed(t, c)
	}
	check(t, dir)
	if kept, _ := filepath.Glob(filepath.Join(dir, "*.damaged")); len(kept) != 1 {
		t.Errorf("the broken bytes were not kept: %v", kept)
	}
}

// A key file that belongs to other segments is not believed.
func TestForeignKeyFile(t *testing.T) {
	files, want := sample(t)
	others, _ := sample(t)
	for name := range files {
		if !strings.HasSuffix(name, ".key") {
			continue
		}
		for other, data := range others {
			if strings.HasSuffix(other, name[len(name)-len("00000001.key"):]) {
				files[name] = data
			}
		}
	}
	delete(files, "address.idx")
	c := open(t, container.Options{Dir: "pages", FS: fill(t, files), SegmentBytes: 6000})
	if n := readAll(t, c, want, "foreign key files"); n > 0 {
		t.Errorf("%d pages unreadable", n)
	}
	closed(t, c)
}
