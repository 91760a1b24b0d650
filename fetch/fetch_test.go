package fetch_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"octopus"
	"octopus/fetch"
)

var discardLog = log.New(io.Discard, "", 0)

func TestPage(t *testing.T) {
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		w.Header().Set("Content-Type", "text/html; charset=gbk")
		w.Header().Set("Set-Cookie", "a=b")
		w.Write([]byte("\xc4\xe3\xba\xc3\x00\xff"))
	})
	p := fetcher(t, fetch.Options{}).Fetch(t.Context(), lease(s.URL+"/x?y"))
	wantPage(t, p, 200, "", "")
	if string(p.Body) != "\xc4\xe3\xba\xc3\x00\xff" || p.Wire != 6 || p.Proto != "HTTP/1.1" || p.IP.String() != "127.0.0.1" ||
		p.Header.Get("ETag") != `"v1"` || p.Header.Get("Content-Type") != "text/html; charset=gbk" {
		t.Errorf("got %+v", p)
	}
}

// The bytes of a request are those of the URL, and nothing else is sent.
func TestRequest(t *testing.T) {
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s|", r.Method, r.RequestURI, body)
		for _, h := range []string{"User-Agent", "Accept-Encoding", "Cookie", "Authorization", "Referer", "If-None-Match", "If-Modified-Since", "Content-Type"} {
			fmt.Fprintf(w, "%s|", r.Header.Get(h))
		}
	})
	host := strings.TrimPrefix(s.URL, "http://")
	f := fetcher(t, fetch.Options{UserAgent: "bot/1"})
	tail := "bot/1|gzip, br, zstd||||"
	for url, want := range map[string]string{
		"":                     "GET / ",
		"?":                    "GET /? ",
		"?q=a|b":               "GET /?q=a|b ",
		"/%E4%BD%A0?x=%c4%e3#": "GET /%E4%BD%A0?x=%c4%e3 ",
		"//a//b?x":             "GET //a//b?x ",
		"/a?http://b/":         "GET /a?http://b/ ",
	} {
		p := f.Fetch(t.Context(), lease(s.URL+url))
		if got := string(p.Body); got != want+"|"+tail+"|||" {
			t.Errorf("%q: got %q, %v", url, got, p.Err)
		}
	}
	l := lease("http://user:secret@" + host + "/")
	l.ETag, l.LastModified = `W/"1"`, "Mon, 02 Jan 2006 15:04:05 GMT"
	if got := string(f.Fetch(t.Context(), l).Body); got != "GET / |"+tail+`W/"1"|Mon, 02 Jan 2006 15:04:05 GMT||` {
		t.Errorf("conditional: %q", got)
	}
	l.Purpose = octopus.Relink
	if got := string(f.Fetch(t.Context(), l).Body); got != "GET / |"+tail+"|||" {
		t.Errorf("relink: %q", got)
	}
	l = lease(s.URL)
	l.ETag = "a\r\nX-Evil: 1"
	l.Link.Method, l.Link.Body = "POST", []byte("a=b")
	if got := string(f.Fetch(t.Context(), l).Body); got != "POST / a=b|"+tail+"||application/x-www-form-urlencoded|" {
		t.Errorf("post: %q", got)
	}
}

// A server of net/http would refuse these paths; others answer them.
func TestOddPaths(t *testing.T) {
	lines := make(chan string, 1)
	url := listen(t, func(c net.Conn, _ <-chan struct{}) {
		line, _ := bufio.NewReader(c).ReadString('\n')
		lines <- strings.TrimSpace(line)
		io.WriteString(c, ok+"Content-Length: 0\r\n\r\n")
	})
	f := fetcher(t, fetch.Options{})
	for path, want := range map[string]string{
		"/100%":                 "/100%",
		"/a%zz|[b]^`{}\"?%&'":   "/a%zz|[b]^`{}\"?%&'",
		"//a%zz?":               url + "//a%zz?",
		"/\xc3\xa9":             "/\xc3\xa9",
		"//other.test:80/x?y=z": "//other.test:80/x?y=z",
	} {
		p := f.Fetch(t.Context(), lease(url+path))
		if p.Err != nil {
			t.Fatalf("%q: %v", path, p.Err)
		}
		if got := <-lines; got != "GET "+want+" HTTP/1.1" {
			t.Errorf("%q: the request line is %q", path, got)
		}
	}
}

