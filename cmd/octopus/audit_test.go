package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestAuditCrawl crawls with a delay and audits the log.
func TestAuditCrawl(t *testing.T) {
	s, c := newLists(t), newCLI(t)
	for range 2 { // the second run appends that it ran, and finds nothing left
		c.run("crawl", s.URL+"/", "--allow-net", "127.0.0.0/8", "--host-delay", "20ms", "--retries", "0", "-q", "--fetch-log", "log").want(exitOK)
	}
	c.run("audit", "log", "--json").want(exitOK)
	var r auditReport
	if err := json.Unmarshal([]byte(c.stdout), &r); err != nil {
		t.Fatal(err)
	}
	if r.Requests != 8 || len(r.Hosts) != 1 || len(r.IPs) != 1 || r.Hosts[0].Gap == nil {
		t.Fatalf("audit printed %s", c.stdout)
	}
	c.run("audit", "log", "--host-delay", "1h").want(exitVerify, "1h0m0s was promised")
	c.file("prose", "This proves nothing.\n{}\n")
	c.run("audit", "prose").want(exitFailure, "prose is no fetch log")
	c.run("audit", "none").want(exitFailure, "none")
	c.run("audit", "log", "--host-delay", "x").want(exitUsage)
}

// TestAuditViolations feeds logs by hand. Times are seconds of one minute.
func TestAuditViolations(t *testing.T) {
	const run = `{"run":"2026-01-01T00:00:00Z","host_delay_s":2,"ip_delay_s":1}`
	line := func(host, ip string, start, end float64, more string) string {
		return fmt.Sprintf(`{"start":"2026-01-01T00:00:%06.3fZ","end":"2026-01-01T00:00:%06.3fZ","host":%q,"ip":%q,"url":"http://%s/%v","status":200%s}`, start, end, host, ip, host, start, more)
	}
	for name, c := range map[string]struct {
		lines []string
		want  string // in the message; empty: no violation
	}{
		"kept":            {[]string{run, line("a", "1", 1, 2, ""), line("a", "1", 4, 5, "")}, ""},
		"too soon":        {[]string{run, line("a", "1", 1, 2, ""), line("a", "1", 3.9, 5, "")}, "http://a/3.9 came 1.9s after the end"},
		"out of order":    {[]string{run, line("a", "1", 4, 5, ""), line("a", "1", 1, 2, "")}, ""},
		"under a long":    {[]string{run, line("a", "1", 1, 9, ""), line("a", "1", 2, 3, ""), line("a", "1", 12, 13, "")}, "-7s after"},
		"address":         {[]string{run, line("a", "1", 1, 2, ""), line("b", "1", 2.5, 3, "")}, "address 1: http://b/2.5 came 500ms"},
		"other address":   {[]string{run, line("a", "1", 1, 2, ""), line("b", "2", 2, 3, "")}, ""},
		"Retry-After":     {[]string{run, line("a", "1", 1, 2, `,"status":503,"retry_after_s":10`), line("a", "1", 11, 12, "")}, "http://a/11 came 1s before Retry-After"},
		"Retry-After, ok": {[]string{run, line("a", "1", 1, 2, `,"status":429,"retry_after_s":10`), line("a", "1", 12, 13, "")}, ""},
		"part":            {[]string{run, line("a", "1", 1, 2, ""), line("a", "", 2.1, 3, `,"part_of":"http://a/1"`), line("a", "1", 5.1, 6, "")}, ""},
		"after a part":    {[]string{run, line("a", "1", 1, 2, ""), line("a", "", 2.1, 3, `,"part_of":"http://a/1"`), line("a", "1", 4, 5, "")}, "http://a/4 came 1s after the end"},
		"part of nothing": {[]string{run, line("a", "1", 1, 2, ""), line("a", "", 2.1, 3, `,"part_of":"http://a/7"`)}, "belongs to http://a/7, which was not visited"},
		"part elsewhere":  {[]string{run, line("a", "1", 1, 2, ""), line("a", "", 2.1, 3, `,"part_of":"http://b/7"`)}, ""},
		"no request":      {[]string{run, line("a", "", 1, 2, ""), line("a", "", 2, 2, `,"error":"dns"`)}, ""},
		"torn line":       {[]string{run, line("a", "1", 1, 2, ""), `{"start":"2026-`, line("a", "1", 4, 5, "")}, ""},
	} {
		cli := newCLI(t)
		cli.file("log", strings.Join(c.lines, "\n")+"\n")
		if cli.run("audit", "log"); c.want == "" {
			cli.want(exitOK)
		} else {
			cli.want(exitVerify, c.want)
		}
		if t.Failed() {
			t.Fatal(name)
		}
	}
}
