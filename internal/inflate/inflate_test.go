package inflate_test

import (
	"bytes"
	stdgzip "compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"octopus/internal/inflate"
)

const limit = 64 << 20

func gz(t testing.TB, level int, data []byte) []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	z.Write(data)
	z.Close()
	return b.Bytes()
}

// samples are data of many kinds: empty, one byte, runs, text, random bytes,
// skewed ones that make long codes, and long ones of several blocks.
func samples() map[string][]byte {
	rng := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 200_000)
	skewed := make([]byte, 400_000)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	for i := range skewed { // Fibonacci-like frequencies: codes up to 15 bits
		for skewed[i] < 200 && rng.IntN(3) == 0 {
			skewed[i]++
		}
		skewed[i] *= 7
	}
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "<p class=\"c%d\">word %x of a text</p>\n", rng.IntN(9), rng.Uint32()>>uint(i%20))
	}
	return map[string][]byte{
		"empty": nil, "byte": {'x'}, "run": bytes.Repeat([]byte{7}, 100_000), "pair": bytes.Repeat([]byte("ab"), 5000),
		"seven": bytes.Repeat([]byte("abcdefg"), 5000), "noise": noise, "skewed": skewed, "text": []byte(text.String()),
		"mixed": append(append([]byte(text.String()), noise...), text.String()...),
	}
}

func TestGzip(t *testing.T) {
	var d inflate.Decoder
	for name, data := range samples() {
		for _, level := range []int{gzip.StatelessCompression, gzip.HuffmanOnly, 0, 1, 2, 6, 9} {
			z := gz(t, level, data)
			in := append(bytes.Clone(z), "what follows"...)
			out, n, err := d.Gzip([]byte("before "), in, limit)
			if err != nil || n != len(z) || string(out) != "before "+string(data) {
				t.Fatalf("%s at level %d: %d of %d bytes, %d out of %d, %v", name, level, n, len(z), len(out), len(data), err)
			}
			if out, n, err = d.Gzip(out[:0], z, limit); err != nil || n != len(z) || !bytes.Equal(out, data) {
				t.Fatalf("%s at level %d, nothing behind: %v", name, level, err)
			}
			if len(data) > 0 {
				if _, _, err := d.Gzip(nil, z, len(data)-1); !errors.Is(err, inflate.ErrTooLarge) {
					t.Errorf("%s at level %d, limited: %v", name, level, err)
				}
			}
		}
	}
}

// A header with every optional part.
func TestHeader(t *testing.T) {
	var b bytes.Buffer
	z := stdgzip.NewWriter(&b)
	z.Header = stdgzip.Header{Name: "name", Comment: "comment", Extra: []byte("extra")}
	z.Write([]byte("content"))
	z.Close()
	var d inflate.Decoder
	if out, n, err := d.Gzip(nil, b.Bytes(), limit); err != nil || string(out) != "content" || n != b.Len() {
		t.Error(string(out), n, err)
	}
	for n := range b.Len() {
		if _, _, err := d.Gzip(nil, b.Bytes()[:n], limit); !errors.Is(err, io.ErrUnexpectedEOF) || !errors.Is(err, inflate.ErrFormat) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
}

// TestDamage flips bits: the checksum finds what the format does not.
func TestDamage(t *testing.T) {
	var d inflate.Decoder
	data := samples()["text"][:5000]
	z := gz(t, 6, data)
	for i := 10; i < len(z); i++ {
		for bit := range 8 {
			z[i] ^= 1 << bit
			if out, _, err := d.Gzip(nil, z, limit); err == nil && !bytes.Equal(out, data) { // the last byte may have bits to spare
				t.Fatalf("bit %d of byte %d: %d bytes came out", bit, i, len(out))
			}
			z[i] ^= 1 << bit
		}
	}
}

// FuzzGzip compares with the standard library.
func FuzzGzip(f *testing.F) {
	for _, data := range samples() {
		data = data[:min(len(data), 3000)]
		for _, level := range []int{gzip.HuffmanOnly, 0, 2, 9} {
			f.Add(gz(f, level, data))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var d inflate.Decoder
		got, n, err := d.Gzip(nil, in, limit)
		r := bytes.NewReader(in)
		var want []byte
		z, werr := stdgzip.NewReader(r)
		if werr == nil {
			z.Multistream(false)
			want, werr = io.ReadAll(z)
		}
		if (err == nil) != (werr == nil) {
			t.Fatalf("%v, the standard library says %v", err, werr)
		}
		if err == nil && (!bytes.Equal(got, want) || n != len(in)-r.Len()) {
			t.Fatalf("%d bytes of %d, want %d of %d", len(got), n, len(want), len(in)-r.Len())
		}
		// Tables that are still there change nothing.
		if again, m, err2 := d.Gzip(nil, in, limit); !bytes.Equal(again, got) || m != n || (err2 == nil) != (err == nil) {
			t.Fatalf("the second time %d bytes of %d, %v; the first time %d of %d, %v", len(again), m, err2, len(got), n, err)
		}
		// Where only the sums are wrong the decoder itself went the same way.
		if werr == stdgzip.ErrChecksum && !strings.Contains(err.Error(), "checksum") {
			t.Fatalf("%v, the standard library says %v", err, werr)
		}
		if cap(got) > max(64*len(in), 4*len(got)+1024) {
			t.Fatalf("%d bytes allocated for %d of %d", cap(got), len(got), len(in))
		}
	})
}

// BenchmarkGzip is beside the decoder that streams.
func BenchmarkGzip(b *testing.B) {
	for name, data := range map[string][]byte{"text": samples()["text"][:10_000], "noise": samples()["noise"][:2500], "skewed": samples()["skewed"][:10_000]} {
		z := gz(b, 2, data)
		b.Run(name+"/ours", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			var d inflate.Decoder
			var out []byte
			for b.Loop() {
				out, _, _ = d.Gzip(out[:0], z, limit)
			}
		})
		b.Run(name+"/klauspost", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			r, err := gzip.NewReader(bytes.NewReader(z))
			if err != nil {
				b.Fatal(err)
			}
			out := make([]byte, len(data)+1)
			for b.Loop() {
				r.Reset(bytes.NewReader(z))
				io.ReadFull(r, out)
			}
		})
	}
}
