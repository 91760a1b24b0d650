package canon_test

import (
	"errors"
	"testing"

	"octopus"
	"octopus/canon"
)

// FuzzResolve holds the fast path equal to the URL Standard's parser, and the
// canonical form to its promises: parsing it again changes nothing.
func FuzzResolve(f *testing.F) {
	for _, base := range []string{"", "http://example.com/", "https://www.example.co.uk:8443/a/b/c.html?x=1"} {
		for _, ref := range []string{
			"http://example.com/a/b?c=d#e", "https://example.com:443", "http://a..b/", "http://1.2.3.4.5/",
			"http://a.0x1/", "http://xn--a/b", "../x/./y", "./", "..", "%2e%2E/x", "?q'x", "//h:80/x", "#f", "/a\\b",
			" /x y ", "mailto:x", "HTTP:x", "http:/x", "http://u:p@h/", "http://h/\tx", "a:b", "http://h.:8080/", "/..//../x",
			"http://-a-.b_c/", "//[::1]:80/", "http://h/ü?ü#ü", "jav\nascript:x", "http://h/^|`{}",
		} {
			f.Add(base, ref)
		}
	}
	var pages canon.Base // goes from page to page, and remembers
	f.Fuzz(func(t *testing.T, base, ref string) {
		b := canon.NewBase(octopus.URL{})
		if u, err := canon.Parse(base); err == nil {
			b = canon.NewBase(u)
		}
		pages.Reset(b.URL())
		want, wantErr := b.Standard(ref)
		switch got, ok, other := b.Fast(ref); {
		case errors.Is(wantErr, canon.ErrOdd):
			return // too slow to be compared
		case ok && (wantErr != nil || got != want):
			t.Errorf("%q on %q: fast %q, standard %q, %v", ref, base, got, want, wantErr)
		case other && wantErr == nil:
			t.Errorf("%q on %q: fast refuses it, standard %q", ref, base, want)
		}
		u, err := b.Resolve(ref)
		for range 2 {
			if got, ok := pages.ResolveBytes([]byte(ref)); ok != (err == nil) || got != u {
				t.Errorf("%q on %q: a base that was used before gives %+v, a new one %+v, %v", ref, base, got, u, err)
			}
		}
		if err != nil {
			var ce *canon.Error
			if !errors.As(err, &ce) || !u.IsZero() {
				t.Errorf("%q on %q: %+v, %v", ref, base, u, err)
			}
			return
		}
		if u.Host == "" || u.Site == "" || u.Text != want {
			t.Errorf("%q on %q: %+v, want text %q", ref, base, u, want)
		}
		if again, err := canon.Parse(u.Text); err != nil || again != u {
			t.Errorf("%q on %q gives %+v, which gives %+v, %v", ref, base, u, again, err)
		}
		canon.Authority(u)
		canon.SURT(u)
	})
}
