package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"octopus/internal/webtest"
)

// TestVerdict: any difference from the truth is an error that lists it.
func TestVerdict(t *testing.T) {
	perfect := webtest.Report{Reachable: 1234, Found: 1234, Requests: 1300, SmallestGap: 51 * time.Millisecond, SmallestHost: "a.test"}
	missing, fast := perfect, perfect
	missing.Found, missing.Missing = 1233, []string{"http://a.test/lost"}
	fast.TooFast = []string{"a.test: 3ms"}
	for _, c := range []struct {
		report webtest.Report
		ok     bool
		want   string
	}{
		{perfect, true, "pages found 1,234 / 1,234 reachable, duplicates 0, requests 1,300"},
		{missing, false, "missing: 1\n  http://a.test/lost\n"},
		{fast, false, "host delay not kept: 1\n  a.test: 3ms\n"},
	} {
		var said strings.Builder
		err := newApp(nil, nil, &said, nil).verdict(&c.report)
		if (err == nil) != c.ok || !strings.Contains(said.String(), c.want) {
			t.Errorf("error %v, lacks %q:\n%s", err, c.want, said.String())
		}
	}
}

// TestServeOnly prints a command that crawls the web it serves, until a signal.
func TestServeOnly(t *testing.T) {
	c := newCLI(t)
	c.notify = func(to chan<- os.Signal) func() { to <- syscall.SIGTERM; return func() {} }
	c.run("demo", "--serve-only", "--hosts", "2", "--pages", "4").want(exitOK, "serving")
	for _, text := range []string{"octopus crawl http://", "--resolver 127.0.0.1:", "--allow-net 127.0.0.0/8"} {
		if !strings.Contains(c.stdout, text) {
			t.Errorf("lacks %q: %s", text, c.stdout)
		}
	}
	c.run("demo", "--hosts", "0").want(exitUsage, "at least 1")
}
