package parquetexport_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"octopus/container/parquetexport"
	"octopus/warc"
)

// index is a container with fixed lines.
type index struct {
	lines []warc.CDX
	err   error
}

func (x index) ExportCDXJ(_ context.Context, w io.Writer) (int64, error) {
	for _, l := range x.lines {
		if _, err := w.Write(l.Append(nil)); err != nil {
			return 0, err
		}
	}
	return int64(len(x.lines)), x.err
}

func TestWrite(t *testing.T) {
	at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	var out bytes.Buffer
	err := parquetexport.Write(t.Context(), index{lines: []warc.CDX{
		{SURT: "127.0.0.1:8080)/", Time: at, URL: "http://127.0.0.1:8080/", MIME: "warc/revisit", Filename: "a.warc.gz", Length: 9},
		{SURT: "uk,co,example,a)/p?q=1", Time: at, URL: "https://a.example.co.uk/p?q=1", MIME: "text/html", Status: 200, Digest: "ABC", Filename: "a.warc.gz", Offset: 5 << 30, Length: 77},
	}}, &out)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.Read[parquetexport.Row](bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil || len(rows) != 2 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	ip, page := rows[0], rows[1]
	if ip.HostName != "127.0.0.1" || *ip.Port != 8080 || ip.HostTLD != nil || ip.RegisteredDomain != nil || ip.Query != nil || ip.FetchStatus != 0 {
		t.Errorf("row of an address: %+v", ip)
	}
	if *page.HostTLD != "uk" || *page.Host4th != "a" || page.Host5th != nil || *page.RegisteredDomain != "example.co.uk" || page.Port != nil {
		t.Errorf("host columns: %+v", page)
	}
	if *page.Path != "/p" || *page.Query != "q=1" || page.Offset != 5<<30 || page.Length != 77 || *page.ContentDigest != "ABC" || !page.FetchTime.Equal(at) {
		t.Errorf("row: %+v", page)
	}
}

func TestWriteFails(t *testing.T) {
	broken := errors.New("disk on fire")
	if err := parquetexport.Write(t.Context(), index{err: broken}, io.Discard); !errors.Is(err, broken) {
		t.Errorf("error of the index: %v", err)
	}
	if err := parquetexport.Write(t.Context(), index{lines: make([]warc.CDX, 300_000)}, failing{broken}); !errors.Is(err, broken) {
		t.Errorf("error of the file: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
