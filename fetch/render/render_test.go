package render_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"octopus/fetch/render"
)

// browser returns the path of Chromium, or skips the test; in continuous
// integration its absence is a failure.
func browser(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("chromium is not installed; `make test` installs Debian's chromium")
		}
		t.Skip("chromium is not installed: apt-get install chromium")
	}
	return path
}

func dial(ctx context.Context, address string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", address)
}

// site serves files by path and counts requests.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	count map[string]int // guarded by mu
}

func serve(t testing.TB, files map[string]string) *site {
	s := &site{count: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.count[r.Method+" "+r.URL.Path]++
		s.mu.Unlock()
		body, ok := files[r.URL.Path]
		switch {
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		case strings.HasSuffix(r.URL.Path, ".js"):
			w.Header().Set("Content-Type", "text/javascript")
			w.Header().Set("Cache-Control", "max-age=3600")
		}
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s
}

// asked returns how often a path was asked for.
func (s *site) asked(request string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count[request]
}

// start returns a Renderer for the test. Its limits are generous: the machine
// may be busy.
func start(t testing.TB, opt render.Options) *render.Renderer {
	t.Helper()
	opt.Browser = browser(t)
	if opt.Dir == "" {
		opt.Dir = t.TempDir()
	}
	if opt.Dial == nil {
		opt.Dial = dial
	}
	if opt.Timeout == 0 {
		opt.Timeout = time.Minute
	}
	r, err := render.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func page(url, body string) render.Request {
	return render.Request{URL: url, Status: 200, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: []byte(body)}
}

func html(t testing.TB, r *render.Renderer, url, body string) string {
	t.Helper()
	res, err := r.Render(t.Context(), page(url, body))
	if err != nil {
		t.Fatal(err)
	}
	return string(res.HTML)
}

func wants(t testing.TB, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q is missing in %.2000s", w, text)
		}
	}
}

// long is text enough for a page to be done at once.
var long = prose(900)

// TestPages has all that one browser can show without special limits.
func TestPages(t *testing.T) {
	t.Parallel()
	r := start(t, render.Options{UserAgent: "octopus-test/1", Tabs: 4, Settle: 3 * time.Second})
	if r.Starts() != 0 {
		t.Error("a browser runs before a page needs it")
	}
	t.Run("scripts write the page", func(t *testing.T) { scriptsWriteThePage(t, r) })
	t.Run("pages share nothing but the cache", func(t *testing.T) { pagesShareNothing(t, r) })
	t.Run("odd pages", func(t *testing.T) { oddPages(t, r) })
	if r.Starts() != 1 {
		t.Errorf("%d browsers were started", r.Starts())
	}
}

func scriptsWriteThePage(t *testing.T, r *render.Renderer) {
	s := serve(t, map[string]string{
		"/app.js": `fetch("/data.json").then(r => r.json()).then(d => {
			document.title = d.title
			document.getElementById("root").innerHTML = "<h1>" + d.title + "</h1><p>" + d.text + "</p><a href='/next'>next</a><i>" + navigator.userAgent + "</i>"
			setTimeout(() => document.body.append("late words"), 50)
		})`,
		"/data.json": `{"title": "Hafen, 港口", "text": "` + long + `"}`,
		"/a.css":     `p { color: red }`, "/a.png": "", "/frame": "", "/a.woff2": "",
	})
	shell := `<html><head><link rel=stylesheet href=/a.css><link rel=icon href=/a.png></head><body><div id=root></div><img src=/a.png>
		<iframe src=/frame></iframe><script src=/app.js></script>`
	got := html(t, r, s.URL+"/page", shell)
	wants(t, got, "<h1>Hafen, 港口</h1>", "nobody expected the ferry", `href="/next"`, "octopus-test/1", "late words")
	for request, want := range map[string]int{"GET /page": 0, "GET /app.js": 1, "GET /data.json": 1, "GET /a.css": 0, "GET /a.png": 0, "GET /frame": 0} {
		if n := s.asked(request); n != want {
			t.Errorf("%s: asked %d times, want %d", request, n, want)
		}
	}
	// The second page of the host finds the script in the cache, and none of the
	// first one's cookies.
	html(t, r, s.URL+"/page2", shell)
	if n := s.asked("GET /app.js"); n != 1 {
		t.Errorf("the script was fetched %d times for two pages", n)
	}
}

func pagesShareNothing(t *testing.T, r *render.Renderer) {
	s := serve(t, nil)
	look := `<body><p>` + long + `</p><p id=x></p><script>
		document.getElementById("x").textContent = "cookie [" + document.cookie + "] storage [" + localStorage.getItem("k") + "]"
		document.cookie = "k=v; max-age=1000"; localStorage.setItem("k", "v")</script>`
	for range 2 {
		wants(t, html(t, r, s.URL+"/", look), "cookie [] storage [null]")
	}
}

