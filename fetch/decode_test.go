package fetch_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"slices"
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

// TestGzipWays: what is decoded in memory and what as a stream makes the same
// page, at the sizes where one ends and the other begins, and where it is broken.
func TestGzipWays(t *testing.T) {
	rng := rand.NewChaCha8([32]byte{7})
	random := func(n int) []byte {
		b := make([]byte, n)
		rng.Read(b)
		return b
	}
	short := encode("gzip", []byte("octopus"))
	wrong := bytes.Clone(short)
	wrong[len(wrong)-5]++ // of the checksum
	for _, tt := range []struct {
		name            string
		wire, want      []byte
		truncated, kind string
	}{
		{"short", short, []byte("octopus"), "", ""},
		{"the most that is held", encode("gzip", random(1<<18-200)), nil, "", ""},
		{"more than is held", encode("gzip", random(1<<18+200)), nil, "", ""},
		{"a megabyte", encode("gzip", bytes.Repeat([]byte("octopus "), 1<<17)), nil, "", ""},
		{"more", encode("gzip", bytes.Repeat([]byte("octopus "), 1<<18)), nil, "", ""},
		{"two members", slices.Concat(short, short), []byte("octopusoctopus"), "", ""},
		{"padding behind", slices.Concat(short, make([]byte, 50)), []byte("octopus"), "", ""},
		{"a wrong checksum", wrong, []byte("octopus"), "disconnect", "protocol"},
		{"no end", short[:len(short)-3], []byte("octopus"), "disconnect", "protocol"},
		{"nothing", nil, []byte{}, "", ""},
	} {
		want := tt.want
		if want == nil {
			want, _ = gunzip(tt.wire)
		}
		p := fetch.Decode(fetcher(t, fetch.Options{}), "gzip", tt.wire)
		kind := ""
		if p.Err != nil {
			kind = p.Err.Kind.String()
		}
		if !bytes.Equal(p.Body, want) || p.Truncated != tt.truncated || kind != tt.kind || p.Wire != int64(len(tt.wire)) {
			t.Errorf("%s: %d bytes of %d, %d on the wire of %d, truncated %q, %v", tt.name, len(p.Body), len(want), p.Wire, len(tt.wire), p.Truncated, p.Err)
		}
	}
}
