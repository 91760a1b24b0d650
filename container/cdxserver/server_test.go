package cdxserver_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"octopus"
	"octopus/canon"
	"octopus/container"
	"octopus/container/cdxserver"
)

var start = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// archive serves a container with known pages.
func archive(t *testing.T, opt cdxserver.Options) *httptest.Server {
	t.Helper()
	c, err := container.Open(container.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	opt.TempDir = t.TempDir()
	h := cdxserver.New(c, opt)
	srv := httptest.NewServer(h)
	t.Cleanup(func() {
		srv.Close()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	putAt := func(text, body string, at time.Time, status int, header ...string) {
		u, err := canon.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		h := http.Header{"Content-Type": {"text/html"}}
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		_, err = c.Put(t.Context(), container.Entry{Page: &octopus.Page{Lease: octopus.Lease{Link: octopus.Link{URL: u}},
			Start: at, Status: status, Header: h, Body: []byte(body)}})
		if err != nil {
			t.Fatal(err)
		}
	}
	put := func(text, body string, day, status int, header ...string) {
		t.Helper()
		putAt(text, body, start.AddDate(0, 0, day), status, header...)
	}
	put("http://example.com/", "home", 0, 200)
	put("http://example.com/a/1", "one", 1, 200)
	put("http://example.com/a/1", "one, again", 5, 200, "Set-Cookie", "id=7")
	put("http://example.com/a/1", "one, again", 9, 200)
	put("http://example.com/ab", "moved", 2, 302, "Location", "/a/1")
	put("http://sub.example.com/x?q=http://y/", "below", 3, 200, "Content-Type", "text/plain")
	put("http://example.org/", "other", 4, 404)
	put("http://examples.com/", "alike", 4, 200)
	put("https://s.test/", "secure", 1, 200)
	put("http://www.s.test/", "to https", 2, 301, "Location", "https://s.test/")
	put("https://s.test/", "secure, again", 3, 200)
	putAt("http://w.test/ms", "second 1", start.Add(1900*time.Millisecond), 200)
	putAt("http://w.test/ms", "second 2", start.Add(2600*time.Millisecond), 200)
	putAt("http://w.test/ms", "second 3", start.Add(3100*time.Millisecond), 200)
	return srv
}

func fetch(t *testing.T, address string) (int, http.Header, string) {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(body)
}

func TestCDX(t *testing.T) {
	srv := archive(t, cdxserver.Options{})
	for _, tc := range []struct{ query, want string }{ // want: day and URL without "http://"
		{"url=example.com/a/1", "1 example.com/a/1, 5 example.com/a/1, 9 example.com/a/1"},
		{"url=http://example.com/nothing", ""},
		{"url=example.com/a/1&limit=2", "1 example.com/a/1, 5 example.com/a/1"},
		{"url=example.com/a/1&sort=reverse&limit=1", "9 example.com/a/1"},
		{"url=example.com/a/1&sort=closest&closest=20260706", "5 example.com/a/1, 1 example.com/a/1, 9 example.com/a/1"},
		{"url=example.com/a/1&closest=202607&limit=1", "9 example.com/a/1"},
		{"url=w.test/ms&closest=20260701120002&from=20260701120002&to=20260701120002", "0 w.test/ms"},
		{"url=example.com/a/1&from=20260703&to=20260706", "5 example.com/a/1"},
		{"url=example.com/a/1&to=202607", "1 example.com/a/1, 5 example.com/a/1, 9 example.com/a/1"},
		{"url=example.com/a/1&filter=mime:revisit", "9 example.com/a/1"},
		{"url=example.com/a/1&filter=!mime:revisit&from=2026070312", "5 example.com/a/1"},
		{"url=example.com/a*", "1 example.com/a/1, 5 example.com/a/1, 9 example.com/a/1, 2 example.com/ab"},
		{"url=example.com/a/&matchType=prefix", "1 example.com/a/1, 5 example.com/a/1, 9 example.com/a/1"},
		{"url=example.com/a/zz&matchType=host&filter=~status:[23].2", "2 example.com/ab"},
		{"url=*.example.com&filter==mime:text/plain", "3 sub.example.com/x?q=http://y/"},
		{"url=example.com&matchType=domain&filter=!url:/a", "0 example.com/, 3 sub.example.com/x?q=http://y/"},
		{"url=*&filter==status:404", "4 example.org/"},
		{"url=*&limit=1&sort=reverse", "0 w.test/ms"},
		{"url=s.test", "1 https://s.test/, 2 www.s.test/, 3 https://s.test/"},
		{"url=http://s.test/", "1 https://s.test/, 2 www.s.test/, 3 https://s.test/"},
		{"url=https://www.S.test", "1 https://s.test/, 2 www.s.test/, 3 https://s.test/"},
		{"url=s.test/*", "1 https://s.test/, 2 www.s.test/, 3 https://s.test/"},
		{"url=https://s.test:8443/", ""},
		{"url=https://example.com/a/1/", "1 example.com/a/1, 5 example.com/a/1, 9 example.com/a/1"},
		{"url=sub.example.com/x/?q=http://y/", "3 sub.example.com/x?q=http://y/"},
		{"url=sub.example.com/x?q=http://y/", "3 sub.example.com/x?q=http://y/"},
	} {
		code, _, body := fetch(t, srv.URL+"/cdx?output=json&fl=timestamp,url&"+escape(tc.query))
		if code != 200 {
			t.Errorf("%s: %d %s", tc.query, code, body)
			continue
		}
		var got []string
		for line := range strings.Lines(body) {
			var v map[string]string
			if err := json.Unmarshal([]byte(line), &v); err != nil || len(v) != 2 {
				t.Fatalf("%s: %q: %v", tc.query, line, err)
			}
			at, err := time.Parse("20060102150405", v["timestamp"])
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%d %s", int(at.Sub(start).Hours()/24), strings.TrimPrefix(v["url"], "http://")))
		}
		if g := strings.Join(got, ", "); g != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.query, g, tc.want)
		}
	}
}

// escape escapes the values of a readable query.
func escape(query string) string {
	v := url.Values{}
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		v.Add(name, value)
	}
	return v.Encode()
}

