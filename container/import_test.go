package container_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"octopus"
	"octopus/canon"
	"octopus/container"
	"octopus/warc"
)

// TestImport takes the files of one container into another: what comes out is
// the same, and a second time nothing is new.
func TestImport(t *testing.T) {
	from, dir := exported(t)
	want := map[string]string{}
	if err := from.Scan(context.Background(), func(s *container.Stored) error { want[s.URL] = string(s.Body); return nil }); err != nil {
		t.Fatal(err)
	}
	closed(t, from)
	c := open(t, container.Options{Dir: t.TempDir()})
	defer closed(t, c)
	for round := range 2 {
		files, _ := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
		var sum container.Imported
		for _, name := range files {
			data, _ := os.ReadFile(name)
			r, err := c.Import(context.Background(), bytes.NewReader(data))
			if err != nil || len(r.Skipped) > 0 {
				t.Fatalf("%s: %+v, %v", name, r, err)
			}
			sum.Pages, sum.Known = sum.Pages+r.Pages, sum.Known+r.Known
		}
		if sum.Pages != 60 || sum.Known != int64(60*round) {
			t.Errorf("%+v", sum)
		}
		for url, body := range want {
			wantBody(t, c, url, body)
		}
	}
}

// TestImportUnchanged takes a segment with answers 304 into an empty store, and
// into one that knows other versions: each stands for the payload that it names.
func TestImportUnchanged(t *testing.T) {
	const url = "http://a.example/"
	day := func(n int) time.Time { return start.AddDate(0, 0, n) }
	dir := t.TempDir()
	c := open(t, container.Options{Dir: dir})
	moved := page(t, url, "", day(5))
	moved.Status = 301
	for _, p := range []*octopus.Page{page(t, url, "one", day(1)), unchanged(t, url, day(2)), page(t, url, "three", day(3)), unchanged(t, url, day(4)), moved} {
		put(t, c, container.Entry{Page: p})
	}
	closed(t, c)
	files, _ := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, others := range []bool{false, true} {
		opt := container.Options{Dir: t.TempDir()}
		c := open(t, opt)
		if others {
			put(t, c, container.Entry{Page: page(t, url, "between", day(1).Add(time.Hour))})
			put(t, c, container.Entry{Page: page(t, url, "nine", day(9))})
		}
		for round := range int64(2) {
			if r, err := c.Import(context.Background(), bytes.NewReader(data)); err != nil || r.Pages != 5 || r.Known != 5*round || len(r.Skipped) > 0 {
				t.Errorf("other versions %v: %+v, %v", others, r, err)
			}
		}
		u, _ := canon.Parse(url)
		for n, body := range map[int]string{1: "one", 2: "one", 3: "three", 4: "three"} {
			s, err := c.At(context.Background(), u, day(n))
			if err != nil || string(s.Body) != body || s.Status != 200 || (s.Kind == container.NotModified) != (n%2 == 0) {
				t.Errorf("other versions %v, day %d: %+v, %v", others, n, s, err)
			}
		}
		closed(t, c)
		check(t, opt.Dir)
	}
}

// TestImportForeign takes files of other programs: gzip and chunked bodies,
// revisits, angle brackets, several records in a member.
func TestImportForeign(t *testing.T) {
	dir := filepath.Join("..", "..", "shared", "testdata", "warc")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no ../shared/testdata/warc")
	}
	for name, pages := range map[string]int64{"example.warc.gz": 2, "example-bad-non-chunked.warc.gz": 2, "example-resource.warc.gz": 1, "example-wget-bad-target-uri.warc.gz": 1} {
		opt := container.Options{Dir: t.TempDir()}
		c := open(t, opt)
		data, _ := os.ReadFile(filepath.Join(dir, name))
		r, err := c.Import(context.Background(), bytes.NewReader(data))
		if err != nil || r.Pages != pages {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		err = c.Scan(context.Background(), func(s *container.Stored) error {
			if s.Status == 200 && strings.Contains(s.Header.Get("Content-Type"), "html") && !bytes.Contains(s.Body, []byte("</html>")) {
				t.Errorf("%s: %s: the body is not decoded: %.60q", name, s.URL, s.Body)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		closed(t, c)
		check(t, opt.Dir)
	}
}

// TestImportBareRevisit imports revisits without a block: their status and header
// are those of the payload's record.
func TestImportBareRevisit(t *testing.T) {
	e, _ := warc.NewEncoder(1)
	head := warc.HTTPBlock(203, http.Header{"X-Name": {"value"}}, 4)
	file, _ := e.Append(nil, &warc.Record{Type: warc.Response, ID: warc.NewID(), Date: start, TargetURI: "http://a.example/1",
		ContentType: warc.HTTPResponse, PayloadDigest: warc.Digest([]byte("body"))}, head, []byte("body"))
	for i, digest := range []string{warc.Digest([]byte("body")), warc.Digest([]byte("other")), warc.Digest(nil), ""} {
		file, _ = e.Append(file, &warc.Record{Type: warc.Revisit, ID: warc.NewID(), Date: start.Add(time.Hour), Profile: warc.SamePayload,
			TargetURI: fmt.Sprintf("http://a.example/bare%d", i), PayloadDigest: digest})
	}
	c := open(t, container.Options{Dir: t.TempDir()})
	defer closed(t, c)
	r, err := c.Import(context.Background(), bytes.NewReader(file))
	want := map[string]int64{"revisit of a payload that is not stored": 1, "revisit without block, of an empty payload": 1, "revisit without SHA-1": 1}
	if err != nil || r.Pages != 2 || !maps.Equal(r.Skipped, want) {
		t.Errorf("%+v, %v", r, err)
	}
	if s := wantBody(t, c, "http://a.example/bare0", "body"); s.Kind != container.Same || s.Status != 203 || s.Header.Get("X-Name") != "value" {
		t.Errorf("%+v", s)
	}
}

// A torn file: what came before is stored, the error names the offset.
func TestImportTorn(t *testing.T) {
	e, _ := warc.NewEncoder(1)
	var file []byte
	for _, url := range []string{"http://a.example/1", "http://a.example/2"} {
		head := warc.HTTPBlock(200, nil, 4)
		file, _ = e.Append(file, &warc.Record{Type: warc.Response, ID: warc.NewID(), Date: start, TargetURI: url,
			ContentType: warc.HTTPResponse, PayloadDigest: warc.Digest([]byte("body"))}, head, []byte("body"))
	}
	c := open(t, container.Options{Dir: t.TempDir()})
	defer closed(t, c)
	r, err := c.Import(context.Background(), bytes.NewReader(file[:len(file)-5]))
	if err == nil || !strings.Contains(err.Error(), "offset") || r.Pages != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	wantBody(t, c, "http://a.example/1", "body")
}
