package frontier_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"octopus"
	"octopus/frontier"
	"octopus/frontier/frontiertest"
	"octopus/kv"
	"octopus/kv/pebblekv"
)

func openPebble(b testing.TB, dir string) *pebblekv.Store {
	s, err := pebblekv.Open(dir, pebblekv.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// linksOf returns n fresh links of many hosts, and their URLs are like those of
// real pages: about 60 bytes.
func linksOf(from, n, hosts int) []octopus.Link {
	links := make([]octopus.Link, n)
	for i := range links {
		id := from + i
		links[i] = frontiertest.Link(fmt.Sprintf("www.host%d.com/section/%d/articles/item-%d.html", id%hosts, id%23, id), 1+id%5)
		links[i].Via = fmt.Sprintf("http://www.host%d.com/section/%d/", id%hosts, id%23)
	}
	return links
}

// BenchmarkPage is what one page costs a durable frontier: a lease, and an
// outcome with 40 links, 36 of them known. 64 workers share the commits, as in a
// crawl.
func BenchmarkPage(b *testing.B) {
	store := openPebble(b, b.TempDir())
	defer store.Close()
	f, err := frontier.Open(plain(store))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	const hosts = 1000
	ctx := context.Background()
	known := linksOf(0, 100_000, hosts)
	for i := 0; i < len(known); i += 10_000 {
		if _, err := f.Add(ctx, known[i:i+10_000]); err != nil {
			b.Fatal(err)
		}
	}
	fresh := linksOf(len(known), 4*b.N, hosts)
	b.ReportAllocs()
	b.ResetTimer()
	var mu sync.Mutex
	next := 0
	var workers sync.WaitGroup
	for w := range 64 {
		workers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 1))
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= b.N {
					return
				}
				leases, err := f.Lease(ctx, 1)
				if err != nil {
					b.Error(err)
					return
				}
				links := append(make([]octopus.Link, 0, 40), fresh[4*i:4*i+4]...)
				for range 36 {
					links = append(links, known[rng.IntN(len(known))])
				}
				o := octopus.Outcome{Lease: leases[0], Status: 200, End: time.Now(), Links: links}
				if _, err := f.Done(ctx, []octopus.Outcome{o}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	workers.Wait()
}

// BenchmarkAdd adds fresh links, 1,000 in a call. Beside it the same number of
// bytes as plain puts, in batches of the same size with the same syncs.
func BenchmarkAdd(b *testing.B) {
	const batch = 1000
	b.Run("frontier", func(b *testing.B) {
		store := openPebble(b, b.TempDir())
		defer store.Close()
		f, err := frontier.Open(plain(store))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		links := linksOf(0, b.N, 1000)
		b.ReportAllocs()
		b.ResetTimer()
		for i := 0; i < b.N; i += batch {
			if _, err := f.Add(context.Background(), links[i:min(i+batch, b.N)]); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("plain-puts", func(b *testing.B) {
		store := openPebble(b, b.TempDir())
		defer store.Close()
		links := linksOf(0, b.N, 1000)
		b.ReportAllocs()
		b.ResetTimer()
		for i := 0; i < b.N; i += batch {
			var k kv.Batch
			for j := range links[i:min(i+batch, b.N)] {
				l := &links[i+j]
				k.Set(append([]byte("00000"), l.URL.Key[:]...), []byte("123456789012"))
				k.Set(append([]byte("00001"), fmt.Appendf(nil, "%s%014d", l.URL.Key[:8], i+j)...), []byte("12345678"+l.URL.Text+l.Via))
			}
			if err := store.Apply(&k, kv.Sync); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestBig adds OCTOPUS_FRONTIER_BIG URLs of a hundredth as many hosts
// (OCTOPUS_FRONTIER_HOSTS), one of each and then sizes by a power law, and prints
// what they cost at rest; then it reopens, and leases and ends a tenth of them. With
// OCTOPUS_FRONTIER_CAP the process must stay below so many bytes of memory, divided
// as --memory divides it.
func TestBig(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("OCTOPUS_FRONTIER_BIG"))
	if err != nil {
		t.Skip("set OCTOPUS_FRONTIER_BIG to the number of URLs")
	}
	dir := t.TempDir()
	size := pebblekv.Options{}
	options := plain
	if limit, err := strconv.ParseInt(os.Getenv("OCTOPUS_FRONTIER_CAP"), 10, 64); err == nil {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit / 10 * 8))
		size.CacheBytes = limit / 16
		options = func(s kv.Store) frontier.Options {
			o := plain(s)
			o.IndexBytes = limit / 4
			return o
		}
		defer func() {
			if peak := peakMemory(t); peak > limit {
				t.Errorf("%d MB of memory at the peak, %d allowed", peak>>20, limit>>20)
			}
		}()
	}
	store, err := pebblekv.Open(dir, size)
	if err != nil {
		t.Fatal(err)
	}
	base := heap()
	f, err := frontier.Open(options(store))
	if err != nil {
		t.Fatal(err)
	}
	hosts, err := strconv.Atoi(os.Getenv("OCTOPUS_FRONTIER_HOSTS"))
	if err != nil {
		hosts = n / 100
	}
	addBig(t, f, n, hosts)
	ram, index := heap()-base, f.IndexHeap()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := store.Compact([]byte{0}, []byte{0xff}); err != nil {
		t.Fatal(err)
	}
	m := store.Metrics()
	t.Logf("at rest: %.1f bytes of disk per URL, %.1f of them logs; heap %d MB, %d MB without the index", float64(m.DiskBytes)/float64(n), float64(m.DiskBytes-m.TableDiskBytes)/float64(n), ram>>20, (ram-index)>>20)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if store, err = pebblekv.Open(dir, size); err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	f, err = frontier.Open(options(store))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	leases, err := f.Lease(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("reopened, first %d leases after %s", len(leases), time.Since(start))
	start = time.Now()
	done := 0
	for done < n/10 {
		var outcomes []octopus.Outcome
		for _, l := range leases {
			outcomes = append(outcomes, octopus.Outcome{Lease: l, Status: 200, End: time.Now()})
		}
		if _, err := f.Done(t.Context(), outcomes); err != nil {
			t.Fatal(err)
		}
		done += len(leases)
		if leases, err = f.Lease(t.Context(), 1000); err != nil {
			t.Fatal(err)
		}
	}
	rate(t, "lease+done", done, start)
	ram = heap() - base
	t.Logf("heap %d MB, %d MB without the index", ram>>20, (ram-f.IndexHeap())>>20)
}

// addBig offers n links: one to every host first, so that all of them are there
// whatever n is, then by a power law.
func addBig(t *testing.T, f *frontier.Frontier, n, hosts int) {
	rng := rand.New(rand.NewPCG(1, 1))
	start := time.Now()
	for i := 0; i < n; {
		links := make([]octopus.Link, min(5000, n-i))
		for j := range links {
			host := i
			if i >= hosts {
				host = int(math.Pow(float64(hosts), rng.Float64())) // density 1/x
			}
			links[j] = frontiertest.Link(fmt.Sprintf("www.host%d.com/section/%d/articles/item-%d.html", host, i%23, i), 1+i%5)
			links[j].Via = fmt.Sprintf("http://www.host%d.com/section/%d/", host, i%23)
			i++
		}
		if _, err := f.Add(t.Context(), links); err != nil {
			t.Fatal(err)
		}
		if i%1_000_000 == 0 {
			rate(t, "added", i, start)
			t.Logf("%d MB of memory at the peak", peakMemory(t)>>20)
		}
	}
	rate(t, "add", n, start)
}

// peakMemory returns the most memory the process had, in bytes; 0 where the
// system does not tell.
func peakMemory(t *testing.T) (n int64) {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			fmt.Sscan(rest, &n)
		}
	}
	return n << 10
}

func rate(t *testing.T, what string, n int, start time.Time) {
	d := time.Since(start)
	t.Logf("%s: %d in %s, %.0f/s", what, n, d.Round(time.Millisecond), float64(n)/d.Seconds())
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestBigFetched prints what a fetched URL takes on the disk, with all that its
// page said of itself: OCTOPUS_FRONTIER_BIG / 20 URLs, all fetched.
func TestBigFetched(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("OCTOPUS_FRONTIER_BIG"))
	if err != nil {
		t.Skip("set OCTOPUS_FRONTIER_BIG to the number of URLs")
	}
	n /= 20
	store := openPebble(t, t.TempDir())
	defer store.Close()
	f, err := frontier.Open(plain(store))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx := t.Context()
	for i := 0; i < n; i += 5000 {
		if _, err := f.Add(ctx, linksOf(i, 5000, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for f.Counts().Done < int64(n) {
		leases, err := f.Lease(ctx, 1000)
		if err != nil {
			t.Fatal(err)
		}
		var outcomes []octopus.Outcome
		for _, l := range leases {
			outcomes = append(outcomes, fetched(l, rng))
		}
		if _, err := f.Done(ctx, outcomes); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Compact([]byte{0}, []byte{0xff}); err != nil {
		t.Fatal(err)
	}
	m := store.Metrics()
	t.Logf("%.1f bytes of disk per fetched URL in tables; %d MB of logs beside", float64(m.TableDiskBytes)/float64(n), (m.DiskBytes-m.TableDiskBytes)>>20)
}

// fetched is the outcome of a page with everything that pages tell: a title of
// eight words, a summary of twenty, a digest, validators. The words are random,
// so that they compress as text does at best.
func fetched(l octopus.Lease, rng *rand.Rand) octopus.Outcome {
	text := func(words int) string {
		var b strings.Builder
		for range words {
			for range 2 + rng.IntN(8) {
				b.WriteByte(byte('a' + rng.IntN(26)))
			}
			b.WriteByte(' ')
		}
		return b.String()
	}
	digest := make([]byte, 32)
	for i := range digest {
		digest[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[rng.IntN(32)]
	}
	return octopus.Outcome{
		Lease: l, Status: 200, End: time.Now(), Digest: "sha1:" + string(digest), ETag: fmt.Sprintf(`"%x"`, rng.Uint64()),
		LastModified: "Fri, 20 Nov 2026 12:00:00 GMT", Lane: octopus.Lane(rng.IntN(2)), IP: netip.AddrFrom4([4]byte{192, 0, 2, byte(l.Link.URL.Key[5])}),
		Record: &octopus.Record{
			MIME: "text/html", Charset: "utf-8", Kind: "data", Title: text(8), Description: text(20), Author: text(2), Size: rng.Int64N(100_000),
			Fingerprint: octopus.Fingerprint{Text: rng.Uint64(), Links: rng.Uint64()},
		},
	}
}
