package fetch_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"octopus/fetch"
)

// FuzzDecode holds the decoders to their limits on any input, checks gzip
// against the standard library, and checks that a decoder that met garbage
// still works: decoders are reused.
func FuzzDecode(f *testing.F) {
	good := bytes.Repeat([]byte("octopus "), 100)
	codings := []string{"gzip", "br", "zstd", "identity", "gzip, br", "x"}
	for i, c := range codings {
		f.Add(uint8(i), encode(c, good))
		f.Add(uint8(i), encode(c, good)[:10])
		f.Add(uint8(i), bomb(c, 1<<20, 2))
	}
	const limit = 100_000
	fetcher := fetcher(f, fetch.Options{MaxBody: limit})
	f.Fuzz(func(t *testing.T, n uint8, data []byte) {
		coding := codings[int(n)%len(codings)]
		p := fetch.Decode(fetcher, coding, data)
		if len(p.Body) > limit || p.Wire > limit || p.Err == nil && p.Truncated != "" && p.Truncated != "length" {
			t.Fatalf("%d bytes, %d on the wire, truncated %q, %v", len(p.Body), p.Wire, p.Truncated, p.Err)
		}
		if coding == "gzip" && p.Err == nil && p.Truncated == "" {
			if want, ok := gunzip(data); ok && !bytes.Equal(p.Body, want) {
				t.Fatalf("got %.40q, want %.40q", p.Body, want)
			}
		}
		fetcher.Recycle(p)
		for _, c := range codings[:3] {
			if p := fetch.Decode(fetcher, c, encode(c, good)); p.Err != nil || !bytes.Equal(p.Body, good) {
				t.Fatalf("after garbage in %s, %s fails: %v", coding, c, p.Err)
			}
		}
	})
}

func gunzip(data []byte) ([]byte, bool) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, false
	}
	out, err := io.ReadAll(r)
	return out, err == nil
}
