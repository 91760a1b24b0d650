package canon_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"octopus"
	"octopus/canon"
)

// urlCase is a line of the URL Standard's test data.
type urlCase struct {
	Fn      string
	Input   json.RawMessage
	Base    *string
	Href    string
	Failure bool
	Result  string
}

func readCases(t *testing.T) (cases []urlCase) {
	t.Helper()
	f, err := os.Open("../../shared/testdata/urls/urls.jsonl")
	if err != nil {
		t.Skip("the shared URL cases are not there:", err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for s.Scan() {
		var c urlCase
		if err := json.Unmarshal(s.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return cases
}

// Every http(s) case of the URL Standard's tests gives the standard's href, but
// for the fragment, user name and password, which the canonical form drops; all
// others are refused. There are no exceptions.
func TestStandardCases(t *testing.T) {
	taken, refused := 0, 0
	for _, c := range readCases(t) {
		if c.Fn != "parse" {
			continue
		}
		var input, base string
		if err := json.Unmarshal(c.Input, &input); err != nil {
			t.Fatal(err)
		}
		if c.Base != nil {
			base = *c.Base
		}
		u, err := parseOn(base, input)
		if c.Failure || !strings.HasPrefix(c.Href, "http:") && !strings.HasPrefix(c.Href, "https:") {
			refused++
			if err == nil {
				t.Errorf("%q on %q is taken as %s", input, base, u.Text)
			}
			continue
		}
		taken++
		if want := withoutUser(c.Href); err != nil || u.Text != want {
			t.Errorf("%q on %q: got %q, %v; want %q", input, base, u.Text, err, want)
		}
		if href, err := canon.Href(base, input); err != nil || href != c.Href {
			t.Errorf("Href(%q, %q) = %q, %v; want %q", base, input, href, err, c.Href)
		}
	}
	t.Logf("%d taken, %d refused", taken, refused)
	if taken == 0 || refused == 0 {
		t.Error("no cases")
	}
}

// parseOn resolves on a base that may be of any scheme: what our own Base cannot
// hold is resolved by Href first.
func parseOn(base, input string) (octopus.URL, error) {
	if base == "" {
		return canon.Parse(input)
	}
	if b, err := canon.Parse(base); err == nil {
		return canon.Resolve(b, input)
	}
	href, err := canon.Href(base, input)
	if err != nil {
		return octopus.URL{}, err
	}
	return canon.Parse(href)
}

// withoutUser drops fragment, user name and password of an href.
func withoutUser(href string) string {
	href, _, _ = strings.Cut(href, "#")
	scheme, rest, _ := strings.Cut(href, "://")
	end := strings.IndexByte(rest, '/')
	if at := strings.LastIndexByte(rest[:end], '@'); at >= 0 {
		rest = rest[at+1:]
	}
	return scheme + "://" + rest
}
