package robots_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"octopus/robots"
)

// robotsCase is a line of the shared data: one query, or a file with many.
type robotsCase struct {
	Robots, Agent, URL, Src string
	Allowed                 bool
	Google                  *bool
	Queries                 []struct {
		Agent, URL string
		Allowed    bool
	}
}

func readCases(t *testing.T, name string) (cases []robotsCase) {
	t.Helper()
	f, err := os.Open("../../shared/testdata/robots/" + name)
	if err != nil {
		t.Skip("the shared robots cases are not there:", err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	s := bufio.NewScanner(r)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		var c robotsCase
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

// Every case gives the answer of Google's parser, which is that of RFC 9309
// wherever the RFC has one.
func TestSpecCases(t *testing.T) {
	cases := readCases(t, "spec.jsonl")
	for _, c := range cases {
		want := c.Allowed
		if c.Google != nil {
			want = *c.Google
		}
		if v := robots.Parse([]byte(c.Robots)).For(c.Agent).Check(c.URL); v.Allowed != want {
			t.Errorf("%s: agent %q, URL %q: allowed %v (line %d, %s), want %v\n%s",
				c.Src, c.Agent, c.URL, v.Allowed, v.Line, v.Rule, want, c.Robots)
		}
	}
	t.Logf("%d cases", len(cases))
}

// Real files: Google's answer to every query.
func TestRealFiles(t *testing.T) {
	n := 0
	for _, c := range readCases(t, "real.jsonl.gz") {
		f := robots.Parse([]byte(c.Robots))
		for _, q := range c.Queries {
			n++
			if v := f.For(q.Agent).Check(q.URL); v.Allowed != q.Allowed {
				t.Errorf("agent %q, URL %q: allowed %v (line %d, %s), want %v", q.Agent, q.URL, v.Allowed, v.Line, v.Rule, q.Allowed)
			}
		}
	}
	t.Logf("%d queries", n)
}
