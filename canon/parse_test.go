package canon_test

import (
	"errors"
	"strings"
	"testing"

	"octopus"
	"octopus/canon"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"http://example.com":                       "http://example.com/",
		"http://example.com?a=b":                   "http://example.com/?a=b",
		"  HTTP://EXAMPLE.com:80/../a/./b#frag\n":  "http://example.com/a/b",
		"https://example.com:443/":                 "https://example.com/",
		"https://example.com:80/":                  "https://example.com:80/",
		"http://user:secret@example.com/x":         "http://example.com/x",
		"http:\\\\example.com\\a\\b":               "http://example.com/a/b",
		"http://münchen.de/straße?q=ü":             "http://xn--mnchen-3ya.de/stra%C3%9Fe?q=%C3%BC",
		"http://127.0.0.1:8080/a":                  "http://127.0.0.1:8080/a", // the fast path; the next two are not
		"http://127.0.0.01/":                       "http://127.0.0.1/",
		"http://127.0.0.1./":                       "http://127.0.0.1/",
		"http://0x7f.1/":                           "http://127.0.0.1/",
		"http://2130706433/":                       "http://127.0.0.1/",
		"http://[::0001]/":                         "http://[::1]/",
		"http://ex\tample.com/a\nb":                "http://example.com/ab",
		"http://example.com/a b\"<>`{}":            "http://example.com/a%20b%22%3C%3E%60%7B%7D",
		"http://example.com/?a b\"<>'":             "http://example.com/?a%20b%22%3C%3E%27",
		"http://example.com/%7e%41%zz":             "http://example.com/%7e%41%zz",
		"http://example.com/%2e%2E/x/%2e":          "http://example.com/x/",
		"http://example.com/.well-known/x":         "http://example.com/.well-known/x",
		"http://example.com/a//b/":                 "http://example.com/a//b/",
		"http://example.com/?":                     "http://example.com/?",
		"http://example.com:8080/x?y=1&z=2#f?g":    "http://example.com:8080/x?y=1&z=2",
		"http://example.com./":                     "http://example.com./",
		"http://under_score.example.com/a|b[c]":    "http://under_score.example.com/a|b[c]",
		"http:example.com/x":                       "http://example.com/x",
		"http://///example.com/x":                  "http://example.com/x",
		"http://xn--a/":                            "http://xn--a/",
		"http://XN--mnchen-3ya.de/":                "http://xn--mnchen-3ya.de/",
		"http://example.com/?q=http://a.b/c?d#e#f": "http://example.com/?q=http://a.b/c?d",
	} {
		u, err := canon.Parse(in)
		if err != nil || u.Text != want {
			t.Errorf("Parse(%q) = %q, %v; want %q", in, u.Text, err, want)
			continue
		}
		if again, err := canon.Parse(u.Text); err != nil || again != u {
			t.Errorf("Parse(%q) = %+v, %v; want itself, %+v", u.Text, again, err, u)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for in, want := range map[string]error{
		"mailto:a@b.c":             canon.ErrScheme,
		"javascript:void(0)":       canon.ErrScheme,
		"ftp://example.com/":       canon.ErrScheme,
		"file:///etc/passwd":       canon.ErrScheme,
		"data:text/html,x":         canon.ErrScheme,
		"example.com/x":            canon.ErrNoBase,
		"/x":                       canon.ErrNoBase,
		"//example.com/x":          canon.ErrNoBase,
		"":                         canon.ErrNoBase,
		"http://":                  nil,
		"http:///":                 nil,
		"http://a b/":              nil,
		"http://[::1/":             nil,
		"http://256.256.256.256/":  nil,
		"http://example.com:99999": nil,
		"http://example.com:8o/":   nil,
		"http://%zz/":              nil,
		"http://a%2fb/":            nil,
		"http://" + strings.Repeat("@", 8000) + "h/":                canon.ErrOdd,
		"http://example.com/" + strings.Repeat("\\", 8000):          canon.ErrOdd,
		"http://example.com/" + strings.Repeat("a", canon.MaxLen):   canon.ErrLength,
		"http://example.com/" + strings.Repeat("ü", canon.MaxLen/4): canon.ErrLength,
	} {
		u, err := canon.Parse(in)
		var ce *canon.Error
		if !errors.As(err, &ce) || ce.Input != in || want != nil && !errors.Is(err, want) || !u.IsZero() {
			t.Errorf("Parse(%.60q) = %.60q, %.200v; want an Error of %v", in, u.Text, err, want)
		} else if len(err.Error()) > 600 {
			t.Errorf("Parse(%.60q): the error has %d bytes", in, len(err.Error()))
		}
	}
}

// References of RFC 3986, section 5.4, and what pages hold besides.
func TestResolve(t *testing.T) {
	base := mustParse(t, "http://a.example/b/c/d;p?q")
	for ref, want := range map[string]string{
		"g": "http://a.example/b/c/g", "./g": "http://a.example/b/c/g", "g/": "http://a.example/b/c/g/",
		"/g": "http://a.example/g", "//g": "http://g/", "?y": "http://a.example/b/c/d;p?y",
		"g?y": "http://a.example/b/c/g?y", "#s": "http://a.example/b/c/d;p?q", "g#s": "http://a.example/b/c/g",
		"g?y#s": "http://a.example/b/c/g?y", ";x": "http://a.example/b/c/;x", "": "http://a.example/b/c/d;p?q",
		".": "http://a.example/b/c/", "./": "http://a.example/b/c/", "..": "http://a.example/b/",
		"../": "http://a.example/b/", "../g": "http://a.example/b/g", "../..": "http://a.example/",
		"../../": "http://a.example/", "../../g": "http://a.example/g", "../../../g": "http://a.example/g",
		"/./g": "http://a.example/g", "/../g": "http://a.example/g", "g.": "http://a.example/b/c/g.",
		"..g": "http://a.example/b/c/..g", "./../g": "http://a.example/b/g", "./g/.": "http://a.example/b/c/g/",
		"g/../h": "http://a.example/b/c/h", "g;x=1/../y": "http://a.example/b/c/y", "%2e%2e/g": "http://a.example/b/g",
		"g?y/../x": "http://a.example/b/c/g?y/../x", "http:g": "http://a.example/b/c/g",
		"//h.example:8080?x": "http://h.example:8080/?x", " /g\t": "http://a.example/g", "a:b/../c": "",
		"\\g": "http://a.example/g", "日本": "http://a.example/b/c/%E6%97%A5%E6%9C%AC", "./a:b": "http://a.example/b/c/a:b",
	} {
		u, err := canon.Resolve(base, ref)
		if want == "" {
			if !errors.Is(err, canon.ErrScheme) {
				t.Errorf("Resolve(%q) = %q, %v; want ErrScheme", ref, u.Text, err)
			}
		} else if err != nil || u != mustParse(t, want) {
			t.Errorf("Resolve(%q) = %+v, %v; want %s", ref, u, err, want)
		}
	}
}

// Punycode that is none is taken in a base as well.
func TestResolveOnLenientHost(t *testing.T) {
	base := mustParse(t, "http://xn--a.example/b")
	for ref, want := range map[string]string{
		"ü": "http://xn--a.example/%C3%BC", "//placeholder/ü": "http://placeholder/%C3%BC",
		"//XN--%62/ü": "http://xn--b/%C3%BC", "//ü.example": "http://xn--tda.example/",
	} {
		if u, err := canon.Resolve(base, ref); err != nil || u.Text != want {
			t.Errorf("%q: %q, %v; want %q", ref, u.Text, err, want)
		}
	}
	if u, err := canon.Resolve(base, "//xn--a.1/"); err == nil {
		t.Errorf("a host that ends in a number is taken: %q", u.Text)
	}
}

// The limits hold for the result, so that it can be parsed again.
func TestResolveOnLongBase(t *testing.T) {
	base := mustParse(t, "http://xn--a.example/"+strings.Repeat("x/", 1000))
	for ref, want := range map[string]error{
		"/ü/x": nil, strings.Repeat("../", 1000) + "ok?" + strings.Repeat("/@", 2000): nil,
		strings.Repeat("y/", 100): canon.ErrOdd, strings.Repeat("ü/", 100): canon.ErrOdd,
		strings.Repeat("@", 17): canon.ErrOdd, strings.Repeat("a", 7000): canon.ErrLength,
	} {
		if _, err := canon.Resolve(base, ref); !errors.Is(err, want) {
			t.Errorf("%.40q: %.100v, want %v", ref, err, want)
		}
	}
}

// The text of a result must not keep a page's HTML alive.
func TestResultIsACopy(t *testing.T) {
	page := []byte("http://example.com/abc")
	ref := string(page)
	n := testing.AllocsPerRun(100, func() { canon.Parse(ref) })
	if n < 1 {
		t.Errorf("Parse made %v allocations: the result shares memory with its input", n)
	}
}

func TestBaseManyHosts(t *testing.T) {
	b := canon.NewBase(mustParse(t, "https://www.example.co.uk/x"))
	for range 2 {
		for i := range 600 {
			ref := "//h" + strings.Repeat("x", i%50) + string(rune('a'+i%26)) + ".example.org/y"
			u, err := b.Resolve(ref)
			if err != nil || u != mustParse(t, "https:"+ref) {
				t.Fatalf("Resolve(%q) = %+v, %v", ref, u, err)
			}
		}
	}
}

func mustParse(t testing.TB, text string) octopus.URL {
	t.Helper()
	u, err := canon.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
