package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDoctor(t *testing.T) {
	s, c := newLists(t), newCLI(t)
	see := func(want string, hosts int) diagnosis {
		t.Helper()
		c.run("doctor", "--json").want(exitOK)
		var d diagnosis
		if err := json.Unmarshal([]byte(c.stdout), &d); err != nil {
			t.Fatal(err)
		}
		if d.Hosts != hosts || len(d.Bottleneck) < len(want) || d.Bottleneck[:len(want)] != want {
			t.Errorf("doctor printed %s, want %q", c.stdout, want)
		}
		return d
	}
	c.run("crawl", s.URL+"/", "--allow-net", "127.0.0.0/8", "--host-delay", "10ms", "-n", "1", "-q").want(exitOK)
	if d := see("politeness of few hosts: 1", 1); d.Queued == 0 || len(d.Slowest) != 1 || d.ETA <= 0 {
		t.Errorf("doctor says %+v", d)
	}
	c.run("host", "block", "127.0.0.1", "--for", "1h").want(exitOK)
	if d := see("back-off: all 1", 1); d.ETA < 3500 {
		t.Errorf("eta %g s of a host that is blocked for an hour", d.ETA)
	}
	c.run("doctor", "--verify").want(exitOK, "every counter is right")
	c.run("crawl", s.URL+"/", "--allow-net", "127.0.0.0/8", "--host-delay", "0s", "--retries", "0", "--fresh", "-q").want(exitOK)
	see("nothing is queued", 0)
}

// TestDoctorLive asks a crawl while it runs: from the handler of its only
// request, so that one is under way.
func TestDoctorLive(t *testing.T) {
	s, c := newSite(t), newCLI(t)
	var said []string
	s.hook = func(path string) {
		if path != "/" {
			return
		}
		for _, args := range [][]string{{"doctor", "--json"}, {"doctor"}} {
			asking := &cli{t: t}
			said = append(said, asking.run(args...).want(exitOK).stdout)
		}
	}
	s.crawl(c, "-c", "1", "-d", "0").want(exitOK)
	var d diagnosis
	if err := json.Unmarshal([]byte(said[0]), &d); err != nil {
		t.Fatal(err, said)
	}
	if l := d.Load; l == nil || l.InFlight != 1 || l.Concurrency != 1 || l.Seconds < 1 {
		t.Errorf("doctor says %s of a crawl that runs", said[0])
	}
	if !strings.HasPrefix(d.Bottleneck, "concurrency: all 1") && !strings.HasPrefix(d.Bottleneck, "CPU") {
		t.Errorf("the bottleneck is %q", d.Bottleneck)
	}
	if !strings.Contains(said[1], "1 of 1 requests under way") {
		t.Errorf("doctor says %q", said[1])
	}
}

// TestOperateLive changes a crawl while it runs: its navigation queue is cleared
// from the handler of a page, its host blocked and freed again.
func TestOperateLive(t *testing.T) {
	s, c := newSite(t), newCLI(t)
	var asked bool
	s.hook = func(path string) {
		if path != "/1" || asked {
			return
		}
		asked = true
		asking := &cli{t: t}
		var gone changed
		if err := json.Unmarshal([]byte(asking.run("queue", "clear-nav", "--json").want(exitOK).stdout), &gone); err != nil || gone.Changed == 0 {
			t.Errorf("%d URLs were cleared, %v", gone.Changed, err)
		}
		asking.run("host", "block", "127.0.0.1", "--for", "1h").want(exitOK, "blocked until")
		asking.run("host", "unblock", "127.0.0.1").want(exitOK, "may be asked again")
		asking.run("host", "precedence", "127.0.0.1", "--to", "-1").want(exitOK, "has precedence -1")
	}
	s.crawl(c, "-c", "1").want(exitOK)
	if shown := c.run("host", "show", "127.0.0.1").want(exitOK).stdout; !strings.Contains(shown, "precedence -1") {
		t.Errorf("the precedence was not kept: %s", shown)
	}
	if !asked {
		t.Error("page 1 was never asked for")
	}
	if n := s.count("/2"); n > 0 {
		t.Errorf("page 2 was fetched %d times although it was cleared", n)
	}
}
