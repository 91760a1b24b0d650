package fetch_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"octopus/fetch"
)

// quick are time limits a test can wait for.
var quick = fetch.Options{
	Timeout: 400 * time.Millisecond, RobotsTimeout: 400 * time.Millisecond, ConnectTimeout: 200 * time.Millisecond,
	TLSTimeout: 100 * time.Millisecond, HeaderTimeout: 100 * time.Millisecond, IdleTimeout: 100 * time.Millisecond,
	FloorAfter: 150 * time.Millisecond, MaxBody: 100_000, MaxHeader: 8 << 10,
}

// ok begins an answer; who writes it closes the connection afterwards.
const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n"

// Every animal costs at most its budget, and is called by its name.
func TestHostileServers(t *testing.T) {
	silence := func(_ net.Conn, stop <-chan struct{}) { <-stop }
	ms := time.Millisecond
	for _, c := range []struct {
		name      string
		serve     func(net.Conn, <-chan struct{})
		status    int
		kind      string
		truncated string
		body      string // beginning of the body
	}{
		{"never answers", silence, 0, "timeout", "", ""},
		{"headers drip", drip("HTTP/1.1 200 OK\r\nX: ", "x", 20*ms), 0, "timeout", "", ""},
		{"status line drips", drip("HTTP/1.1 200 ", "x", 20*ms), 0, "timeout", "", ""},
		{"endless headers", drip("HTTP/1.1 200 OK\r\n", strings.Repeat("A: bbbbbbbbbb\r\n", 100), 0), 0, "too-large", "", ""},
		{"one endless header", drip("HTTP/1.1 200 OK\r\nA: ", strings.Repeat("x", 1000), 0), 0, "too-large", "", ""},
		{"endless 1xx", drip("", strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", 50), 0), 0, "too-large", "", ""},
		{"body stalls", drip(ok+"\r\nhello", "", time.Hour), 200, "timeout", "time", "hello"},
		{"body drips", drip(ok+"\r\nhello", "x", 20*ms), 200, "timeout", "time", "hellox"},
		{"chunks drip", drip(ok+"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "1\r\nx\r\n", 20*ms), 200, "timeout", "time", "hellox"},
		{"endless body", drip(ok+"\r\n", strings.Repeat("y", 10_000), 0), 200, "", "length", "yyy"},
		{"endless chunks", drip(ok+"Transfer-Encoding: chunked\r\n\r\n", "2710\r\n"+strings.Repeat("y", 10_000)+"\r\n", 0), 200, "", "length", "yyy"},
		{"endless chunk extension", drip(ok+"Transfer-Encoding: chunked\r\n\r\n5;", strings.Repeat("x", 1000), 0), 200, "protocol", "disconnect", ""},
		{"bad chunk", say(ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n"), 200, "protocol", "disconnect", "hello"},
		{"chunk breaks off", say(ok + "Transfer-Encoding: chunked\r\n\r\nff\r\nhello"), 200, "disconnect", "disconnect", "hello"},
		{"no last chunk", say(ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"), 200, "disconnect", "disconnect", "hello"},
		{"body breaks off", say(ok + "Content-Length: 100\r\n\r\nhello"), 200, "disconnect", "disconnect", "hello"},
		{"huge length, small body", say(ok + "Content-Length: 9999999999\r\n\r\nhello"), 200, "disconnect", "disconnect", "hello"},
		{"two lengths", say(ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"), 0, "protocol", "", ""},
		{"negative length", say(ok + "Content-Length: -5\r\n\r\nhello"), 0, "protocol", "", ""},
		{"length not a number", say(ok + "Content-Length: 5x\r\n\r\nhello"), 0, "protocol", "", ""},
		{"length and chunks", say(ok + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), 200, "", "", "hello"},
		{"odd transfer encoding", say(ok + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), 0, "protocol", "", ""},
		{"garbage", say("\x00\x01\x02 no HTTP at all\r\n\r\n"), 0, "protocol", "", ""},
		{"SSH", say("SSH-2.0-OpenSSH_9.2\r\n\r\n"), 0, "protocol", "", ""},
		{"status too small", say("HTTP/1.1 20 OK\r\n\r\n"), 0, "protocol", "", ""},
		{"control character in a header", say(ok + "X-A: a\x00b\r\nContent-Length: 0\r\n\r\n"), 0, "protocol", "", ""},
		{"control character in Location", say("HTTP/1.1 302 Found\r\nLocation: /a\x01b\r\n\r\n"), 0, "protocol", "", ""},
		{"header line without colon", say(ok + "nonsense\r\n\r\n"), 0, "protocol", "", ""},
		{"closes at once", say(""), 0, "disconnect", "", ""},
		{"closes in the headers", say("HTTP/1.1 200 OK\r\nContent-Type: te"), 0, "disconnect", "", ""},
		{"two codings", say(ok + "Content-Encoding: gzip, gzip\r\nContent-Length: 2\r\n\r\nxx"), 200, "protocol", "", ""},
		{"two coding fields", say(ok + "Content-Encoding: gzip\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\nxx"), 200, "protocol", "", ""},
		{"not gzip", say(ok + "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello"), 200, "protocol", "disconnect", ""},
		{"not zstd", say(ok + "Content-Encoding: zstd\r\nContent-Length: 5\r\n\r\nhello"), 200, "protocol", "disconnect", ""},
		{"not br", say(ok + "Content-Encoding: br\r\nContent-Length: 5\r\n\r\n\xff\xff\xff\xff\xff"), 200, "protocol", "disconnect", ""},
		{"unknown coding", say(ok + "Content-Encoding: utf-8\r\nContent-Length: 5\r\n\r\nhello"), 200, "", "", "hello"},
		{"no length, closed", say(ok + "\r\nhello"), 200, "", "", "hello"},
		{"HTTP/1.0", say("HTTP/1.0 200 OK\r\n\r\nhello"), 200, "", "", "hello"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := fetcher(t, quick).Fetch(t.Context(), lease(raw(t, c.serve)+"/"))
			wantPage(t, p, c.status, c.kind, c.truncated)
			if !strings.HasPrefix(string(p.Body), c.body) || c.body == "" && len(p.Body) > 0 {
				t.Errorf("body %.40q, want %q", p.Body, c.body)
			}
			if c.truncated == "length" && int64(len(p.Body)) != quick.MaxBody {
				t.Errorf("cut at %d bytes, want %d", len(p.Body), quick.MaxBody)
			}
			if took := p.End.Sub(p.Start); took > 2*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// A header flood below the byte limit keeps 256 fields, the needed ones among
// them.
func TestHeaderFields(t *testing.T) {
	var text strings.Builder
	text.WriteString("HTTP/1.1 302 Found\r\n")
	for i := range 2000 {
		fmt.Fprintf(&text, "A%d: b\r\nSet-Cookie: c%d\r\n", i, i)
	}
	text.WriteString("Location: /there\r\nContent-Length: 0\r\n\r\n")
	p := fetcher(t, fetch.Options{}).Fetch(t.Context(), lease(raw(t, say(text.String()))+"/"))
	wantPage(t, p, 302, "", "")
	n := 0
	for _, values := range p.Header {
		n += len(values)
	}
	if n != 256 || p.Location != "/there" {
		t.Errorf("%d fields, Location %q; want 256 and /there", n, p.Location)
	}
}

func TestConnectErrors(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	l.Close()
	f := fetcher(t, quick)
	for url, kind := range map[string]string{
		"http://" + closed + "/":  "connect",
		"https://" + closed + "/": "connect",
		"http://absent.test/":     "no-host",
		"ftp://site.test/":        "other",
		"file:///etc/passwd":      "other",
		"http:///x":               "other",
		"http://site.test/a b":    "other",
		"http://site.test/a\r\nb": "other",
	} {
		wantPage(t, f.Fetch(t.Context(), lease(url)), 0, kind, "")
		wantPage(t, f.Fetch(t.Context(), robots(url)), 0, kind, "")
	}
}

func TestCancel(t *testing.T) {
	f := fetcher(t, fetch.Options{})
	ctx, cancel := context.WithCancelCause(t.Context())
	url := raw(t, func(c net.Conn, stop <-chan struct{}) {
		c.Write([]byte(ok + "\r\nhello"))
		cancel(errors.New("the disk is full"))
		<-stop
	})
	p := f.Fetch(ctx, lease(url+"/"))
	if p.Err == nil || p.Err.Kind.String() != "canceled" {
		t.Fatalf("got %v", p.Err)
	}
	wantPage(t, f.Fetch(ctx, lease(url+"/")), 0, "canceled", "")
}

// certificate makes a certificate signed by itself.
func certificate(t *testing.T, host string, until time.Time) (tls.Certificate, *x509.Certificate) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{host}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: until.Add(-24 * time.Hour), NotAfter: until, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, parsed
}

// secure starts an HTTPS server, HTTP/2 included, and returns its URL under
// site.test and a pool that trusts its certificate.
func secure(t *testing.T, config *tls.Config, h http.HandlerFunc) (string, *x509.CertPool) {
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = discardLog
	s.EnableHTTP2 = true
	s.TLS = config
	pool := x509.NewCertPool()
	if len(config.Certificates) > 0 {
		parsed, err := x509.ParseCertificate(config.Certificates[0].Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		pool.AddCert(parsed)
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	return "https://site.test:" + port, pool
}

func TestTLS(t *testing.T) {
	hello := func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) }
	good, _ := certificate(t, "site.test", time.Now().Add(time.Hour))
	expired, _ := certificate(t, "site.test", time.Now().Add(-time.Hour))
	other, _ := certificate(t, "other.test", time.Now().Add(time.Hour))
	for _, c := range []struct {
		name   string
		config *tls.Config
		trust  bool
		kind   string
	}{
		{"trusted", &tls.Config{Certificates: []tls.Certificate{good}}, true, ""},
		{"self-signed", &tls.Config{Certificates: []tls.Certificate{good}}, false, "tls"},
		{"expired", &tls.Config{Certificates: []tls.Certificate{expired}}, true, "tls"},
		{"other host", &tls.Config{Certificates: []tls.Certificate{other}}, true, "tls"},
		{"TLS 1.1", &tls.Config{Certificates: []tls.Certificate{good}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, true, "tls"},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, pool := secure(t, c.config, hello)
			opt := fetch.Options{}
			if c.trust {
				opt.RootCAs = pool
			}
			p := fetcher(t, opt).Fetch(t.Context(), lease(url+"/"))
			if c.kind != "" {
				wantPage(t, p, 0, c.kind, "")
				p = fetcher(t, fetch.Options{InsecureTLS: true}).Fetch(t.Context(), lease(url+"/"))
				if insecure := p.Err == nil; insecure == (c.name == "TLS 1.1") {
					t.Errorf("insecure on request: %v", p.Err)
				}
				return
			}
			wantPage(t, p, 200, "", "")
			if string(p.Body) != "HTTP/2.0" || p.Proto != "HTTP/2.0" || p.IP.String() != "127.0.0.1" {
				t.Errorf("body %q, proto %s, IP %v", p.Body, p.Proto, p.IP)
			}
		})
	}
	t.Run("handshake stalls", func(t *testing.T) {
		url := listen(t, func(_ net.Conn, stop <-chan struct{}) { <-stop })
		p := fetcher(t, quick).Fetch(t.Context(), lease(strings.Replace(url, "http:", "https:", 1)+"/"))
		wantPage(t, p, 0, "timeout", "")
	})
	t.Run("handshake breaks off", func(t *testing.T) {
		url := listen(t, func(c net.Conn, _ <-chan struct{}) { c.Read(make([]byte, 100)) })
		p := fetcher(t, quick).Fetch(t.Context(), lease(strings.Replace(url, "http:", "https:", 1)+"/"))
		wantPage(t, p, 0, "connect", "")
	})
	t.Run("plain HTTP on the port", func(t *testing.T) {
		url := listen(t, say("HTTP/1.1 400 Bad Request\r\n\r\n"))
		p := fetcher(t, quick).Fetch(t.Context(), lease(strings.Replace(url, "http:", "https:", 1)+"/"))
		wantPage(t, p, 0, "tls", "")
	})
}

// TestSessionTickets: a second connection to a host resumes the session of the
// first, which saves the dear half of a handshake.
func TestSessionTickets(t *testing.T) {
	cert, _ := certificate(t, "site.test", time.Now().Add(time.Hour))
	url, pool := secure(t, &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"http/1.1"}}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		fmt.Fprint(w, r.TLS.DidResume)
	})
	f := fetcher(t, fetch.Options{RootCAs: pool})
	for _, want := range []string{"false", "true", "true"} {
		if p := f.Fetch(t.Context(), lease(url+"/")); string(p.Body) != want {
			t.Errorf("resumed %s, want %s; %v", p.Body, want, p.Err)
		}
	}
}

func TestHTTP2(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789"), 30_000)
	cert, _ := certificate(t, "site.test", time.Now().Add(time.Hour))
	url, pool := secure(t, &tls.Config{Certificates: []tls.Certificate{cert}}, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/big":
			w.Write(body)
		case "/break":
			w.Write(body[:10])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case "/stall":
			w.Write(body[:10])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "/headers":
			for i := range 1000 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 50))
			}
		}
		fmt.Fprint(w, r.RemoteAddr)
	})
	opt := quick
	opt.RootCAs, opt.MaxBody = pool, 1<<20
	f := fetcher(t, opt)
	first := f.Fetch(t.Context(), lease(url+"/"))
	if again := f.Fetch(t.Context(), lease(url+"/")); string(again.Body) != string(first.Body) || again.IP != first.IP {
		t.Errorf("two connections for two requests: %s, %s", first.Body, again.Body)
	}
	if p := f.Fetch(t.Context(), lease(url+"/big")); !bytes.HasPrefix(p.Body, body) {
		t.Errorf("a large body is not what was sent: %v", p.Err)
	}
	wantPage(t, f.Fetch(t.Context(), lease(url+"/break")), 200, "disconnect", "disconnect")
	wantPage(t, f.Fetch(t.Context(), lease(url+"/stall")), 200, "timeout", "time")
	wantPage(t, f.Fetch(t.Context(), lease(url+"/headers")), 0, "protocol", "")
	if p := f.Fetch(t.Context(), lease(url+"//a//b?q=x")); p.Status != 200 {
		t.Errorf("an odd path over HTTP/2: %v", p.Err)
	}
	opt.ConnsPerHost = 1
	if p := fetcher(t, opt).Fetch(t.Context(), lease(url+"/")); p.Proto != "HTTP/1.1" {
		t.Errorf("%s for one request at once; %v", p.Proto, p.Err)
	}
}
