package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// foreignWARC is a file as wget writes it: WARC 1.0, angle brackets around the
// target, uncompressed.
func foreignWARC() string {
	var b strings.Builder
	for i, body := range []string{"first", "second"} {
		block := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n%s", body)
		fmt.Fprintf(&b, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-00000000000%d>\r\n"+
			"WARC-Date: 2026-07-0%dT12:00:00Z\r\nWARC-Target-URI: <http://a.example/p>\r\nContent-Type: application/http;msgtype=response\r\n"+
			"Content-Length: %d\r\n\r\n%s\r\n\r\n", i, i+1, len(block), block)
	}
	return b.String()
}

// TestImportAt imports versions of a page and reads each by its time.
func TestImportAt(t *testing.T) {
	c := newCLI(t)
	c.file("w.warc", foreignWARC())
	c.run("import", "w.warc", "--json").want(exitOK)
	if got := objects(t, c.stdout)[0]; got["pages"] != 2.0 || got["known"] != 0.0 {
		t.Errorf("import: %s", c.stdout)
	}
	c.stdin = foreignWARC()
	if c.run("import", "-").want(exitOK); !strings.Contains(c.stdout, "2 pages, 2 of them known") {
		t.Errorf("second import: %s", c.stdout)
	}
	c.run("get", "http://a.example/p").want(exitOK)
	if c.stdout != "second" {
		t.Errorf("get: %q", c.stdout)
	}
	for at, want := range map[string]string{"2026-07-01": "first", "2026-07-02": "second", "20260702115959": "first", "2026-07-02T12:00:00Z": "second"} {
		if c.run("get", "http://a.example/p", "--at", at).want(exitOK); c.stdout != want {
			t.Errorf("--at %s: %q", at, c.stdout)
		}
	}
	c.run("get", "http://a.example/p", "--at", "2026-06-30").want(exitFailure, "no page in db")
	c.run("get", "http://a.example/p", "--at", "July").want(exitUsage, "2026-07-01")
	c.run("get", "http://a.example/p", "--at", "2026-07-01", "--dir", "none").want(exitFailure, "none holds no pages")
	for _, args := range [][]string{{"missing.warc"}, {"w.warc", "missing.warc"}, {"w.warc", "."}} {
		c.run(append([]string{"import", "--dir", "new"}, args...)...).want(exitFailure, args[len(args)-1])
		if _, err := os.Stat("new"); err == nil || c.stdout != "" {
			t.Errorf("import %v left a store, or printed %q", args, c.stdout)
		}
	}
	c.file("bad.warc", foreignWARC()+"WARC/9 nonsense")
	c.run("import", "bad.warc").want(exitFailure, "bad.warc", "offset")
}

// TestAtSecond reads a page that was captured within the second, and within the
// longer times, that --at names.
func TestAtSecond(t *testing.T) {
	c := newCLI(t)
	c.file("w.warc", strings.ReplaceAll(foreignWARC(), "T12:00:00Z", "T12:00:00.600Z"))
	c.run("import", "w.warc").want(exitOK)
	for at, want := range map[string]string{"20260701120000": "first", "2026-07-01T12:00:00Z": "first", "2026-07-01T12:00:00.700Z": "first",
		"202607011200": "first", "2026070112": "first", "20260701": "first", "202607": "second", "2026": "second"} {
		if c.run("get", "http://a.example/p", "--at", at).want(exitOK); c.stdout != want {
			t.Errorf("--at %s: %q", at, c.stdout)
		}
	}
	for _, at := range []string{"20260701115959", "2026-07-01T12:00:00.500Z", "202606"} {
		c.run("get", "http://a.example/p", "--at", at).want(exitFailure, "no page in db")
	}
	c.run("get", "http://a.example/p", "--at", "2026070").want(exitUsage, "no time")
}

