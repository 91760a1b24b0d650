package main

import (
	"encoding/json"
	"strings"
	"testing"

	"octopus/internal/servers"
	"octopus/node"
)

func TestSeenPlan(t *testing.T) {
	c := newCLI(t)
	for _, test := range []struct {
		args []string
		want planned
	}{
		// The published sizes: 3 x 200 M at 1e-4 together; and with the bits and
		// hashes given, by the plain formula.
		{[]string{"--capacity", "200000000", "--windows", "3", "--error-rate", "1e-4"}, planned{Capacity: 200_000_000, Windows: 3, Blocks: 2, ErrorRate: 1e-4}},
		{[]string{"--capacity", "50000000", "--bits", "1600000000", "--hashes", "22"}, planned{Capacity: 50_000_000, Windows: 1, Hashes: 22, Bits: 1_600_000_000, Blocks: 1, ErrorRate: 2.1e-7}},
		{[]string{"--capacity", "100000000", "--bits", "2147483647", "--hashes", "6", "--windows", "3"}, planned{Capacity: 100_000_000, Windows: 3, Hashes: 6, Bits: 1<<31 - 1, Blocks: 1, ErrorRate: 6.3e-4}},
	} {
		c.run(append([]string{"seen", "plan", "--json"}, test.args...)...).want(exitOK)
		var got planned
		if err := json.Unmarshal([]byte(c.stdout), &got); err != nil {
			t.Fatal(err)
		}
		w := test.want
		if got.Capacity != w.Capacity || got.Windows != w.Windows || w.Hashes != 0 && got.Hashes != w.Hashes || w.Bits != 0 && got.Bits != w.Bits ||
			got.Blocks != w.Blocks || got.ErrorRate > w.ErrorRate*1.05 || got.ErrorRate < w.ErrorRate*0.5 || got.Bytes != (got.Bits+7)/8*int64(got.Windows) {
			t.Errorf("%v: %+v, want %+v", test.args, got, w)
		}
	}
	c.run("seen", "plan", "--capacity", "200000000", "--windows", "3").want(exitOK)
	for _, text := range []string{"bits", "hashes", "memory", "3 windows", "of 512 MB per window", "error rate"} {
		if !strings.Contains(c.stdout, text) {
			t.Errorf("no %q in:\n%s", text, c.stdout)
		}
	}
	c.run("seen", "plan", "--capacity", "0").want(exitUsage, "capacity 0")
	c.run("seen", "plan", "--error-rate", "2").want(exitUsage, "error rate 2")
	c.run("seen", "plan", "--bits", "100").want(exitUsage, "hashes")
	c.run("seen", "plan", "--capacity", "100000000000", "--error-rate", "1e-6").want(exitUsage, "256 are possible", "lower the capacity to")
}

// TestSeenVerbs adds, checks, allows and rotates in every kind of set, here and
// in Redis, and crawls with what was added.
func TestSeenVerbs(t *testing.T) {
	s, c := newSite(t), newCLI(t)
	for _, place := range []string{"here", "redis"} {
		for _, kind := range []string{"bloom", "window", "expiring"} {
			dir := place + kind
			more := []string{"--dir", dir, "--seen", kind, "--seen-capacity", "1000", "--depth", "0"}
			if place == "redis" {
				more = append(more, "--frontier", servers.Redis(t).URL(), "--job", kind)
			}
			s.crawl(c, more...).want(exitOK)
			c.stdin = s.URL + "/1\n" + s.URL + "/\n"
			c.run("seen", "check", "-", "--dir", dir).want(exitOK)
			if c.stdout != "new\t"+s.URL+"/1\nknown\t"+s.URL+"/\n" {
				t.Errorf("%s: check: %q", dir, c.stdout)
			}
			for _, word := range []string{"added", "known"} {
				if c.run("seen", "add", s.URL+"/1", "--dir", dir).want(exitOK); c.stdout != word+"\t"+s.URL+"/1\n" {
					t.Errorf("%s: add: %q, want %s", dir, c.stdout, word)
				}
			}
			c.run("seen", "info", "--json", "--dir", dir).want(exitOK)
			var info node.SeenInfo
			if err := json.Unmarshal([]byte(c.stdout), &info); err != nil || info.Kind != kind || info.Entries != 2 || info.Bytes == 0 || info.Full {
				t.Errorf("%s: info %s", dir, c.stdout)
			}
			allow, rotate := exitFailure, exitFailure
			if place == "here" && kind == "bloom" {
				allow = exitOK
			}
			if place == "here" && kind == "window" {
				rotate = exitOK
			}
			c.run("seen", "allow", s.URL+"/2", "--dir", dir).want(allow)
			c.run("seen", "rotate", "--dir", dir).want(rotate)
			before := s.count("/1")
			c.run("crawl", s.URL+"/1", s.URL+"/2", "--dir", dir, "--allow-net", "127.0.0.0/8", "--host-delay", "0s", "--depth", "0", "--summary", "json").want(exitOK)
			if sum := summaryOf(t, c.stdout); sum.Pages != 1 || s.count("/1") != before {
				t.Errorf("%s: %d pages, want that which was not added", dir, sum.Pages)
			}
		}
	}
	s.crawl(c, "--dir", "exact").want(exitOK)
	c.run("seen", "check", s.URL+"/", s.URL+"/nothing", "--dir", "exact").want(exitOK)
	if c.stdout != "known\t"+s.URL+"/\nnew\t"+s.URL+"/nothing\n" {
		t.Errorf("check: %q", c.stdout)
	}
	c.run("seen", "add", s.URL+"/x", "--dir", "exact").want(exitFailure, "crawl.reject")
	c.run("seen", "check", "http://", "--dir", "exact").want(exitUsage)
	c.run("seen", "info", "--dir", "nowhere").want(exitFailure)
}
