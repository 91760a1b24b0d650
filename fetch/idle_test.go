package fetch_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"octopus/fetch"
)

// pair returns both ends of a TCP connection.
func pair(t *testing.T) (ours, theirs net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if ours, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if theirs, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	return ours, theirs
}

// eventually waits for what the kernel does in its own time.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !holds(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

// closed reports whether our end of a connection was closed.
func closed(c net.Conn) bool {
	_, err := c.Write(nil)
	return err != nil
}

func TestAlive(t *testing.T) {
	ours, theirs := pair(t)
	if !fetch.Alive(ours) {
		t.Error("a new connection is not alive")
	}
	if !fetch.Alive(fetch.Meter(1000)(ours)) || !fetch.Alive(tls.Client(fetch.Meter(1000)(ours), &tls.Config{})) {
		t.Error("metered or with TLS it is not alive")
	}
	theirs.Write([]byte("HTTP/1.1 408 Request Timeout\r\n\r\n"))
	eventually(t, "a connection on which the server speaks unasked is alive", func() bool { return !fetch.Alive(ours) })
	ours, theirs = pair(t)
	theirs.Close()
	eventually(t, "a connection that the server closed is alive", func() bool { return !fetch.Alive(ours) })
	ours.Close()
	if fetch.Alive(ours) {
		t.Error("a connection that we closed is alive")
	}
}

func TestIdle(t *testing.T) {
	k := fetch.NewIdle(2, 3)
	var all []net.Conn
	for _, host := range []string{"a", "a", "a", "b", "c", "d"} {
		c, _ := pair(t)
		all = append(all, c)
		k.Put(c, host)
	}
	// The third of a is one too many for a; b makes three, c and d push out the
	// oldest.
	for i, want := range []bool{true, true, true, false, false, false} {
		if closed(all[i]) != want {
			t.Errorf("connection %d is closed: %v, want %v", i, !want, want)
		}
	}
	if k.Get("a") != nil || k.Get("b") != all[3] || k.Get("b") != nil {
		t.Error("got what was not kept, or twice")
	}
	k.Put(all[3], "c")
	if k.Get("c") != all[3] || k.Get("c") != all[4] {
		t.Error("of one host the last one put by is not the first")
	}
	k.Close()
	k.Put(all[3], "b")
	if !closed(all[5]) || !closed(all[3]) {
		t.Error("open after Close")
	}
}

func TestIdleExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := fetch.NewIdle(2, 3)
		defer k.Close()
		a, _ := pair(t)
		b, _ := pair(t)
		k.Put(a, "a")
		time.Sleep(20 * time.Second)
		k.Put(b, "b")
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if !closed(a) || closed(b) {
			t.Errorf("after 31 s and 11 s: closed %v and %v", closed(a), closed(b))
		}
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if !closed(b) {
			t.Error("open after 31 s")
		}
	})
}

// A server that takes a request on a kept connection and closes it without an
// answer may have done what was asked: the request is not sent again.
func TestOneRequestPerLease(t *testing.T) {
	var requests atomic.Int32
	url := listen(t, func(c net.Conn, _ <-chan struct{}) {
		in := bufio.NewReader(c)
		for n := 0; ; n++ {
			if _, err := http.ReadRequest(in); err != nil {
				return
			}
			requests.Add(1)
			if n == 1 {
				return
			}
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
		}
	})
	f := fetcher(t, fetch.Options{})
	wantPage(t, f.Fetch(t.Context(), lease(url+"/")), 200, "", "")
	wantPage(t, f.Fetch(t.Context(), lease(url+"/")), 0, "disconnect", "")
	if n := requests.Load(); n != 2 {
		t.Errorf("%d requests for two leases", n)
	}
	for range 3 { // each on a connection of its own, since the server is like that
		wantPage(t, f.Fetch(t.Context(), lease(url+"/")), 200, "", "")
	}
}

// HTTP/1.1 over TLS: connections are kept, and a new one resumes the session.
func TestTLSWithoutHTTP2(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/close" {
			w.Header().Set("Connection", "close")
		}
		fmt.Fprint(w, r.Proto, " ", r.TLS.DidResume, " ", r.RemoteAddr)
	}))
	s.Config.ErrorLog = discardLog
	s.StartTLS()
	t.Cleanup(s.Close)
	f := fetcher(t, fetch.Options{InsecureTLS: true})
	get := func(path string) (proto, resumed, from string) {
		t.Helper()
		p := f.Fetch(t.Context(), lease(s.URL+path))
		wantPage(t, p, 200, "", "")
		fmt.Sscan(string(p.Body), &proto, &resumed, &from)
		return proto, resumed, from
	}
	proto, resumed, first := get("/")
	if proto != "HTTP/1.1" || resumed != "false" {
		t.Errorf("first: %s, resumed %s", proto, resumed)
	}
	if _, _, again := get("/close"); again != first {
		t.Errorf("two connections for two requests: %s, %s", first, again)
	}
	if _, resumed, third := get("/"); resumed != "true" || third == first {
		t.Errorf("after Connection: close: resumed %s, from %s after %s", resumed, third, first)
	}
}
