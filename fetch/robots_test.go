package fetch_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"octopus/fetch"
)

func TestRobots(t *testing.T) {
	big := bytes.Repeat([]byte("Disallow: /x\n"), 100_000)
	other := site(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "other %s", r.URL.Path) })
	for _, c := range []struct {
		name      string
		handle    http.HandlerFunc
		status    int
		truncated string
		body      string
	}{
		{"plain", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL) }, 200, "", "/robots.txt"},
		{"missing", http.NotFound, 404, "", "404 page not found\n"},
		{"broken", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(503) }, 503, "", ""},
		{"other host", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+"/r", http.StatusMovedPermanently)
		}, 200, "", "other /r"},
		{"other scheme", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "file:///etc/passwd")
			w.WriteHeader(302)
		}, 302, "", ""},
		{"no target", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(302) }, 302, "", ""},
		{"target no URL", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://[x/%zz")
			w.WriteHeader(307)
		}, 307, "", ""},
		{"host that is not ASCII", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/r" {
				fmt.Fprint(w, "arrived")
				return
			}
			w.Header().Set("Location", "http://"+strings.Replace(r.Host, "127", "\uff11\uff12\uff17", 1)+"/r") // wide digits
			w.WriteHeader(http.StatusFound)
		}, 200, "", "arrived"},
		{"five hops", hops(5), 200, "", "arrived"},
		{"six hops", hops(6), 302, "", ""},
		{"gzip", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(encode("gzip", []byte("User-agent: *")))
		}, 200, "", "User-agent: *"},
		{"large", func(w http.ResponseWriter, r *http.Request) { w.Write(big) }, 200, "length", string(big[:512<<10])},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := site(t, c.handle)
			p := fetcher(t, fetch.Options{}).Fetch(t.Context(), robots(s.URL+"/some/page?q"))
			wantPage(t, p, c.status, "", c.truncated)
			if string(p.Body) != c.body {
				t.Errorf("body %.60q, want %.60q", p.Body, c.body)
			}
		})
	}
}

// hops returns a handler that redirects n times before it answers.
func hops(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		at := strings.Count(r.URL.Path, "/hop")
		if at == n {
			fmt.Fprint(w, "arrived")
			return
		}
		http.Redirect(w, r, strings.Repeat("/hop", at+1), http.StatusFound)
	}
}

// The whole of it shares one budget: hops do not extend it.
func TestRobotsTimeout(t *testing.T) {
	opt := quick
	opt.HeaderTimeout, opt.IdleTimeout, opt.RobotsTimeout = time.Second, time.Second, 300*time.Millisecond
	url := listen(t, func(c net.Conn, stop <-chan struct{}) {
		select {
		case <-time.After(200 * time.Millisecond):
			answer("HTTP/1.1 302 Found\r\nLocation: /again\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")(c, stop)
		case <-stop:
		}
	})
	p := fetcher(t, opt).Fetch(t.Context(), robots(url+"/"))
	wantPage(t, p, 0, "timeout", "")
	if took := p.End.Sub(p.Start); took > time.Second {
		t.Errorf("it took %v", took)
	}
}
