package fetch_test

import (
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"octopus/fetch"
)

// TestBucket sends bytes through metered connections in virtual time.
func TestBucket(t *testing.T) {
	for name, c := range map[string]struct {
		rate  int64
		conns int
		bytes int // per connection
		want  time.Duration
	}{
		"one":  {100_000, 1, 1_000_000, 10 * time.Second},
		"many": {100_000, 10, 100_000, 10 * time.Second},
		"slow": {1_000, 4, 2_500, 10 * time.Second},
		"fast": {10_000_000, 4, 5_000_000, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				meter := fetch.Meter(c.rate)
				start := time.Now()
				var all sync.WaitGroup
				for range c.conns {
					client, server := net.Pipe()
					go func() {
						server.Write(make([]byte, c.bytes))
						server.Close()
					}()
					all.Go(func() {
						conn, n := meter(client), 0
						for buf := make([]byte, 64<<10); ; {
							k, err := conn.Read(buf)
							if n += k; err != nil {
								break
							}
						}
						if n != c.bytes {
							t.Errorf("%d bytes came, want %d", n, c.bytes)
						}
						conn.Close()
					})
				}
				all.Wait()
				if took := time.Since(start); took > c.want || took < c.want-200*time.Millisecond {
					t.Errorf("took %s, want %s less a burst of 0.1 s", took, c.want)
				}
			})
		})
	}
}

// TestBucketClose ends a read that waits.
func TestBucketClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		conn := fetch.Meter(1)(client)
		go server.Write(make([]byte, 100)) // 100 s worth
		start := time.Now()
		time.AfterFunc(time.Second, func() { conn.Close() })
		conn.Read(make([]byte, 100))
		if took := time.Since(start); took != time.Second {
			t.Errorf("the read ended after %s, want 1s", took)
		}
		server.Close()
	})
}

// TestBandwidth fetches pages at a bounded rate.
func TestBandwidth(t *testing.T) {
	s := site(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 50_000)) })
	f := fetcher(t, fetch.Options{Bandwidth: 500_000})
	start := time.Now()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if p := f.Fetch(t.Context(), lease(s.URL+"/")); p.Err != nil || len(p.Body) != 50_000 {
				t.Errorf("%d bytes, %v", len(p.Body), p.Err)
			}
		})
	}
	all.Wait()
	if took := time.Since(start); took < 300*time.Millisecond {
		t.Errorf("200 kB at 500 kB/s took only %s", took)
	}
}
