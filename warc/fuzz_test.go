package warc_test

import (
	"bytes"
	"errors"
	"io"
	"runtime/metrics"
	"slices"
	"testing"

	"octopus/warc"
)

// allocated returns the bytes allocated since the process began.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// FuzzReader reads anything: it ends with io.EOF or an error about the data,
// and a record that was read whole lies within the input.
func FuzzReader(f *testing.F) {
	for _, level := range []int{warc.Plain, 1, asZstd} {
		b, _ := encoder(f, level).Append(nil, everything(), []byte("HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody"))
		f.Add(append(b, b...))
		f.Add(b[:len(b)-3])
	}
	f.Add([]byte("WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:1>\r\n folded\r\nContent-Length: 9223372036854775807\r\n\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		before := allocated()
		r := warc.NewReader(bytes.NewReader(in), 0)
		last := int64(-1)
		for {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				if !errors.Is(err, warc.ErrFormat) {
					t.Fatalf("%v", err)
				}
				break
			}
			if rec.Offset < last || rec.Offset > int64(len(in)) {
				t.Fatalf("record at %d after %d in %d bytes", rec.Offset, last, len(in))
			}
			last = rec.Offset
			var head [512]byte
			n, _ := io.ReadFull(rec.Block, head[:])
			warc.ParseHTTP(head[:n])
		}
		slack := uint64(1 << 20)
		if bytes.Contains(in, []byte("\x28\xb5\x2f\xfd")) { // a decoder of zstd, and the windows of its frames
			slack += 24 << 20 * (1 + uint64(bytes.Count(in, []byte("\x28\xb5\x2f\xfd"))))
		}
		if used := allocated() - before; used > 64*uint64(len(in))+slack {
			t.Fatalf("%d bytes allocated for %d of input", used, len(in))
		}
	})
}

// FuzzRoundTrip writes what it is given and reads it back, alone and in front of a
// body that is not compressed.
func FuzzRoundTrip(f *testing.F) {
	f.Add("http://a.example/", "name", "value", []byte("block"))
	f.Add("x\r\ny", "A\nB", "\x00\r\n\r\n", []byte("\r\n\r\nWARC/1.1\r\n"))
	f.Add("http://a.example/", "a", "a", bytes.Repeat([]byte("a"), 1000))
	e := encoder(f, 1)
	noise := blocks()[4]
	f.Fuzz(func(t *testing.T, uri, name, value string, block []byte) {
		r := &warc.Record{Type: warc.Metadata, ID: warc.NewID(), Date: date, TargetURI: uri, Other: []warc.Field{{name, value}}}
		for _, body := range [][]byte{nil, noise} {
			b, err := e.Append(nil, r, block, body)
			if err != nil || len(uri)+len(value) > 32<<10 {
				return
			}
			d := warc.NewReader(bytes.NewReader(b), 0)
			rec, err := d.Next()
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(rec.Block)
			if err != nil || !bytes.Equal(got, slices.Concat(block, body)) || rec.ID != r.ID || rec.Type != r.Type {
				t.Fatalf("%+v, %v", rec, err)
			}
			if _, err := d.Next(); err != io.EOF {
				t.Fatalf("more came out than went in: %v", err)
			}
		}
	})
}