// TestExport writes every format, and overwrites nothing.
func TestExport(t *testing.T) {
	s, c := newSite(t), newCLI(t)
	c.run("export", "cdxj", "none").want(exitFailure, "holds no pages")
	if _, err := os.Stat("none"); err == nil {
		t.Error("a failed export left a file")
	}
	s.crawl(c).want(exitOK)
	for format, head := range map[string]string{"cdxj": "127.0.0.1:", "wacz": "PK\x03\x04", "wet": "\x1f\x8b", "jsonl": `{"url":"http://127.0.0.1:`, "parquet": "PAR1"} {
		c.run("export", format, "out."+format).want(exitOK)
		b, err := os.ReadFile("out." + format)
		if err != nil || !strings.HasPrefix(string(b), head) {
			t.Errorf("%s: %.40q, %v", format, b, err)
		}
		c.run("export", format, "out."+format).want(exitFailure, "exists")
	}
	if c.run("export", "cdxj", "-").want(exitOK); strings.Count(c.stdout, "\n") < sitePages {
		t.Errorf("cdxj: %s", c.stdout)
	}
	c.run("export", "pdf", "x").want(exitUsage, "unknown command")

	// What one store exports another one imports.
	segments, err := filepath.Glob("db/pages/*.warc.gz")
	if err != nil || len(segments) != 1 {
		t.Fatal(segments, err)
	}
	c.run("import", segments[0], "--dir", "copy").want(exitOK)
	if c.run("get", s.URL+"/7", "--dir", "copy").want(exitOK); !strings.Contains(c.stdout, "Page 7") {
		t.Errorf("copy: %s", c.stdout)
	}
}

// TestPurge takes a page, then a host, off the disk.
func TestPurge(t *testing.T) {
	s, c := newSite(t), newCLI(t)
	s.crawl(c).want(exitOK)
	c.run("store", "purge").want(exitUsage)
	c.run("store", "purge", "--host", "a", "--url", "http://a/").want(exitUsage)
	c.run("store", "purge", "--host", "http://a/").want(exitUsage, "write a")
	c.run("store", "purge", "--url", s.URL+"/7", "--json").want(exitOK)
	if got := objects(t, c.stdout)[0]; got["dropped"] != 1.0 || got["segments"] != 1.0 {
		t.Errorf("purge: %s", c.stdout)
	}
	c.run("get", s.URL+"/7").want(exitFailure, "no page")
	c.run("get", s.URL+"/8").want(exitOK)
	c.run("store", "purge", "--host", "127.0.0.1").want(exitOK)
	c.run("get", s.URL+"/8").want(exitFailure, "no page")
	c.run("store", "verify").want(exitOK)
}

// TestCompact keeps the newest version of a page.
func TestCompact(t *testing.T) {
	c := newCLI(t)
	c.file("w.warc", foreignWARC())
	c.run("import", "w.warc").want(exitOK)
	c.run("store", "compact", "--min-live", "2").want(exitUsage, "--min-live 2")
	c.run("store", "compact", "--keep", "1", "--min-live", "1").want(exitOK)
	c.run("store", "verify").want(exitOK)
	if c.run("get", "http://a.example/p").want(exitOK); c.stdout != "second" {
		t.Errorf("after compaction: %q", c.stdout)
	}
}

// TestStoreServe asks a server for an index and a page, and stops it.
func TestStoreServe(t *testing.T) {
	c := newCLI(t)
	c.file("w.warc", foreignWARC())
	c.run("import", "w.warc").want(exitOK)
	c.run("store", "serve", "--listen", "0.0.0.0:0").want(exitUsage, "--public")
	c.run("store", "serve", "--listen", "nonsense").want(exitUsage, "--listen")

	in, out := io.Pipe()
	stop := make(chan chan<- os.Signal, 1)
	a := newApp(strings.NewReader(""), out, io.Discard, nil)
	a.notify = func(ch chan<- os.Signal) func() { stop <- ch; return func() {} }
	code := make(chan int, 1)
	go func() { code <- a.main([]string{"store", "serve", "--listen", "127.0.0.1:0"}) }()
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	base := strings.TrimSuffix(line, "/cdx?url=*\n")
	for path, want := range map[string]string{"/cdx?url=a.example/p&fl=timestamp": "20260701120000\n20260702120000\n", "/web/20260701id_/http://a.example/p": "first"} {
		resp, err := http.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if resp.Body.Close(); err != nil || string(body) != want {
			t.Errorf("%s: %q, %v", path, body, err)
		}
	}
	c.run("get", "http://a.example/p").want(exitLocked, "store serve")
	http.DefaultClient.CloseIdleConnections()
	(<-stop) <- os.Interrupt
	select {
	case got := <-code:
		if got != exitOK {
			t.Errorf("exit code %d", got)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the server did not stop")
	}
}
