package warc_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"octopus/warc"
)

var date = time.Date(2026, 11, 20, 12, 0, 0, 123_000_000, time.UTC)

// asZstd added to a level asks for zstd.
const asZstd = 100

func encoder(t testing.TB, level int) *warc.Encoder {
	t.Helper()
	e, err := warc.NewEncoder(level % asZstd)
	if level >= asZstd {
		e, err = warc.NewZstdEncoder(level % asZstd)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// everything has every field set that a record can have.
func everything() *warc.Record {
	return &warc.Record{
		Type: warc.Revisit, ID: warc.NewID(), Date: date, TargetURI: "http://a.example/x", ContentType: warc.HTTPResponse,
		IP: netip.MustParseAddr("2001:db8::1"), PayloadDigest: warc.Digest([]byte("x")), BlockDigest: warc.Digest([]byte("y")),
		Truncated: "length", Profile: warc.SamePayload, RefersTo: "urn:uuid:1", RefersToURI: "http://b.example/",
		RefersToDate: date.Add(-time.Hour), ConcurrentTo: []string{"urn:uuid:2", "urn:uuid:3"}, WarcinfoID: "urn:uuid:4",
		IdentifiedAs: "text/html", Other: []warc.Field{{"X-One", "1"}, {"X-Two", "a: b"}},
	}
}

func TestRoundTrip(t *testing.T) {
	for _, level := range []int{warc.Plain, 0, 9, asZstd, asZstd + 4} {
		var file bytes.Buffer
		w := warc.NewWriter(&file, encoder(t, level))
		info := &warc.Record{Type: warc.Warcinfo, ID: warc.NewID(), Date: date, Filename: "a.warc.gz", ContentType: warc.WARCFields}
		blocks := []string{"software: x\r\n", "", strings.Repeat("HTTP/1.1 200 OK\r\n\r\n", 10000), "z"}
		var want []*warc.Record
		var offsets []int64
		for i, block := range blocks {
			r := everything()
			if i == 0 {
				r = info
			}
			at, _, err := w.Write(r, []byte(block[:len(block)/2]), []byte(block[len(block)/2:]))
			if err != nil {
				t.Fatal(err)
			}
			want, offsets = append(want, r), append(offsets, at)
		}
		for _, in := range []io.Reader{bytes.NewReader(file.Bytes()), iotest.OneByteReader(bytes.NewReader(file.Bytes()))} {
			r := warc.NewReader(in, 1000)
			for i, block := range blocks {
				rec, err := r.Next()
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(rec.Block)
				if err != nil || string(got) != block || rec.Version != "1.1" || rec.Offset != 1000+offsets[i] || rec.ContentLength != int64(len(block)) {
					t.Fatalf("record %d at %d: %d bytes, %v", i, rec.Offset, len(got), err)
				}
				rec.Block, rec.Version, rec.Offset, rec.ContentLength = nil, "", 0, 0
				if d := cmp.Diff(want[i], rec, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); d != "" {
					t.Error(d)
				}
			}
			if _, err := r.Next(); err != io.EOF {
				t.Errorf("at the end: %v", err)
			}
			if r.Offset() != 1000+int64(file.Len()) {
				t.Errorf("offset %d at the end of %d bytes", r.Offset(), file.Len())
			}
		}
	}
}

// A hostile value must not end its line.
func TestInjection(t *testing.T) {
	r := &warc.Record{Type: warc.Response, ID: warc.NewID(), Date: date, TargetURI: "http://a/\r\nWARC-Type: x", ContentType: "a\x00b\nContent-Length: 5",
		Other: []warc.Field{{"Bad Name", "v"}, {"Evil\r\nName", "v"}, {"Good", "v\r\n\r\nWARC/1.1"}}}
	head := warc.HTTPBlock(200, http.Header{"A": {"b\r\nC: d"}, "X\r\nY": {"z"}, "Transfer-Encoding": {"chunked"}, "Content-Encoding": {"gzip"}, "Content-Length": {"99"}}, 4)
	b, err := encoder(t, warc.Plain).Append(nil, r, head, []byte("body"))
	if err != nil {
		t.Fatal(err)
	}
	got := warc.NewReader(bytes.NewReader(b), 0)
	rec, err := got.Next()
	if err != nil || rec.Type != warc.Response || len(rec.Other) != 1 || rec.Get("good") != "v    WARC/1.1" {
		t.Fatalf("%+v, %v", rec, err)
	}
	block, _ := io.ReadAll(rec.Block)
	status, h, body, err := warc.ParseHTTP(block)
	if want := (http.Header{"A": {"b  C: d"}, "Content-Length": {"4"}}); err != nil || status != 200 || string(body) != "body" || !cmp.Equal(h, want) {
		t.Errorf("%d %v %q %v", status, h, body, err)
	}
	if _, err := got.Next(); err != io.EOF {
		t.Errorf("a second record came out of it: %v", err)
	}
}

func TestRefused(t *testing.T) {
	ok := warc.Record{Type: warc.Response, ID: "urn:x:1", Date: date, TargetURI: "http://a/"}
	for name, change := range map[string]func(*warc.Record){
		"no type":              func(r *warc.Record) { r.Type = "" },
		"no ID":                func(r *warc.Record) { r.ID = "" },
		"no date":              func(r *warc.Record) { r.Date = time.Time{} },
		"no target":            func(r *warc.Record) { r.TargetURI = "" },
		"target of a warcinfo": func(r *warc.Record) { r.Type = warc.Warcinfo },
		"revisit, no profile":  func(r *warc.Record) { r.Type = warc.Revisit },
		"year 10000":           func(r *warc.Record) { r.Date = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
	} {
		r := ok
		change(&r)
		if b, err := encoder(t, 1).Append(nil, &r); err == nil || len(b) > 0 {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := encoder(t, 1).Append(nil, &ok); err != nil {
		t.Error(err)
	}
	if _, err := warc.NewEncoder(10); err == nil {
		t.Error("level 10 accepted")
	}
}

// Every damaged file gives an error with an offset, never a record that was
// not written whole.
func TestTruncated(t *testing.T) {
	for _, level := range []int{warc.Plain, 1} {
		e := encoder(t, level)
		var file []byte
		var ends []int
		for range 3 {
			file, _ = e.Append(file, everything(), []byte("HTTP/1.1 200 OK\r\n\r\nbody"))
			ends = append(ends, len(file))
		}
		for n := range len(file) {
			r := warc.NewReader(bytes.NewReader(file[:n]), 0)
			whole, end := 0, int64(0)
			var err error
			for {
				if _, err = r.Next(); err != nil {
					break
				}
				if err = r.Finish(); err != nil {
					break
				}
				whole, end = whole+1, r.Offset()
			}
			want := 0
			for want < 3 && ends[want] <= n {
				want++
			}
			if whole != want || want > 0 && end != int64(ends[want-1]) {
				t.Fatalf("level %d cut at %d: %d records up to %d, want %d (%v)", level, n, whole, end, want, ends)
			}
			clean := want > 0 && ends[want-1] == n || n == 0
			if clean != (err == io.EOF) || !clean && !errors.Is(err, warc.ErrFormat) {
				t.Fatalf("level %d cut at %d: %v", level, n, err)
			}
		}
	}
}

// TestSamples reads files that other programs wrote.
func TestSamples(t *testing.T) {
	dir := filepath.Join("..", "..", "shared", "testdata", "warc")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no ../shared/testdata/warc")
	}
	for name, want := range map[string]string{
		"example.warc.gz":                     "warcinfo warcinfo response request revisit request",
		"example-resource.warc.gz":            "warcinfo warcinfo resource",
		"example-trunc.warc":                  "warcinfo warcinfo response error",
		"example-wget-bad-target-uri.warc.gz": "warcinfo request response metadata resource resource",
		"example-bad-non-chunked.warc.gz":     "warcinfo warcinfo response request revisit request",
		"example-wrong-chunks.warc.gz":        "response error",
	} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		r := warc.NewReader(f, 0)
		var got []string
		for {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				got = append(got, "error")
				t.Logf("%s: %v", name, err)
				break
			}
			got = append(got, string(rec.Type))
			if strings.HasPrefix(rec.TargetURI, "<") {
				t.Errorf("%s: target %q", name, rec.TargetURI)
			}
			if rec.Type == warc.Response {
				block, _ := io.ReadAll(rec.Block)
				if _, _, _, err := warc.ParseHTTP(block); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		f.Close()
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s", name, s)
		}
	}
}

// TestIndependentReader has gzip read what we wrote.
func TestIndependentReader(t *testing.T) {
	if _, err := exec.LookPath("gzip"); err != nil {
		t.Skip("no gzip")
	}
	file, err := encoder(t, 0).Append(nil, everything(), []byte("block"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("gzip", "-dc")
	cmd.Stdin = bytes.NewReader(file)
	out, err := cmd.Output()
	if err != nil || !bytes.HasPrefix(out, []byte("WARC/1.1\r\nWARC-Type: revisit\r\n")) || !bytes.HasSuffix(out, []byte("\r\n\r\nblock\r\n\r\n")) {
		t.Errorf("%v: %q", err, out)
	}
}

func TestDigest(t *testing.T) {
	const empty = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ" // of no bytes, as CDX files have it
	if d := warc.Digest(nil); d != empty {
		t.Error(d)
	}
	a, ok := warc.ParseDigest(empty)
	b, ok2 := warc.ParseDigest("SHA1:da39a3ee5e6b4b0d3255bfef95601890afd80709")
	if !ok || !ok2 || a != b {
		t.Error(a, ok, b, ok2)
	}
	for _, bad := range []string{"", "sha1:", "md5:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBY", "sha1:!!42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"} {
		if _, ok := warc.ParseDigest(bad); ok {
			t.Errorf("%q accepted", bad)
		}
	}
}

func TestFields(t *testing.T) {
	want := []warc.Field{{"via", "http://a.example/"}, {"outlink", "http://b.example/ L a/@href"}}
	if got := warc.ParseFields(warc.Fields(want...)); !cmp.Equal(got, want) {
		t.Error(got)
	}
}

func TestParseStamp(t *testing.T) {
	for digits, want := range map[string]string{ // the last second
		"2024": "20241231235959", "202402": "20240229235959", "20240228": "20240228235959", "2024022812": "20240228125959",
		"202402281230": "20240228123059", "20240228123015": "20240228123015",
	} {
		first, last, err := warc.ParseStamp(digits)
		if err != nil || !strings.HasPrefix(first.Format("20060102150405"), digits) || last.Format("20060102150405.999") != want+".999" {
			t.Errorf("%s: %v to %v, %v", digits, first, last, err)
		}
	}
	for _, digits := range []string{"", "20", "20240", "20241301", "July", "202402281230155", "20240228123.15"} {
		if _, _, err := warc.ParseStamp(digits); err == nil {
			t.Errorf("%q is taken", digits)
		}
	}
}
