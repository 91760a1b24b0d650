package container_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"octopus/canon"
	"octopus/container"
	"octopus/internal/durable"
	"octopus/warc"
)

// exported is a container with versions, duplicates and deleted pages.
func exported(t *testing.T) (*container.Container, string) {
	dir := t.TempDir()
	c := open(t, container.Options{Dir: dir, SegmentBytes: 5000})
	for i := range 60 {
		put(t, c, container.Entry{Page: page(t, fmt.Sprintf("http://h%d.example/p?q=%d", i%4, i%20), fmt.Sprintf("text %d", i%30), start.Add(time.Duration(i)*time.Second)),
			Meta: []warc.Field{{Name: "via", Value: "http://h0.example/"}}})
	}
	return c, dir
}

// TestCDXJ follows every line of the index into the WARC files.
func TestCDXJ(t *testing.T) {
	c, dir := exported(t)
	var out bytes.Buffer
	n, err := c.ExportCDXJ(context.Background(), &out)
	if err != nil || n != 60 {
		t.Fatal(n, err)
	}
	u, _ := canon.Parse("http://h0.example/p?q=0")
	exact, err := c.CDX(context.Background(), u)
	if err != nil || len(exact) != 3 || !bytes.Contains(out.Bytes(), exact[2].Append(nil)) {
		t.Errorf("CDX of one URL: %+v, %v", exact, err)
	}
	closed(t, c)
	lines := strings.SplitAfter(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 60 || !slices.IsSorted(lines) {
		t.Fatalf("%d lines, sorted %v", len(lines), slices.IsSorted(lines))
	}
	for _, line := range lines {
		x, err := warc.ParseCDX(line)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(filepath.Join(dir, x.Filename))
		if err != nil {
			t.Fatal(err)
		}
		r := warc.NewReader(io.NewSectionReader(f, x.Offset, x.Length), x.Offset)
		rec, err := r.Next()
		if err != nil || rec.TargetURI != x.URL || !strings.HasSuffix(rec.PayloadDigest, x.Digest) || x.Digest == "" ||
			(x.MIME == "warc/revisit") != (rec.Type == warc.Revisit) || !rec.Date.Truncate(time.Second).Equal(x.Time) || x.Status != 200 {
			t.Fatalf("%s leads to %+v, %v", line, rec, err)
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("%s is longer than its record: %v", line, err)
		}
		f.Close()
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(left) > 0 {
		t.Error(left)
	}
}

// TestCDXJLongChain: the versions of one URL cost an export what so many pages
// cost, and of a long chain too nothing is shown that is deleted.
func TestCDXJLongChain(t *testing.T) {
	reads := func(n int) int64 {
		fsys, ops := durable.Failing(durable.Memory(), nil)
		c := open(t, container.Options{Dir: "pages", FS: fsys, Sync: container.Never})
		defer closed(t, c)
		u, _ := canon.Parse("http://a.example/")
		for i := range n {
			put(t, c, container.Entry{Page: page(t, u.Text, fmt.Sprint("text ", i), start.Add(time.Duration(i)*time.Second))})
			if i == n/4-1 {
				if err := c.Delete(context.Background(), u); err != nil {
					t.Fatal(err)
				}
			}
		}
		before := ops.Ops()
		if lines, err := c.ExportCDXJ(context.Background(), io.Discard); err != nil || lines != int64(n-n/4) {
			t.Fatalf("%d lines of %d, %v", lines, n-n/4, err)
		}
		return ops.Ops() - before
	}
	few, many := reads(100), reads(800)
	t.Logf("%d operations of the disk for 100 versions, %d for 800", few, many)
	if many > 12*few {
		t.Errorf("%d operations of the disk for 100 versions, %d for 800", few, many)
	}
}

// TestWACZ checks what the specification says of the files inside.
func TestWACZ(t *testing.T) {
	c, dir := exported(t)
	var out bytes.Buffer
	if err := c.ExportWACZ(context.Background(), &out, warc.WACZInfo{Title: "A test", Created: start, Software: "octopus"}); err != nil {
		t.Fatal(err)
	}
	closed(t, c)
	name := filepath.Join(t.TempDir(), "x.wacz")
	if err := os.WriteFile(name, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	readWithNode(t, "readwacz.mjs", name)
	z, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name], _ = io.ReadAll(r)
		if strings.HasPrefix(f.Name, "archive/") && f.Method != zip.Store {
			t.Errorf("%s is compressed again", f.Name)
		}
	}
	var pkg struct {
		Profile, WACZ_Version string
		Resources             []struct {
			Name, Path, Hash string
			Bytes            int
		}
	}
	if err := json.Unmarshal(files["datapackage.json"], &pkg); err != nil || pkg.Profile != "data-package" || pkg.WACZ_Version != "1.1.1" {
		t.Fatal(err, string(files["datapackage.json"]))
	}
	hash := func(b []byte) string { s := sha256.Sum256(b); return "sha256:" + hex.EncodeToString(s[:]) }
	for _, r := range pkg.Resources {
		if data := files[r.Path]; len(data) != r.Bytes || hash(data) != r.Hash || filepath.Base(r.Path) != r.Name {
			t.Errorf("%+v is %d bytes", r, len(data))
		}
	}
	if len(pkg.Resources) != len(files)-2 {
		t.Errorf("%d resources for %d files", len(pkg.Resources), len(files))
	}
	if !strings.Contains(string(files["datapackage-digest.json"]), hash(files["datapackage.json"])) {
		t.Error("datapackage-digest.json has another hash")
	}
	if lines := strings.Split(string(files["pages/pages.jsonl"]), "\n"); len(lines) != 22 || !strings.Contains(lines[1], `"ts":"2026-11-20T`) {
		t.Errorf("pages.jsonl: %q", lines)
	}
	segments, _ := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
	for _, name := range segments {
		data, _ := os.ReadFile(name)
		if !bytes.Equal(files["archive/"+filepath.Base(name)], data) {
			t.Errorf("%s differs", name)
		}
	}
	if n := bytes.Count(files["indexes/index.cdx"], []byte("\n")); n != 60 {
		t.Errorf("%d lines of index", n)
	}
}

func TestExportTextAndJSONL(t *testing.T) {
	c, _ := exported(t)
	defer closed(t, c)
	path := filepath.Join(t.TempDir(), "text.warc.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	n, err := c.ExportText(context.Background(), f, func(s *container.Stored) string { return "TEXT " + string(s.Body) })
	if err != nil || n != 20 {
		t.Fatal(n, err)
	}
	f.Close()
	check(t, filepath.Dir(path))
	var out bytes.Buffer
	if n, err := c.ExportJSONL(context.Background(), &out); err != nil || n != 20 || bytes.Count(out.Bytes(), []byte("\n")) != 20 {
		t.Fatal(n, err)
	}
}

// TestScanLate has a scan agree with Get where versions were not stored in the
// order of their times: each URL once, nothing that is deleted.
func TestScanLate(t *testing.T) {
	c := open(t, container.Options{Dir: t.TempDir()})
	defer closed(t, c)
	day := func(url, body string, n int) {
		put(t, c, container.Entry{Page: page(t, url, body, start.AddDate(0, 0, n))})
	}
	remove := func(url string) {
		u, _ := canon.Parse(url)
		if err := c.Delete(context.Background(), u); err != nil {
			t.Fatal(err)
		}
	}
	day("http://a.example/late", "five", 5)
	day("http://a.example/late", "two", 2)
	day("http://a.example/gone", "five", 5)
	remove("http://a.example/gone")
	day("http://a.example/gone", "two", 2)
	day("http://a.example/back", "two", 2)
	remove("http://a.example/back")
	day("http://a.example/back", "one", 1)
	day("http://a.example/back", "five", 5)
	day("http://a.example/back", "three", 3)
	day("http://a.example/late gone", "five", 5)
	day("http://a.example/late gone", "two", 2)
	remove("http://a.example/late gone")

	var got []string
	err := c.Scan(context.Background(), func(s *container.Stored) error {
		wantBody(t, c, s.URL, string(s.Body))
		got = append(got, s.URL+" "+string(s.Body))
		return nil
	})
	if want := []string{"http://a.example/late five", "http://a.example/back five"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("scanned %q, %v; want %q", got, err, want)
	}
	for _, url := range []string{"http://a.example/gone", "http://a.example/late gone"} {
		u, _ := canon.Parse(url)
		if _, err := c.Get(context.Background(), u); !errors.Is(err, container.ErrNotFound) {
			t.Errorf("%s: %v", url, err)
		}
	}
}