func TestAnswersWithoutBody(t *testing.T) {
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		switch {
		case r.Header.Get("If-None-Match") != "":
			w.WriteHeader(304)
		case r.URL.Path == "/204":
			w.WriteHeader(204)
		}
	})
	f := fetcher(t, fetch.Options{})
	l := lease(s.URL)
	l.ETag = `"1"`
	wantPage(t, f.Fetch(t.Context(), l), 304, "", "")
	wantPage(t, f.Fetch(t.Context(), lease(s.URL+"/204")), 204, "", "")
	for _, coding := range []string{"gzip", "br", "zstd"} { // a coding around nothing
		url := raw(t, say(ok+"Content-Encoding: "+coding+"\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"))
		p := f.Fetch(t.Context(), lease(url+"/"))
		wantPage(t, p, 200, "", "")
	}
	l = lease(s.URL)
	l.Link.Method = "HEAD"
	wantPage(t, f.Fetch(t.Context(), l), 200, "", "")
}

func TestRedirectIsNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308, 300, 304} {
		s := site(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "../b c#d")
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
			if status != 304 {
				io.WriteString(w, "moved")
			}
		})
		p := fetcher(t, fetch.Options{}).Fetch(t.Context(), lease(s.URL+"/a"))
		wantPage(t, p, status, "", "")
		want := "../b c#d"
		if status == 300 || status == 304 {
			want = ""
		}
		if p.Location != want || p.RetryAfter != 7*time.Second || status != 304 && string(p.Body) != "moved" {
			t.Errorf("%d: Location %q, Retry-After %v, body %q", status, p.Location, p.RetryAfter, p.Body)
		}
	}
}

func TestKeepAlive(t *testing.T) {
	var conns sync.Map
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		conns.Store(r.RemoteAddr, true)
		enc := r.URL.Query().Get("c")
		if enc != "" {
			w.Header().Set("Content-Encoding", enc)
		}
		w.Write(encode(enc, bytes.Repeat([]byte("x"), 50_000)))
		w.(http.Flusher).Flush() // chunked: the last chunk comes apart
	})
	f := fetcher(t, fetch.Options{})
	for range 10 {
		for _, enc := range []string{"", "gzip", "br", "zstd"} {
			p := f.Fetch(t.Context(), lease(s.URL+"/?c="+enc))
			wantPage(t, p, 200, "", "")
			f.Recycle(p)
		}
	}
	n := 0
	conns.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d connections for 40 requests in a row, want 1", n)
	}
}

// encode compresses data with a content coding.
func encode(coding string, data []byte) []byte {
	var b bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "br":
		w = brotli.NewWriterLevel(&b, 2)
	case "zstd":
		w, _ = zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithLowerEncoderMem(true))
	default:
		return data
	}
	w.Write(data)
	w.Close()
	return b.Bytes()
}

// Bodies arrive byte by byte as they were served, whatever their size, coding
// and framing, also while buffers are being reused.
func TestRandomBodies(t *testing.T) {
	const bodies = 1000
	rng := rand.New(rand.NewPCG(1, 2))
	data := make([][]byte, bodies)
	for i := range data {
		size := rng.IntN(1 << (1 + rng.IntN(13)))
		if i%50 == 0 {
			size = 30_000 + rng.IntN(300_000) // outgrows its first buffer
		}
		data[i] = make([]byte, size)
		for j := range data[i] {
			data[i][j] = byte(rng.IntN(1 + i%256))
		}
	}
	var encoded [4][bodies][]byte
	codings := []string{"", "gzip", "br", "zstd"}
	for c := range codings {
		for i := range data {
			encoded[c][i] = encode(codings[c], data[i])
		}
	}
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		var c, i int
		fmt.Sscanf(r.URL.Path, "/%d/%d", &c, &i)
		if codings[c] != "" {
			w.Header().Set("Content-Encoding", codings[c])
		}
		if i%2 == 0 {
			w.Header().Set("Content-Length", fmt.Sprint(len(encoded[c][i])))
		}
		w.Write(encoded[c][i])
	})
	f := fetcher(t, fetch.Options{ConnsPerHost: 8})
	var next atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= bodies*len(codings) {
					return
				}
				c, i := n%len(codings), n/len(codings)
				p := f.Fetch(t.Context(), lease(fmt.Sprintf("%s/%d/%d", s.URL, c, i)))
				if p.Err != nil || !bytes.Equal(p.Body, data[i]) || p.Wire != int64(len(encoded[c][i])) || p.Header.Get("Content-Encoding") != "" {
					t.Errorf("body %d, coding %q: %v, %d bytes of %d", i, codings[c], p.Err, len(p.Body), len(data[i]))
				}
				f.Recycle(p)
			}
		})
	}
	all.Wait()
}

