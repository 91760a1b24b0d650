package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"octopus/internal/benchweb"
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
	c.run("bench", "crawl", "--pages", "600", "--hosts", "2").want(exitOK) // fails where anything is left open
	var modes []string
	for line := range strings.Lines(c.stdout) {
		var r benchReport
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if r.Complete != 1 || r.Duplicates != 0 || r.CPU <= 0 || r.PagesPerS <= 0 {
			t.Errorf("odd figures: %+v", r)
		}
		// Between the two points nearly 1,000 pages were fetched.
		if r.Goroutines[2] > r.Goroutines[1]+100 || r.Descriptors[2] > r.Descriptors[1]+100 {
			t.Errorf("mode %s grows: goroutines %v, descriptors %v", r.Mode, r.Goroutines, r.Descriptors)
		}
		modes = append(modes, r.Mode)
	}
	if got := strings.Join(modes, " "); got != "discard default pages" {
		t.Errorf("modes %q", got)
	}
	c.run("bench", "crawl", "--pages", "-1").want(exitUsage, "pages")
}

// TestBenchCheck: what is left open after a crawl is an error.
func TestBenchCheck(t *testing.T) {
	whole := benchweb.Stats{Pages: 9, Distinct: 9}
	for _, c := range []struct {
		r    benchReport
		st   benchweb.Stats
		want string
	}{
		{benchReport{Goroutines: [4]int{2, 80, 80, 2}, Descriptors: [4]int{5, 20, 20, 5}}, whole, ""},
		{benchReport{Goroutines: [4]int{2, 80, 80, 3}}, whole, "2 goroutines"},
		{benchReport{Descriptors: [4]int{5, 20, 20, 6}}, whole, "6 after it"},
		{benchReport{}, benchweb.Stats{Pages: 9, Distinct: 8}, "8 of 9"},
		{benchReport{}, benchweb.Stats{Pages: 9, Distinct: 9, Duplicates: 1}, "1 again"},
	} {
		err := c.r.check(c.st)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v, %+v: %v, want %q", c.r, c.st, err, c.want)
		}
	}
}

// TestCPUProfile: a path that cannot be written is refused before the crawl.
func TestCPUProfile(t *testing.T) {
	newCLI(t).run("crawl", "http://a.test/", "--cpu-profile", "no/such/dir/file").want(exitUsage, "--cpu-profile")
}
