package redisseen_test

import (
	"context"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"octopus"
	"octopus/seen/redisseen"
	"octopus/seen/seentest"
)

// The measurements for docs; larger sizes take minutes:
//
//	go test ./seen/redisseen -run '^$' -bench . -args -keys 10000000 -windows 3
var (
	benchKeys    = flag.Int("keys", 20_000, "entries of each window of the benchmarks")
	benchWindows = flag.Int("windows", 7, "windows of the benchmarks")
)

// used returns the memory of a server.
func used(c *redis.Client) (n int64) {
	for _, line := range strings.Split(c.Info(context.Background(), "memory").Val(), "\r\n") {
		if v, ok := strings.CutPrefix(line, "used_memory:"); ok {
			fmt.Sscan(v, &n)
		}
	}
	return n
}

// filled returns a set whose windows are all full, at the middle of its last
// day. The first keys of a window go in by Add; the bits of the others are set
// here, in the same places, and written into the filter: by Add they would take
// Redis 20 us each. Keys drawn from all of them must be known then.
func filled(b *testing.B, c *redis.Client) (s *redisseen.Set, now time.Time) {
	const byAdd, drawn = 10_000, 10_000
	ctx := context.Background()
	s = open(b, redisseen.Options{Client: c, Name: "bench", Kind: redisseen.Window, Windows: *benchWindows, Capacity: int64(*benchKeys), CallerTime: true})
	for w := range *benchWindows {
		now = at(24*float64(w) + 12)
		from, to := w**benchKeys, (w+1)**benchKeys
		addMany(b, s, now, from, min(from+byAdd, to))
		setBits(b, c, s, ":"+now.Format("20060102"), from+byAdd, to)
	}
	keys, known := make([]octopus.Key, drawn), make([]bool, drawn)
	for i := range keys {
		keys[i] = seentest.Key(i * (*benchKeys * *benchWindows / drawn))
	}
	if err := s.Contains(ctx, now, keys, known); err != nil || seentest.Count(known) != drawn {
		b.Fatalf("%d of %d keys are known, %v", seentest.Count(known), drawn, err)
	}
	return s, now
}