// bomb compresses size zero bytes, times times over.
func bomb(coding string, size, times int) []byte {
	data := make([]byte, size)
	for range times {
		data = encode(coding, data)
	}
	return data
}

func TestBombs(t *testing.T) {
	for _, c := range []struct {
		coding string
		times  int
	}{{"gzip", 1}, {"br", 1}, {"zstd", 1}, {"gzip", 3}, {"br", 2}, {"zstd", 3}} {
		t.Run(fmt.Sprintf("%s×%d", c.coding, c.times), func(t *testing.T) {
			data := bomb(c.coding, 12<<20, c.times)
			s := site(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Encoding", c.coding)
				w.Write(data)
			})
			f := fetcher(t, fetch.Options{})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			p := f.Fetch(t.Context(), lease(s.URL))
			runtime.ReadMemStats(&after)
			truncated := "length"
			if c.times > 1 { // one layer is taken off, what is inside is data
				truncated = ""
			}
			wantPage(t, p, 200, "", truncated)
			if len(p.Body) > 10<<20 || len(p.Body) == 0 {
				t.Errorf("%d bytes decoded", len(p.Body))
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 48<<20 {
				t.Errorf("%d MiB allocated for one bomb", used>>20)
			}
		})
	}
}

func TestWindowOfZstd(t *testing.T) {
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithWindowSize(16<<20))
	if err != nil {
		t.Fatal(err)
	}
	w.Write(make([]byte, 20<<20))
	w.Close()
	s := site(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Encoding", "zstd")
		rw.Write(b.Bytes())
	})
	p := fetcher(t, fetch.Options{}).Fetch(t.Context(), lease(s.URL))
	wantPage(t, p, 200, "protocol", "disconnect")
}

func TestLengthLimit(t *testing.T) {
	for _, coding := range []string{"", "gzip", "br", "zstd"} {
		for size, truncated := range map[int]string{9_999: "", 10_000: "", 10_001: "length", 500_000: "length"} {
			data := make([]byte, size)
			rng := rand.New(rand.NewPCG(3, 4))
			for i := range data {
				data[i] = byte(rng.IntN(256)) // not compressible: the wire limit counts too
			}
			body := encode(coding, data)
			s := site(t, func(w http.ResponseWriter, r *http.Request) {
				if coding != "" {
					w.Header().Set("Content-Encoding", coding)
				}
				w.Write(body)
			})
			limit := int64(10_000)
			if len(body) > size {
				limit = int64(len(body)) - int64(size) + 10_000
			}
			p := fetcher(t, fetch.Options{MaxBody: limit}).Fetch(t.Context(), lease(s.URL))
			if size > 10_000 && size <= int(limit) {
				continue
			}
			wantPage(t, p, 200, "", truncated)
			if !bytes.HasPrefix(data, p.Body) || truncated == "" && len(p.Body) != size || p.Wire > limit {
				t.Errorf("coding %q, %d bytes: got %d, %d on the wire", coding, size, len(p.Body), p.Wire)
			}
		}
	}
}

func TestPaddedGzip(t *testing.T) {
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "x-gzip")
		w.Write(append(encode("gzip", []byte("hello")), make([]byte, 100)...))
	})
	p := fetcher(t, fetch.Options{}).Fetch(t.Context(), lease(s.URL))
	wantPage(t, p, 200, "", "")
	if string(p.Body) != "hello" {
		t.Errorf("body %q", p.Body)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []fetch.Options{{UserAgent: "a\r\nb"}, {Timeout: -1}, {MaxBody: -1}} {
		if _, err := fetch.New(o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}

// Nothing is left behind: neither goroutines nor connections.
func TestNoLeak(t *testing.T) {
	s := site(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") })
	f := fetcher(t, fetch.Options{})
	before := runtime.NumGoroutine()
	for range 50 {
		f.Fetch(t.Context(), lease(s.URL))
	}
	f.Close()
	s.CloseClientConnections()
	for range 1_000_000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}
