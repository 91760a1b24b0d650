package fetch_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"octopus/fetch"
)

// TestMain turns the test binary into the benchmark's server where it is told
// to: in a process of its own its CPU time does not count as the client's.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "serve-page" {
		serveUntilEOF()
		return
	}
	os.Exit(m.Run())
}

// serveUntilEOF serves a page of 20 KB until standard input ends: in the clear,
// over TLS, and over TLS by HTTP/2.
func serveUntilEOF() {
	page := []byte(strings.Repeat("<a href=/some/link>forty bytes of text</a>\n", 20_000/43))
	gz := encode("gzip", page)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path == "/gzip" {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(gz)
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(page)))
		w.Write(page)
	})
	clear, tls1, tls2 := httptest.NewServer(h), httptest.NewUnstartedServer(h), httptest.NewUnstartedServer(h)
	tls1.StartTLS()
	tls2.EnableHTTP2 = true
	tls2.StartTLS()
	fmt.Println(clear.URL, tls1.URL, tls2.URL)
	io.Copy(io.Discard, os.Stdin)
}

// server starts the server process and returns its three URLs.
func server(b *testing.B) []string {
	cmd := exec.Command(os.Args[0], "serve-page")
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.Fields(line)
}

// measure runs one request per iteration and reports the CPU time of this
// process for each.
func measure(b *testing.B, request func() error) {
	if err := request(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	start := cpu()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := request(); err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64((cpu()-start).Microseconds())/float64(b.N), "cpu-µs/op")
}

func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkFetch fetches a page of 20 KB over kept connections, beside the least
// that net/http can do.
func BenchmarkFetch(b *testing.B) {
	urls := server(b)
	for _, c := range []struct{ name, url string }{
		{"clear", urls[0] + "/"}, {"gzip", urls[0] + "/gzip"}, {"tls", urls[1] + "/"}, {"http2", urls[2] + "/"},
	} {
		b.Run(c.name, func(b *testing.B) {
			f := fetcher(b, fetch.Options{ConnsPerHost: 64, InsecureTLS: true})
			l := lease(c.url)
			measure(b, func() error {
				p := f.Fetch(b.Context(), l)
				defer f.Recycle(p)
				if p.Err != nil {
					return p.Err
				}
				return nil
			})
		})
	}
	b.Run("net/http", func(b *testing.B) {
		tr := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
		defer tr.CloseIdleConnections()
		req, err := http.NewRequestWithContext(b.Context(), "GET", urls[0]+"/", nil)
		if err != nil {
			b.Fatal(err)
		}
		measure(b, func() error {
			resp, err := tr.RoundTrip(req)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			_, err = io.Copy(io.Discard, resp.Body)
			return err
		})
	})
}
