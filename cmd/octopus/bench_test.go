package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// asProgram makes the test binary the program itself: bench crawl starts its
// own executable again.
const asProgram = "OCTOPUS_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(newApp(os.Stdin, os.Stdout, os.Stderr, nil).main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// TestBenchCrawl: three modes, each complete and without duplicates.
func TestBenchCrawl(t *testing.T) {
	c := newCLI(t)
	t.Setenv(asProgram, "1")
	c.run("bench", "crawl", "--pages", "60", "--hosts", "2").want(exitOK)
	var modes []string
	for line := range strings.Lines(c.stdout) {
		var r benchReport
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if r.Complete != 1 || r.Duplicates != 0 || r.CPU <= 0 || r.PagesPerS <= 0 {
			t.Errorf("odd figures: %+v", r)
		}
		modes = append(modes, r.Mode)
	}
	if got := strings.Join(modes, " "); got != "discard default pages" {
		t.Errorf("modes %q", got)
	}
	c.run("bench", "crawl", "--pages", "-1").want(exitUsage, "pages")
}

// TestCPUProfile: a path that cannot be written is refused before the crawl.
func TestCPUProfile(t *testing.T) {
	newCLI(t).run("crawl", "http://a.test/", "--cpu-profile", "no/such/dir/file").want(exitUsage, "--cpu-profile")
}
