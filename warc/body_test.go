package warc_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"octopus/warc"
)

// coders are the content codings, by name.
var coders = map[string]func(io.Writer) io.WriteCloser{
	"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
	"br":      func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) },
	"zstd":    func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z },
}

func TestDecodeBody(t *testing.T) {
	plain := strings.Repeat("<p>hello, world</p>\n", 100)
	for name, coder := range coders {
		h := http.Header{"Content-Encoding": {name}}
		var b bytes.Buffer
		w := coder(&b)
		if _, err := io.WriteString(w, plain); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := warc.DecodeBody(h, b.Bytes(), 1<<20); err != nil || string(got) != plain {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		if got, err := warc.DecodeBody(h, b.Bytes(), 1000); err == nil {
			t.Errorf("%s: %d bytes beyond the limit", name, len(got))
		}
		if got, err := warc.DecodeBody(h, b.Bytes()[:b.Len()/2], 1<<20); err == nil {
			t.Errorf("%s: half a body gives %d bytes and no error", name, len(got))
		}
		// Some programs decode the body and keep the header field.
		if got, err := warc.DecodeBody(h, []byte(plain), 1<<20); name != "zstd" && (err != nil || string(got) != plain) {
			t.Errorf("%s, not coded: %d bytes, %v", name, len(got), err)
		}
	}
	if _, err := warc.DecodeBody(http.Header{"Content-Encoding": {"sdch"}}, []byte("x"), 10); !errors.Is(err, warc.ErrCoding) {
		t.Errorf("unknown coding: %v", err)
	}
}
