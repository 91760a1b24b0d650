package redisfrontier_test

import (
	"fmt"
	"testing"
	"time"

	"octopus"
	"octopus/frontier/frontiertest"
)

// BenchmarkAdd offers links in batches of 100: half fresh, half known.
func BenchmarkAdd(b *testing.B) {
	_, c := start(b, "--slowlog-log-slower-than", "5000", "--slowlog-max-len", "10000")
	o := plain()
	o.Client = c
	f := open(b, o)
	b.ResetTimer()
	for n := 0; n < b.N; n += 100 {
		links := make([]octopus.Link, 100)
		for i := range links {
			k := (n + i) / 2
			links[i] = frontiertest.Link(fmt.Sprintf("www.site%d.example/news/article-%d.html", k%1000, k), 3)
		}
		if _, err := f.Add(b.Context(), links); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(c.SlowLogGet(b.Context(), -1).Val())), "calls>5ms")
}

// BenchmarkLeaseDone takes and ends visits of many hosts, one process and one
// goroutine, each with three known links.
func BenchmarkLeaseDone(b *testing.B) {
	_, c := start(b)
	o := plain()
	o.Client = c
	f := open(b, o)
	links := make([]octopus.Link, b.N)
	for i := range links {
		links[i] = frontiertest.Link(fmt.Sprintf("www.site%d.example/article-%d.html", i%500, i), 3)
	}
	for at := 0; at < b.N; at += 1000 {
		if _, err := f.Add(b.Context(), links[at:min(at+1000, b.N)]); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	for n := 0; n < b.N; {
		leases, err := f.Lease(b.Context(), 16)
		if err != nil {
			b.Fatal(err)
		}
		var out []octopus.Outcome
		for _, l := range leases {
			out = append(out, octopus.Outcome{Lease: l, Stage: octopus.Fetched | octopus.Parsed, End: time.Now(), Status: 200, Links: links[:min(3, b.N)]})
		}
		if _, err := f.Done(b.Context(), out); err != nil {
			b.Fatal(err)
		}
		n += len(leases)
	}
}