// setBits sets the bits of keys in the blocks of a window.
func setBits(b *testing.B, c *redis.Client, s *redisseen.Set, window string, from, to int) {
	ctx := context.Background()
	blocks := map[int][]byte{}
	name := func(block int) string {
		if block < 0 {
			return "bench" + window
		}
		return fmt.Sprintf("bench:%d%s", block, window)
	}
	for i := from; i < to; i++ {
		k := seentest.Key(i)
		block, places := redisseen.Positions(s, k[:])
		if blocks[block] == nil {
			blocks[block] = []byte(c.Get(ctx, name(block)).Val())
		}
		for _, p := range places {
			blocks[block][p>>3] |= 0x80 >> (p & 7)
		}
	}
	for block, bits := range blocks {
		for at := 0; at < len(bits); at += 1 << 20 {
			if err := c.SetRange(ctx, name(block), int64(at), string(bits[at:min(at+1<<20, len(bits))])).Err(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// addMany adds keys in calls of 10,000, and returns how many were fresh and the
// longest call.
func addMany(b *testing.B, s *redisseen.Set, now time.Time, from, to int) (fresh int) {
	const step = 10_000
	keys, answers := make([]octopus.Key, 0, step), make([]bool, step)
	for ; from < to; from += step {
		keys = keys[:0]
		for i := from; i < min(from+step, to); i++ {
			keys = append(keys, seentest.Key(i))
		}
		if err := s.Add(context.Background(), now, keys, answers[:len(keys)]); err != nil {
			b.Fatal(err)
		}
		fresh += seentest.Count(answers[:len(keys)])
	}
	return fresh
}

// held tells how long the calls of scripts have held the server since CONFIG
// RESETSTAT: by its own clock, in steps of two (the time in which it had no
// processor counts), and the processor's time of a call on average.
func held(b *testing.B, c *redis.Client, before float64) {
	ctx := context.Background()
	calls, over := 0, 0
	var steps []string
	reply, err := c.Do(ctx, "LATENCY", "HISTOGRAM", "evalsha").Result()
	if err != nil {
		b.Log(err) // Redis 6 has none
		return
	}
	list, _ := reply.(map[any]any)
	of, _ := list["evalsha"].(map[any]any)
	if n, ok := of["calls"].(int64); ok {
		calls = int(n)
	}
	histogram, _ := of["histogram_usec"].(map[any]any)
	bounds := make([]int, 0, len(histogram))
	for us := range histogram {
		bounds = append(bounds, int(us.(int64)))
	}
	slices.Sort(bounds)
	for _, us := range bounds {
		n := int(histogram[int64(us)].(int64))
		if us <= 5000 {
			over = calls - n
		}
		steps = append(steps, fmt.Sprintf("%.3f%% in %.1f ms", 100*float64(n)/float64(calls), float64(us)/1000))
	}
	b.Logf("%d calls, %.2f ms of the server's processor each, %.3f%% above the last step below 5 ms: %s",
		calls, (serverCPU(c)-before)*1e3/float64(calls), 100*float64(over)/float64(calls), strings.Join(steps, ", "))
}

// BenchmarkWindows measures a batched check-and-add with all windows full,
// beside one GETBIT or SETBIT for each hash and beside Scrapy-Redis' SADD.
func BenchmarkWindows(b *testing.B) {
	_, c := start(b)
	ctx := context.Background()
	before := used(c)
	s, now := filled(b, c)
	memory := used(c) - before
	st, err := s.Stats(ctx)
	if err != nil {
		b.Fatal(err)
	}
	total := *benchKeys * *benchWindows
	p := 1 - st.Filters[0].Fill // only for the report
	b.Logf("%d windows of %d entries: %.2f bytes each in Redis, error %.3g by the fill (%.3f of the bits are 0), asked for %.3g",
		*benchWindows, *benchKeys, float64(memory)/float64(total), st.ErrorRate, p, st.Target)

	// Absent keys tell the error; they are asked for, not added.
	absent, wrong := 0, 0
	for from := 1 << 40; absent < 400_000; from += 20_000 {
		known := make([]bool, 20_000)
		if err := s.Contains(ctx, now, seentest.Keys(from, from+20_000), known); err != nil {
			b.Fatal(err)
		}
		absent += len(known)
		wrong += seentest.Count(known)
	}
	b.Logf("%d of %d absent keys taken for known: %.3g", wrong, absent, float64(wrong)/float64(absent))

	if err := c.ConfigResetStat(ctx).Err(); err != nil {
		b.Fatal(err)
	}
	cpuBefore := serverCPU(c)
	next := 1 << 50
	b.Run("Batched/new", func(b *testing.B) {
		defer cpu(b, c)()
		addMany(b, s, now, next, next+b.N)
		next += b.N
	})
	b.Run("Batched/known", func(b *testing.B) {
		defer cpu(b, c)()
		for done := 0; done < b.N; done += total {
			addMany(b, s, now, 0, min(total, b.N-done))
		}
	})
	held(b, c, cpuBefore)
	b.Run("OneCommandForEachHash/new", func(b *testing.B) {
		defer cpu(b, c)()
		naive(b, c, st)
	})
	b.Run("SADD/new", func(b *testing.B) {
		defer cpu(b, c)()
		for i := range b.N {
			if err := c.SAdd(ctx, "spider:dupefilter", hex40(i)).Err(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// cpu returns a function that reports what client and server have used since, in
// microseconds for each entry: other work on the machine does not count.
func cpu(b *testing.B, c *redis.Client) func() {
	now := func() float64 {
		var own syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
			b.Fatal(err)
		}
		return time.Duration(own.Utime.Nano()+own.Stime.Nano()).Seconds() + serverCPU(c)
	}
	before := now()
	return func() { b.ReportMetric((now()-before)*1e6/float64(b.N), "cpu-us/entry") }
}

// serverCPU returns the processor time of a server, in seconds.
func serverCPU(c *redis.Client) (sum float64) {
	for line := range strings.Lines(c.Info(context.Background(), "cpu").Val()) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if v, err := strconv.ParseFloat(value, 64); err == nil && (name == "used_cpu_sys" || name == "used_cpu_user") {
			sum += v
		}
	}
	return sum
}

// naive does what the published code does: GETBIT for every hash in every
// window, one command a round trip, then SETBIT for every hash.
func naive(b *testing.B, c *redis.Client, st redisseen.Stats) {
	ctx := context.Background()
	bits := uint64(st.Filters[0].Bytes) * 8
	const hashes = 6 // as published; ours are more
	for i := range b.N {
		sum := md5.Sum(binary.LittleEndian.AppendUint64(nil, uint64(i)+1<<60))
		h1, h2 := binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])|1
		for _, f := range st.Filters {
			exist := int64(1)
			for j := range uint64(hashes) {
				exist &= c.GetBit(ctx, f.Key, int64((h1+j*h2)%bits)).Val()
			}
		}
		for j := range uint64(hashes) {
			if err := c.SetBit(ctx, "naive", int64((h1+j*h2)%bits), 1).Err(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func hex40(i int) string {
	sum := md5.Sum(binary.LittleEndian.AppendUint64(nil, uint64(i)))
	return hex.EncodeToString(append(sum[:], 1, 2, 3, 4))
}

// BenchmarkExact measures sets of whole keys beside pipelined HSETNX of 40
// digits, with the bytes of an entry.
func BenchmarkExact(b *testing.B) {
	for _, o := range []redisseen.Options{{Kind: redisseen.Exact}, {Kind: redisseen.Expiring, Expiry: time.Hour}} {
		b.Run(string(o.Kind), func(b *testing.B) {
			_, c := start(b)
			before := used(c)
			o.Client, o.Name = c, "bench"
			s := open(b, o)
			addMany(b, s, at(0), 0, b.N)
			b.ReportMetric(float64(used(c)-before)/float64(b.N), "bytes/entry")
		})
	}
	for name, add := range map[string]func(redis.Pipeliner, string){
		"HSETNX40digitsPipelined": func(p redis.Pipeliner, m string) { p.HSetNX(context.Background(), "h", m, "1558000000") },
		"SADD40digitsPipelined":   func(p redis.Pipeliner, m string) { p.SAdd(context.Background(), "s", m) },
	} {
		b.Run(name, func(b *testing.B) {
			_, c := start(b)
			before := used(c)
			for at := 0; at < b.N; at += 1000 {
				p := c.Pipeline()
				for i := at; i < min(at+1000, b.N); i++ {
					add(p, hex40(i))
				}
				if _, err := p.Exec(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(used(c)-before)/float64(b.N), "bytes/entry")
		})
	}
}
