package parse_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"octopus"
	"octopus/parse"
)

// printOf parses a page whose body is given, and returns its fingerprint, which
// Inspect must agree with.
func printOf(t *testing.T, body string) octopus.Fingerprint {
	t.Helper()
	p, err := parse.New(parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	html := "<!doctype html><title>A page</title><body>" + body
	page := &octopus.Page{Status: 200, Body: []byte(html), Header: http.Header{"Content-Type": {"text/html"}}}
	page.Lease.Link.URL = octopus.URL{Text: "http://a.test/", Host: "a.test"}
	rec, _, err := p.Parse(t.Context(), page)
	if err != nil {
		t.Fatal(err)
	}
	in, err := p.Inspect(page.Body, "http://a.test/", "text/html")
	if err != nil || in.Fingerprint != rec.Fingerprint {
		t.Fatalf("Parse says %s, Inspect %s, %v", rec.Fingerprint, in.Fingerprint, err)
	}
	return rec.Fingerprint
}

// prose returns n words that depend on seed.
func prose(seed, n int) string {
	words := strings.Fields("the old house stood by a river where nobody came after dark and all of its windows were broken but one")
	var b strings.Builder
	for i := range n {
		seed = seed*1103515245 + 12345
		fmt.Fprintf(&b, "%s%d ", words[uint(seed)>>16%uint(len(words))], uint(seed)>>20%10)
		if i%9 == 8 {
			b.WriteString("</p><p>")
		}
	}
	return b.String()
}

// menu returns n links.
func menu(seed, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<li><a href=/%d/%d>%s</a>", seed, i, prose(seed*1000+i, 4))
	}
	return b.String()
}

// TestFingerprint: what makes pages nearly the same, and what does not.
func TestFingerprint(t *testing.T) {
	calendar := func(month string) string {
		return menu(1, 20) + "<h1>Events of " + month + "</h1><p>" + prose(2, 200) + "<p>There are no events in " + month + "."
	}
	for _, tt := range []struct {
		name string
		a, b string
		near bool
	}{
		{"the same words in other markup", "<p>" + prose(1, 100), "<div>" + strings.ReplaceAll(prose(1, 100), "<p>", "<p class=x>\n "), true},
		{"a calendar", calendar("March 2031"), calendar("April 2031"), true},
		{"articles beside a large menu", menu(1, 500) + prose(1, 100), menu(1, 500) + prose(2, 100), false},
		{"lists in the same frame", prose(1, 300) + menu(1, 20), prose(1, 300) + menu(2, 20), false},
		{"other articles", prose(1, 300), prose(2, 300), false},
	} {
		if got := printOf(t, tt.a).Near(printOf(t, tt.b)); got != tt.near {
			t.Errorf("%s: near is %v", tt.name, got)
		}
	}
	if f := printOf(t, "<p>Only a few words."); f != (octopus.Fingerprint{}) {
		t.Errorf("a page of four words has the fingerprint %s", f)
	}
	p, err := parse.New(parse.Options{NoFingerprint: true})
	if err != nil {
		t.Fatal(err)
	}
	page := &octopus.Page{Status: 200, Body: []byte(prose(1, 100)), Header: http.Header{"Content-Type": {"text/html"}}}
	if rec, _, err := p.Parse(t.Context(), page); err != nil || rec.Fingerprint != (octopus.Fingerprint{}) {
		t.Errorf("NoFingerprint: %v, %v", rec, err)
	}
}
