package canon_test

import (
	"crypto/md5"
	"testing"

	"octopus"
	"octopus/canon"
)

// The drawing of octopus.Key, digest by digest.
func TestKey(t *testing.T) {
	u := mustParse(t, "https://news.example.co.uk:8443/a?b=c")
	var want octopus.Key
	site, host, text := md5.Sum([]byte("example.co.uk")), md5.Sum([]byte("news.example.co.uk")), md5.Sum([]byte(u.Text))
	copy(want[0:4], site[:])
	copy(want[4:8], host[:])
	copy(want[8:16], text[:])
	if u.Key != want {
		t.Errorf("key %s, want %s", u.Key, want)
	}
	if u.Host != "news.example.co.uk" || u.Site != "example.co.uk" {
		t.Errorf("host %q, site %q", u.Host, u.Site)
	}
}

func TestKeyOfRequest(t *testing.T) {
	u := mustParse(t, "http://example.com/form")
	if k := canon.Key(u, "", nil); k != u.Key {
		t.Errorf("empty method: %s, want %s", k, u.Key)
	}
	if k := canon.Key(u, "GET", []byte{}); k != u.Key {
		t.Errorf("GET: %s, want %s", k, u.Key)
	}
	seen := map[octopus.Key]string{u.Key: "GET"}
	for _, r := range []struct{ method, body string }{
		{"POST", ""}, {"POST", "a=1"}, {"POSTa", "=1"}, {"PUT", "a=1"}, {"GET", "a=1"}, {"HEAD", ""}, {"POST", "a=1\x00"}, {"POST\x00a", "=1"},
	} {
		k := canon.Key(u, r.method, []byte(r.body))
		if k.Host() != u.Key.Host() {
			t.Errorf("%v: host part %s, want %s", r, k.Host(), u.Key.Host())
		}
		if other, ok := seen[k]; ok {
			t.Errorf("%v has the key of %s", r, other)
		}
		seen[k] = r.method + " " + r.body
	}
	if canon.Key(u, "", []byte("x")) != canon.Key(u, "GET", []byte("x")) {
		t.Error("an empty method with a body is not GET")
	}
}

func TestKeysOfASiteAreAdjacent(t *testing.T) {
	a, b := mustParse(t, "http://a.example.com/"), mustParse(t, "https://b.example.com/x")
	dot, port := mustParse(t, "http://a.example.com./"), mustParse(t, "http://a.example.com:81/")
	if a.Key.Site() != b.Key.Site() || a.Key.Host() == b.Key.Host() {
		t.Errorf("keys %s and %s", a.Key, b.Key)
	}
	if dot.Key.Host() != a.Key.Host() || port.Key.Host() != a.Key.Host() || dot.Key == a.Key || port.Key == a.Key {
		t.Errorf("keys %s, with a dot %s, with a port %s", a.Key, dot.Key, port.Key)
	}
}

func TestSite(t *testing.T) {
	for host, want := range map[string]string{
		"www.example.com": "example.com", "example.com": "example.com", "com": "com", "a.b.co.uk": "b.co.uk",
		"co.uk": "co.uk", "octocat.github.io": "octocat.github.io", "x.octocat.github.io": "octocat.github.io",
		"localhost": "localhost", "a.b.localhost": "b.localhost", "db.intern": "db.intern", "127.0.0.1": "127.0.0.1",
		"::1": "::1", "a.xn--p1ai": "a.xn--p1ai", "b.a.xn--p1ai": "a.xn--p1ai", "a..b": "a..b", "": "",
		"x.city.kawasaki.jp": "city.kawasaki.jp", "a.b.c.kawasaki.jp": "b.c.kawasaki.jp",
	} {
		if got := canon.Site(host); got != want {
			t.Errorf("Site(%q) = %q, want %q", host, got, want)
		}
	}
}

func TestAuthority(t *testing.T) {
	for text, want := range map[string][4]string{
		"http://example.com/a?b":      {"http", "example.com:80", "example.com", "/a?b"},
		"https://example.com":         {"https", "example.com:443", "example.com", "/"},
		"http://example.com:8080/":    {"http", "example.com:8080", "example.com", "/"},
		"https://[2001:db8::1]/":      {"https", "[2001:db8::1]:443", "2001:db8::1", "/"},
		"https://[2001:db8::1]:81/":   {"https", "[2001:db8::1]:81", "2001:db8::1", "/"},
		"http://example.com.:81/?x:y": {"http", "example.com.:81", "example.com", "/?x:y"},
	} {
		u := mustParse(t, text)
		scheme, hostport := canon.Authority(u)
		if got := [4]string{scheme, hostport, u.Host, canon.Target(u)}; got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if s, h := canon.Authority(octopus.URL{}); s != "" || h != "" || canon.Target(octopus.URL{}) != "" {
		t.Errorf("zero URL: %q, %q", s, h)
	}
}
