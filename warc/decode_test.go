package warc_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"octopus/warc"
)

// blocks are bodies of all kinds: what is compressed, and what is stored as it
// is because it looks compressed already, around the limits of a stored block.
func blocks() [][]byte {
	rng := rand.New(rand.NewPCG(3, 4))
	all := [][]byte{nil, []byte("text"), bytes.Repeat([]byte("more text "), 20_000)}
	for _, n := range []int{255, 256, 2500, 65530, 65531, 65532, 65535, 65536, 131062, 200_000} {
		noise := make([]byte, n)
		for i := range noise {
			noise[i] = byte(rng.Uint32())
		}
		all = append(all, noise)
	}
	return all
}

// TestDecoder compares what it reads with what was written, and with what Reader
// and the standard library read.
func TestDecoder(t *testing.T) {
	var d warc.Decoder
	for _, level := range []int{1, 0, 9, asZstd, asZstd + 1} {
		for i, block := range blocks() {
			what := fmt.Sprintf("level %d block %d", level, i)
			r := everything()
			member, err := encoder(t, level).Append([]byte("before"), r, []byte("head\r\n"), block)
			if err != nil {
				t.Fatal(err)
			}
			member = member[len("before"):]
			want := append([]byte("head\r\n"), block...)
			rec, got, n, err := d.Decode(append(bytes.Clone(member), member...))
			if err != nil || n != len(member) || !bytes.Equal(got, want) {
				t.Fatalf("%s: %d of %d bytes of the member, %d of %d of the block, %v", what, n, len(member), len(got), len(want), err)
			}
			read, err := warc.NewReader(bytes.NewReader(member), 0).Next()
			if err != nil {
				t.Fatal(err)
			}
			if got, err := read.ReadBlock(); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s: Reader: %v", what, err)
			}
			read.Block = nil
			if diff := cmp.Diff(read, rec, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
				t.Fatalf("%s: Reader and Decoder differ: %s", what, diff)
			}
			if level >= asZstd {
				for cut := range min(len(member), 300) {
					if _, _, _, err := d.Decode(member[:len(member)-1-cut]); !errors.Is(err, warc.ErrFormat) {
						t.Fatalf("%s: cut by %d: %v", what, cut+1, err)
					}
				}
				continue
			}
			z, err := gzip.NewReader(bytes.NewReader(member))
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(z); err != nil || !bytes.HasSuffix(text, append(want, "\r\n\r\n"...)) {
				t.Fatalf("%s: standard library: %v", what, err)
			}
			if len(block) > 65536 && i > 2 && len(member) > len(block)+700 {
				t.Errorf("%s: %d bytes became %d", what, len(block), len(member))
			}
		}
	}
}

// FuzzDecoder holds Decoder to Reader: what one reads, the other reads alike.
func FuzzDecoder(f *testing.F) {
	member, _ := encoder(f, 1).Append(nil, everything(), []byte("HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody"))
	f.Add(member)
	f.Add(member[:len(member)-3])
	for _, block := range blocks()[3:5] {
		for _, level := range []int{1, asZstd} {
			member, _ := encoder(f, level).Append(nil, everything(), block)
			f.Add(member)
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var d warc.Decoder
		before := allocated()
		rec, block, n, err := d.Decode(in)
		// The tables and the window of a zstd decoder come on top.
		if used := allocated() - before; used > max(64*uint64(len(in)), 16*uint64(len(block)))+(24<<20) && err == nil {
			t.Fatalf("%d bytes allocated for %d of input and %d of block", used, len(in), len(block))
		}
		if err != nil {
			if !errors.Is(err, warc.ErrFormat) {
				t.Fatal(err)
			}
			return
		}
		r := warc.NewReader(bytes.NewReader(in[:n]), 0)
		want, err := r.Next()
		if err != nil {
			t.Fatalf("Decoder took what Reader says is wrong: %v", err)
		}
		text, err := want.ReadBlock()
		if err != nil || !bytes.Equal(text, block) || want.ID != rec.ID || want.Type != rec.Type || want.TargetURI != rec.TargetURI {
			t.Fatalf("%+v and %+v, %v", rec, want, err)
		}
	})
}

// Repeated fields, folded case, lines that are no fields and LF alone.
func TestParseHTTPFields(t *testing.T) {
	_, h, body, err := warc.ParseHTTP([]byte("HTTP/1.1 200 OK\nset-cookie: a\r\nno field\nSet-Cookie:b \nX: 1\r\nSET-COOKIE: c\n\nbody\n\nmore"))
	want := http.Header{"Set-Cookie": {"a", "b", "c"}, "X": {"1"}}
	if err != nil || !cmp.Equal(h, want) || string(body) != "body\n\nmore" {
		t.Error(h, string(body), err)
	}
	for _, rest := range []string{"", "\n", "A: b", "A: b\n"} {
		if _, h, body, err := warc.ParseHTTP([]byte("HTTP/1.1 200 OK\r\n" + rest)); err != nil || len(body) != 0 || len(h) > 1 {
			t.Errorf("%q: %v %q %v", rest, h, body, err)
		}
	}
}
