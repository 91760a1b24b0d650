package fetch_test

import (
	"errors"
	"net"
	"net/http"
	"os"
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

// TestBucketDeadline: a read that waits hears of a deadline, one that was set before
// and one that is moved meanwhile.
func TestBucketDeadline(t *testing.T) {
	for name, set := range map[string]func(net.Conn){
		"before":    func(c net.Conn) { c.SetDeadline(time.Now().Add(2 * time.Second)) },
		"of reads":  func(c net.Conn) { c.SetReadDeadline(time.Now().Add(2 * time.Second)) },
		"meanwhile": func(c net.Conn) { time.AfterFunc(2*time.Second, func() { c.SetDeadline(time.Unix(1, 0)) }) },
		"moved": func(c net.Conn) {
			c.SetDeadline(time.Now().Add(time.Second))
			time.AfterFunc(time.Second/2, func() { c.SetDeadline(time.Now().Add(3 * time.Second / 2)) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, server := net.Pipe()
				defer server.Close()
				conn := fetch.Meter(1)(client)
				go server.Write(make([]byte, 100)) // 100 s worth
				start := time.Now()
				set(conn)
				n, err := conn.Read(make([]byte, 100))
				if took := time.Since(start); took != 2*time.Second || n != 100 || err != nil {
					t.Errorf("the read ended after %s with %d bytes, %v; want 2s, 100", took, n, err)
				}
				if n, err := conn.Read(make([]byte, 100)); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("the next read: %d, %v", n, err)
				}
			})
		})
	}
}

// TestBandwidthTimeout: a page that comes too slowly because of the bound ends at the
// time-out, not when the bytes that came are paid for.
func TestBandwidthTimeout(t *testing.T) {
	s := site(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 50_000)) })
	f := fetcher(t, fetch.Options{Bandwidth: 20, Timeout: 300 * time.Millisecond})
	start := time.Now()
	p := f.Fetch(t.Context(), lease(s.URL+"/"))
	if took := time.Since(start); p.Err == nil || took > 5*time.Second {
		t.Errorf("after %s: %v", took, p.Err)
	}
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
