package canon_test

import (
	"encoding/json"
	"strings"
	"testing"

	"octopus"
	"octopus/canon"
)

func TestSURT(t *testing.T) {
	for in, want := range map[string]string{
		"https://www.Example.org/index.html":                                  "org,example)/index.html",
		"http://example.org":                                                  "org,example)/",
		"http://example.org/?":                                                "org,example)/",
		"http://example.org/A/B/?b=2&A=1":                                     "org,example)/a/b?a=1&b=2",
		"http://www2.example.org:8080/x":                                      "org,example:8080)/x",
		"http://192.168.1.2/x":                                                "192.168.1.2)/x",
		"http://example.org//a//b":                                            "org,example)/a/b",
		"http://example.org/%C3%BC%2525":                                      "org,example)/%c3%bc%25",
		"http://example.org/x;jsessionid=" + strings.Repeat("0", 32):          "org,example)/x",
		"http://example.org/?a=1&PHPSESSID=" + strings.Repeat("0", 32) + "&b": "org,example)/?a=1&b",
	} {
		if got := canon.SURT(mustParse(t, in)); got != want {
			t.Errorf("SURT(%q) = %q, want %q", in, got, want)
		}
	}
	if got := canon.SURT(octopus.URL{}); got != "-" {
		t.Errorf("SURT of nothing = %q", got)
	}
}

// The cases of the surt library that speak of http URLs. Its google and IA forms
// are URLs; two URLs are the same there if, and only if, their keys are.
func TestSURTCases(t *testing.T) {
	n := 0
	for _, c := range readCases(t) {
		var input string
		if !strings.HasPrefix(c.Fn, "surt.") || json.Unmarshal(c.Input, &input) != nil {
			continue
		}
		u, err := canon.Parse(input)
		if err != nil {
			continue // pieces of URLs, and what the URL Standard refuses: "http://%20leadingspace.com/"
		}
		want := c.Result
		if strings.HasPrefix(want, "http") {
			w, err := canon.Parse(want)
			if err != nil {
				t.Errorf("%s: the result %q: %v", c.Fn, want, err)
				continue
			}
			want = canon.SURT(w)
		}
		n++
		if got := canon.SURT(u); got != want {
			t.Errorf("%s: SURT(%q) = %q, want %q", c.Fn, input, got, want)
		}
	}
	if n < 20 {
		t.Errorf("only %d cases", n)
	}
}