func TestCDXText(t *testing.T) {
	srv := archive(t, cdxserver.Options{})
	if _, _, body := fetch(t, srv.URL+"/cdx?url=example.com"); !strings.HasPrefix(body, "com,example)/ 20260701120000 {\"url\":\"http://example.com/\"") {
		t.Errorf("CDXJ: %q", body)
	}
	all := "com,example)/ 20260701120000 http://example.com/ text/html 200"
	for query, want := range map[string]string{
		"fl=urlkey,status":                  "com,example)/ 200\n",
		"fields=urlkey,statuscode":          "com,example)/ 200\n",
		"fl=original,mimetype":              "http://example.com/ text/html\n",
		"fl=original&output=json":           `{"url": "http://example.com/"}` + "\n",
		"fl=status&filter==statuscode:200":  "200\n",
		"fl=status&filter=~status:2":        "200\n", // from the beginning
		"fl=status&filter=~status:0":        "",
		"fl=status,mime&filter=!~mime:html": "200 text/html\n",
	} {
		if _, _, body := fetch(t, srv.URL+"/cdx?url=example.com&"+query); body != want {
			t.Errorf("%s: %q", query, body)
		}
	}
	if _, _, body := fetch(t, srv.URL+"/cdx?url=example.com&output=text"); !strings.HasPrefix(body, all) || strings.Count(body, " ") != 8 {
		t.Errorf("text: %q", body)
	}
}

