package container_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"octopus"
	"octopus/canon"
	"octopus/container"
	"octopus/warc"
)

var start = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// page makes a page of a site; its body is of the given text.
func page(t testing.TB, url, body string, at time.Time) *octopus.Page {
	t.Helper()
	u, err := canon.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return &octopus.Page{
		Lease: octopus.Lease{Link: octopus.Link{URL: u}}, Start: at, Status: 200, Proto: "HTTP/1.1",
		IP:     netip.MustParseAddr("192.0.2.1"),
		Header: http.Header{"Content-Type": {"text/html"}, "Etag": {`"x"`}},
		Body:   []byte(body),
	}
}

func open(t testing.TB, opt container.Options) *container.Container {
	t.Helper()
	c, err := container.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func put(t testing.TB, c *container.Container, e container.Entry) container.Result {
	t.Helper()
	r, err := c.Put(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func closed(t testing.TB, c *container.Container) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// wantBody checks the newest version of a URL.
func wantBody(t testing.TB, c *container.Container, url, body string) *container.Stored {
	t.Helper()
	u, _ := canon.Parse(url)
	s, err := c.Get(context.Background(), u)
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	if s.URL != u.Text || string(s.Body) != body {
		t.Fatalf("%s: got %s %.60q, want %.60q", url, s.URL, s.Body, body)
	}
	return s
}

// npmModules names a directory of node modules: warcio, and for WACZ also
// @webrecorder/wabac and fake-indexeddb. scripts/test makes one.
const npmModules = "WARC_READERS"

// readWithNode has files read by a script in testdata, if the modules are there.
func readWithNode(t testing.TB, script string, files ...string) {
	t.Helper()
	modules := os.Getenv(npmModules)
	if modules == "" {
		t.Logf("not read by %s: %s names no directory of node modules; see scripts/test", script, npmModules)
		return
	}
	out, err := exec.Command("node", append([]string{filepath.Join("testdata", script), modules}, files...)...).CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%.2000s", script, err, out)
	}
	t.Logf("%s: %s", script, out)
}

// check runs independent readers over every segment.
func check(t testing.TB, dir string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
	if len(files) == 0 {
		t.Fatal("no segment written")
	}
	if out, err := exec.Command("gzip", append([]string{"-t"}, files...)...).CombinedOutput(); err != nil {
		t.Errorf("gzip -t: %v\n%s", err, out)
	}
	readWithNode(t, "readwarc.cjs", files...)
	tool := filepath.Join("..", "..", "shared", "tools", "warc_check.py")
	if _, err := os.Stat(tool); err != nil {
		t.Log("not checked by ../shared/tools/warc_check.py, which is missing")
		return
	}
	out, err := exec.Command("python3", append([]string{tool}, files...)...).CombinedOutput()
	if err != nil {
		t.Errorf("warc_check: %v\n%s", err, out)
	}
	if bytes.Contains(out, []byte(`"n_warnings": `)) && !bytes.Contains(out, []byte(`"n_warnings": 0`)) {
		t.Logf("warnings: %s", out)
	}
}

func TestPutGetReopen(t *testing.T) {
	dir := t.TempDir()
	opt := container.Options{Dir: dir, SegmentBytes: 20_000}
	c := open(t, opt)
	body := func(i int) string { return fmt.Sprintf("<p>page %d %x</p>", i, bytes.Repeat([]byte{byte(i)}, i)) }
	url := func(i int) string { return fmt.Sprintf("http://h%d.example/p/%d", i%3, i) }
	for i := range 200 {
		put(t, c, container.Entry{Page: page(t, url(i), body(i), start.Add(time.Duration(i)*time.Second)),
			Meta: []warc.Field{{Name: "via", Value: "http://a.example/"}}})
	}
	for round := range 3 {
		for i := range 200 {
			s := wantBody(t, c, url(i), body(i))
			if s.Status != 200 || s.Header.Get("Etag") != `"x"` || s.IP.String() != "192.0.2.1" || len(s.Meta) != 1 || !s.Time.Equal(start.Add(time.Duration(i)*time.Second)) {
				t.Fatalf("page %d came back as %+v", i, s)
			}
		}
		if rep, err := c.Verify(context.Background(), nil); err != nil || len(rep.Errors) > 0 || rep.Pages != 200 {
			t.Fatalf("verify: %+v, %v", rep, err)
		}
		closed(t, c)
		check(t, dir)
		if round == 1 {
			keys, _ := filepath.Glob(filepath.Join(dir, "*.key"))
			if len(keys) < 3 {
				t.Fatalf("%d key files", len(keys))
			}
			for _, k := range keys {
				os.Remove(k)
			}
		}
		c = open(t, opt)
		if d := c.Damage(); len(d) > 0 {
			t.Fatal(d)
		}
	}
	closed(t, c)
}

func TestRevisits(t *testing.T) {
	dir := t.TempDir()
	c := open(t, container.Options{Dir: dir})
	put(t, c, container.Entry{Page: page(t, "http://a.example/", "same text", start)})
	r := put(t, c, container.Entry{Page: page(t, "http://b.example/", "same text", start)})
	if r.Kind != container.Same || r.DuplicateOf != "http://a.example/" {
		t.Errorf("second URL with one payload: %+v", r)
	}
	if s := wantBody(t, c, "http://b.example/", "same text"); s.RefersTo != "http://a.example/" || s.Kind != container.Same {
		t.Errorf("%+v", s)
	}
	again := page(t, "http://a.example/", "", start.Add(time.Hour))
	again.Status = 304
	if r := put(t, c, container.Entry{Page: again}); r.Kind != container.NotModified || r.DuplicateOf != "" {
		t.Errorf("304: %+v", r)
	}
	if s := wantBody(t, c, "http://a.example/", "same text"); s.Status != 200 || !s.Time.Equal(start.Add(time.Hour)) {
		t.Errorf("after 304: %+v", s)
	}
	if r := put(t, c, container.Entry{Page: again}); !r.Known {
		t.Errorf("the same visit again: %+v", r)
	}
	if url, ok := c.Digest(warc.Digest([]byte("same text"))); !ok || url != "http://a.example/" {
		t.Error(url, ok)
	}
	if url, ok := c.Digest(warc.Digest([]byte("other text"))); ok {
		t.Error(url)
	}
	u, _ := canon.Parse("http://a.example/")
	if v, err := c.Versions(context.Background(), u); err != nil || len(v) != 2 || v[0].Kind != container.NotModified {
		t.Errorf("versions %+v, %v", v, err)
	}
	if s, err := c.At(context.Background(), u, start.Add(time.Minute)); err != nil || s.Kind != container.Full {
		t.Errorf("at: %+v, %v", s, err)
	}
	closed(t, c)
	check(t, dir)
}

// unchanged is an answer 304.
func unchanged(t testing.TB, url string, at time.Time) *octopus.Page {
	p := page(t, url, "", at)
	p.Status = 304
	return p
}

// TestUnchanged: a 304 stands for the version before its own time, whether that is
// stored with it at once, or newer ones came before.
func TestUnchanged(t *testing.T) {
	const url = "http://a.example/"
	day := func(n int) time.Time { return start.AddDate(0, 0, n) }
	c := open(t, container.Options{Dir: t.TempDir()})
	defer closed(t, c)
	put(t, c, container.Entry{Page: page(t, url, "nine", day(9))})
	results, err := c.PutAll(context.Background(), []container.Entry{
		{Page: unchanged(t, url, day(0))}, // of what, nobody knows
		{Page: page(t, url, "one", day(1))}, {Page: unchanged(t, url, day(2))}, {Page: unchanged(t, url, day(3))},
		{Page: page(t, url, "four", day(4))}, {Page: unchanged(t, url, day(5))},
	})
	if err != nil || len(results) != 6 {
		t.Fatal(results, err)
	}
	u, _ := canon.Parse(url)
	for i, want := range []struct {
		kind   container.Kind
		status int
		body   string
	}{{container.Full, 304, ""}, {container.Full, 200, "one"}, {container.NotModified, 200, "one"}, {container.NotModified, 200, "one"},
		{container.Full, 200, "four"}, {container.NotModified, 200, "four"}} {
		s, err := c.At(context.Background(), u, day(i))
		if err != nil || s.Kind != want.kind || results[i].Kind != want.kind || s.Status != want.status || string(s.Body) != want.body || !s.Time.Equal(day(i)) {
			t.Errorf("day %d: %+v, %v; want %+v", i, s, err, want)
		}
	}
	wantBody(t, c, url, "nine")
	named := container.Entry{Page: unchanged(t, url, day(10)), Digest: warc.Digest([]byte("one"))}
	put(t, c, named)
	wantBody(t, c, url, "one")
	lost := container.Entry{Page: unchanged(t, "http://b.example/", day(1)), Digest: warc.Digest([]byte("lost"))}
	put(t, c, lost)
	if s := wantBody(t, c, "http://b.example/", ""); s.Status != 304 || s.Digest != warc.Digest(nil) {
		t.Errorf("a 304 of what is lost: %+v", s)
	}
}

func TestDelete(t *testing.T) {
	opt := container.Options{Dir: t.TempDir()}
	c := open(t, opt)
	put(t, c, container.Entry{Page: page(t, "http://a.example/", "text", start)})
	u, _ := canon.Parse("http://a.example/")
	if err := c.Delete(context.Background(), u); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := c.Get(context.Background(), u); !errors.Is(err, container.ErrNotFound) {
			t.Errorf("deleted: %v", err)
		}
		if _, err := c.Versions(context.Background(), u); !errors.Is(err, container.ErrNotFound) {
			t.Errorf("deleted: %v", err)
		}
		closed(t, c)
		c = open(t, opt)
	}
	if err := c.Rebuild(context.Background(), nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(context.Background(), u); !errors.Is(err, container.ErrNotFound) {
		t.Errorf("deleted, rebuilt: %v", err)
	}
	closed(t, c)
	check(t, opt.Dir)
}

func TestLocked(t *testing.T) {
	opt := container.Options{Dir: t.TempDir()}
	c := open(t, opt)
	if _, err := container.Open(opt); !errors.Is(err, container.ErrLocked) {
		t.Errorf("second open: %v", err)
	}
	closed(t, c)
	closed(t, open(t, opt))
}

// TestReaders has other readers read records of every kind: text, bodies that are
// compressed already, revisits, answers 304, metadata, tombstones, and what
// compaction makes of them.
func TestReaders(t *testing.T) {
	opt := container.Options{Dir: t.TempDir(), SegmentBytes: 30_000}
	c := open(t, opt)
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range 60 {
		noise := make([]byte, 500+rng.IntN(4000))
		for k := range noise {
			noise[k] = byte(rng.Uint32())
		}
		body := []string{strings.Repeat("text ", i), string(noise), "the same"}[i%3]
		u := fmt.Sprintf("http://a.example/é/%d", i)
		p := page(t, u, body, start.Add(time.Duration(i)*time.Second))
		p.Header.Set("X-Name", strings.Repeat("ü", i%4))
		put(t, c, container.Entry{Page: p, Meta: []warc.Field{{Name: "via", Value: "http://a.example/"}}[:i%2]})
		if i%5 == 0 {
			again := page(t, u, "", start.Add(time.Hour))
			again.Status = 304
			put(t, c, container.Entry{Page: again})
		}
		if i%7 == 0 {
			if err := c.Delete(context.Background(), p.URL()); err != nil {
				t.Fatal(err)
			}
		}
	}
	check(t, opt.Dir)
	if _, err := c.Compact(context.Background(), 1, 0, nil); err != nil {
		t.Fatal(err)
	}
	closed(t, c)
	check(t, opt.Dir)
}
