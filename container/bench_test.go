package container_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"octopus"
	"octopus/canon"
	"octopus/container"
)

// benchPages is the number of pages that gets choose from; OCTOPUS_BENCH_PAGES
// sets another one, such as 1000000 or 10000000.
func benchPages() int {
	if n, err := strconv.Atoi(os.Getenv("OCTOPUS_BENCH_PAGES")); err == nil && n > 0 {
		return n
	}
	return 20_000
}

// benchBody makes about size bytes of text that gzip halves or so.
func benchBody(i, size int) []byte {
	rng := rand.New(rand.NewPCG(uint64(i), 1))
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "<p class=\"w%d\">%x</p>\n", rng.IntN(9), rng.Uint64())
	}
	return []byte(b.String())
}

func benchURL(i int) octopus.URL {
	u, _ := canon.Parse(fmt.Sprintf("http://h%d.example/dir/page-%d.html", i%100, i))
	return u
}

func benchPage(i int, body []byte) *octopus.Page {
	return &octopus.Page{Lease: octopus.Lease{Link: octopus.Link{URL: benchURL(i)}}, Start: start.Add(time.Duration(i) * time.Millisecond),
		Status: 200, Header: map[string][]string{"Content-Type": {"text/html; charset=utf-8"}, "Server": {"nginx"}}, Body: body}
}

// BenchmarkPut stores 10 KB pages: from one goroutine and from 64, synced and
// not. The bodies differ, so that each is compressed.
func BenchmarkPut(b *testing.B) {
	for _, sync := range []container.Sync{container.Always, container.Never} {
		for _, writers := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/writers=%d", sync, writers), func(b *testing.B) {
				c := open(b, container.Options{Dir: b.TempDir(), Sync: sync, Level: 1})
				defer closed(b, c)
				var n atomic.Int64
				body := benchBody(1, 10_000)
				b.SetBytes(int64(len(body)))
				b.SetParallelism(max(1, writers/runtime.GOMAXPROCS(0)))
				if writers == 1 {
					b.SetParallelism(1)
				}
				b.ResetTimer()
				run := func(next func() bool) {
					mine := append([]byte(nil), body...)
					for next() {
						i := int(n.Add(1))
						copy(mine, strconv.Itoa(i))
						if _, err := c.Put(context.Background(), container.Entry{Page: benchPage(i, mine)}); err != nil {
							b.Error(err)
							return
						}
					}
				}
				if writers == 1 {
					run(b.Loop)
				} else {
					b.RunParallel(func(pb *testing.PB) { run(pb.Next) })
				}
			})
		}
	}
}

// stored fills a container with small pages.
func storedPages(b *testing.B, n int) container.Options {
	opt := container.Options{Dir: b.TempDir(), Sync: container.Never, Level: 1}
	c := open(b, opt)
	body := benchBody(1, 2000)
	for i := 0; i < n; i += 1000 {
		var batch []container.Entry
		for k := i; k < min(i+1000, n); k++ {
			mine := append([]byte(nil), body...)
			copy(mine, strconv.Itoa(k))
			batch = append(batch, container.Entry{Page: benchPage(k, mine)})
		}
		if _, err := c.PutAll(context.Background(), batch); err != nil {
			b.Fatal(err)
		}
	}
	closed(b, c)
	return opt
}

// BenchmarkGet reads random pages: warm, and after the kernel was asked to
// forget the files (which needs root; skipped where that fails). It reports the
// bytes of disk and memory that a page takes.
func BenchmarkGet(b *testing.B) {
	n := benchPages()
	opt := storedPages(b, n)
	for _, mode := range []string{"warm", "cold"} {
		b.Run(fmt.Sprintf("%s/pages=%d", mode, n), func(b *testing.B) {
			c := open(b, opt)
			defer closed(b, c)
			if mode == "cold" {
				if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0); err != nil {
					b.Skip(err)
				}
			}
			rng := rand.New(rand.NewPCG(1, 1))
			for b.Loop() {
				if _, err := c.Get(context.Background(), benchURL(rng.IntN(n))); err != nil {
					b.Fatal(err)
				}
			}
			st := c.Stat()
			b.ReportMetric(float64(st.SegmentBytes)/float64(n), "warc-B/page")
			b.ReportMetric(float64(st.IndexBytes)/float64(n), "index-B/page")
			b.ReportMetric(float64(st.DigestBytes)/float64(n), "digests-B/page")
		})
	}
}

// BenchmarkOpen opens a container with its checkpoint, and without.
func BenchmarkOpen(b *testing.B) {
	n := benchPages()
	opt := storedPages(b, n)
	for _, mode := range []string{"checkpoint", "keys"} {
		b.Run(fmt.Sprintf("%s/pages=%d", mode, n), func(b *testing.B) {
			for b.Loop() {
				if mode == "keys" {
					b.StopTimer()
					os.Remove(opt.Dir + "/address.idx")
					b.StartTimer()
				}
				closed(b, open(b, opt))
			}
		})
	}
}

// BenchmarkPutPacked stores bodies of 2,500 bytes that are compressed already, in
// batches of 256 with one sync each.
func BenchmarkPutPacked(b *testing.B) {
	const batch = 256
	for _, sync := range []container.Sync{container.Always, container.Never} {
		b.Run(sync.String(), func(b *testing.B) {
			c := open(b, container.Options{Dir: b.TempDir(), Sync: sync})
			defer closed(b, c)
			entries := make([]container.Entry, batch)
			n := 0
			for b.Loop() {
				b.StopTimer()
				for i := range entries {
					entries[i].Page = benchPage(n, packedBody(n))
					n++
				}
				b.StartTimer()
				if _, err := c.PutAll(context.Background(), entries); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/page")
		})
	}
}

// BenchmarkGetPacked reads random pages whose bodies are compressed already.
func BenchmarkGetPacked(b *testing.B) {
	const n = 20_000
	c := open(b, container.Options{Dir: b.TempDir(), Sync: container.Never})
	defer closed(b, c)
	entries := make([]container.Entry, n)
	for i := range entries {
		entries[i].Page = benchPage(i, packedBody(i))
	}
	if _, err := c.PutAll(context.Background(), entries); err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	urls := make([]octopus.URL, 1000)
	for i := range urls {
		urls[i] = benchURL(rng.IntN(n))
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, err := c.Get(context.Background(), urls[i%len(urls)]); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// packedBody makes 2,500 bytes that look compressed.
func packedBody(i int) []byte {
	rng := rand.New(rand.NewPCG(uint64(i), 7))
	body := make([]byte, 0, 2500)
	for len(body) < 2500 {
		body = binary.LittleEndian.AppendUint64(body, rng.Uint64())
	}
	return body
}