func TestCDXRefuses(t *testing.T) {
	srv := archive(t, cdxserver.Options{SortLimit: 2})
	for _, query := range []string{"", "url=", "url=a&limit=0", "url=a&limit=x", "url=a&sort=up", "url=a&sort=closest", "url=a&from=July", "url=a&closest=July",
		"url=a&fl=nothing", "url=a&fields=urlkey,", "url=a&output=link", "url=a&output=bogus", "url=a&filter=nothing:x", "url=a&filter=status", "url=a&filter=~url:(", "url=a&matchType=range", "url=ftp://a/",
		"url=*&sort=reverse"} {
		if code, _, body := fetch(t, srv.URL+"/cdx?"+escape(query)); code != 400 || body == "" {
			t.Errorf("%s: %d %q", query, code, body)
		}
	}
	for _, name := range []string{"page", "pageSize", "showNumPages", "resolveRevisits", "Limit"} {
		if code, _, body := fetch(t, srv.URL+"/cdx?url=a&"+name+"=1"); code != 400 || !strings.Contains(body, `"`+name+`"`) {
			t.Errorf("%s: %d %q", name, code, body)
		}
	}
	resp, err := http.Post(srv.URL+"/cdx?url=a", "text/plain", nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body.Close(); resp.StatusCode != 405 {
		t.Errorf("POST: %d", resp.StatusCode)
	}
}

func TestWeb(t *testing.T) {
	srv := archive(t, cdxserver.Options{})
	for _, tc := range []struct {
		path string
		code int
		body string
	}{
		{"/web/id_/http://example.com/a/1", 200, "one, again"},
		{"/web/20260702id_/http://example.com/a/1", 200, "one"},
		{"/web/2020id_/http://example.com/a/1", 200, "one"},
		{"/web/20260706120000id_/http://example.com/a/1", 200, "one, again"},
		{"/web/20260704120000id_/http://sub.example.com/x?q=http://y/", 200, "below"},
		{"/web/id_/http://example.org/", 404, "other"},
		{"/web/2020id_/s.test", 200, "secure"},
		{"/web/20260703id_/s.test", 301, "to https"},
		{"/web/id_/s.test", 200, "secure, again"},
		{"/web/20260701120001id_/http://w.test/ms", 200, "second 1"},
		{"/web/20260701120002id_/http://w.test/ms", 200, "second 2"},
		{"/web/20260701120003id_/http://w.test/ms", 200, "second 3"},
		{"/web/202607011200id_/http://w.test/ms", 200, "second 3"},
		{"/web/2026070112id_/http://w.test/ms", 200, "second 3"},
		{"/web/2026id_/http://example.com/a/1", 200, "one, again"},
		{"/web/20261301id_/http://example.com/a/1", 400, ""},
		{"/web/id_/https://s.test/", 200, "secure, again"},
		{"/web/id_/http://s.test/", 404, ""},
		{"/web/2020id_/sub.example.com/x?q=http://y/", 200, "below"},
		{"/web/id_/http://example.net/", 404, "http://example.net/: not in the archive\n"},
		{"/web/20260702/http://example.com/a/1", 400, ""},
		{"/web/July_id_/http://example.com/a/1", 400, ""},
		{"/web/id_/file:///etc/passwd", 400, ""},
		{"/other", 404, ""},
	} {
		if code, _, body := fetch(t, srv.URL+tc.path); code != tc.code || tc.body != "" && body != tc.body {
			t.Errorf("%s: %d %q", tc.path, code, body)
		}
	}
	code, h, _ := fetch(t, srv.URL+"/web/id_/http://example.com/ab")
	if code != 302 || h.Get("Location") != "/web/20260703120000id_/http://example.com/a/1" {
		t.Errorf("redirect: %d to %q", code, h.Get("Location"))
	}
	_, h, _ = fetch(t, srv.URL+"/web/20260706id_/http://example.com/a/1")
	if h.Get("Set-Cookie") != "" || h.Get("X-Archive-Orig-Set-Cookie") != "id=7" || h.Get("Memento-Datetime") != "Mon, 06 Jul 2026 12:00:00 GMT" {
		t.Errorf("header: %v", h)
	}
	if !slices.Contains(h["Content-Security-Policy"], "sandbox") {
		t.Error("scripts of archived pages run")
	}
}

// TestLocal refuses requests for another host: a name that was made to point here.
func TestLocal(t *testing.T) {
	srv := archive(t, cdxserver.Options{Local: true})
	for host, want := range map[string]int{
		"": 200, "localhost": 200, "LOCALHOST:8070": 200, "127.0.0.2:99": 200, "[::1]:8070": 200, "[::1]": 200, "[::ffff:127.0.0.1]": 200,
		"evil.example": 421, "evil.example:8070": 421, "127.0.0.1.evil.example": 421, "192.0.2.1": 421, "localhost.evil.example": 421,
	} {
		req, err := http.NewRequest("GET", srv.URL+"/cdx?url=http://example.com/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("Host %q: status %d, want %d", host, res.StatusCode, want)
		}
	}
}