func oddPages(t *testing.T, r *render.Renderer) {
	s := serve(t, map[string]string{"/other": "a page of its own"})
	for name, c := range map[string]struct{ body, want string }{
		"a dialog":              {`<script>alert(1); confirm(2); prompt(3); document.write("<b>after</b>")</script>`, "<b>after</b>"},
		"a way to another page": {`<script>location.href = "/other?a=1&b=2"</script>`, `content="0;url=` + s.URL + `/other?a=1&amp;b=2"`},
		"a reload":              {`<b>kept</b><script>location.reload()</script>`, "<b>kept</b>"},
		"a window":              {`<script>open("/other"); document.write("<b>still here</b>")</script>`, "<b>still here</b>"},
		"a shadow root":         {`<x-y></x-y><script>customElements.define("x-y", class extends HTMLElement { connectedCallback() { this.attachShadow({mode: "open"}).innerHTML = "<b>in the shadow</b>" } })</script>`, "<b>in the shadow</b>"},
		"a broken language":     {`<script>Array.prototype.map = JSON.stringify = Document.prototype.querySelectorAll = () => { throw 1 }; document.write("<b>whole</b>")</script>`, "<b>whole</b>"},
		"a throw":               {`<b>before</b><script>throw new Error("x")</script>`, "<b>before</b>"},
		"a download":            {`<a download href="data:text/plain,x">x</a><script>document.querySelector("a").click(); document.write("<b>no file</b>")</script>`, "<b>no file</b>"},
		"a script without end":  {`<b>there</b><script>setInterval(() => fetch("/other"), 100)</script>`, "<b>there</b>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wants(t, html(t, r, s.URL+"/", "<body><p>"+long+"</p>"+c.body), c.want, "nobody expected the ferry")
		})
	}
}

// TestNothingGoesRoundTheDialer has a page try every way out; a dialer that
// refuses all must see them all fail.
func TestNothingGoesRoundTheDialer(t *testing.T) {
	t.Parallel()
	s := serve(t, map[string]string{"/app.js": `document.write("loaded")`})
	refused := errors.New("refused")
	var mu sync.Mutex
	var dialed []string
	r := start(t, render.Options{Dial: func(_ context.Context, address string) (net.Conn, error) {
		mu.Lock()
		defer mu.Unlock()
		dialed = append(dialed, address)
		return nil, refused
	}})
	got := html(t, r, "http://site.test/", `<body><p>`+long+`</p><script src="`+s.URL+`/app.js"></script><script>
		fetch("`+s.URL+`/xhr"); new WebSocket("ws://`+s.Listener.Addr().String()+`/ws"); navigator.sendBeacon("`+s.URL+`/beacon")
		fetch("https://`+s.Listener.Addr().String()+`/tls"); new EventSource("`+s.URL+`/events"); fetch("file:///etc/passwd").then(r => r.text()).then(t => document.write(t))
		new Worker(URL.createObjectURL(new Blob(['fetch("`+s.URL+`/worker")'])))
		fetch("http://169.254.169.254/latest"); fetch("http://[::1]:80/"); new Image().src = "`+s.URL+`/img"</script>`)
	if strings.Contains(got, "loaded") || strings.Contains(got, "root:") {
		t.Errorf("something was loaded: %s", got)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.count) > 0 {
		t.Errorf("these requests got through: %v", s.count)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(dialed) == 0 {
		t.Error("the dialer was not asked")
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	files := map[string]string{"/big": strings.Repeat("x", 1<<20), "/ok": "ok"}
	s := serve(t, files)
	r := start(t, render.Options{MaxRequests: 5, MaxBytes: 300_000, MaxHTML: 50_000, Allow: func(url string) bool { return !strings.HasSuffix(url, "/forbidden") }})
	res, err := r.Render(t.Context(), page(s.URL+"/", `<body><p>`+long+`</p><script>for (let i = 0; i < 20; i++) fetch("/ok?" + i)</script>`))
	if err != nil || s.asked("GET /ok") != 5 {
		t.Errorf("%d requests, %v; want 5", s.asked("GET /ok"), err)
	}
	if res.Requests < 20 {
		t.Errorf("%d requests counted, want 20", res.Requests)
	}
	got := html(t, r, s.URL+"/", `<body><p>`+long+`</p><i>wait</i><script>fetch("/big").then(r => r.text()).then(t => document.querySelector("i").textContent = "whole", e => document.querySelector("i").textContent = "cut")</script>`)
	wants(t, got, "<i>cut</i>")
	html(t, r, s.URL+"/", `<body><p>`+long+`</p><script>fetch("/forbidden")</script>`)
	if s.asked("GET /forbidden") != 0 {
		t.Error("what Allow refuses was fetched")
	}
	got = html(t, r, s.URL+"/", `<body><script>document.body.append("y".repeat(100000))</script>`)
	if len(got) > 50_000 {
		t.Errorf("a document of %d characters, want 50000 at most", len(got))
	}
}
