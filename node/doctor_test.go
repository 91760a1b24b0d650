package node

import (
	"strings"
	"testing"
	"time"

	"octopus/frontier"
)

func TestBottleneck(t *testing.T) {
	busy := Load{Seconds: 2, Bytes: 1_000_000, Concurrency: 16, InFlight: 3, CPU: 0.5}
	with := func(change func(*Load)) *Load { l := busy; change(&l); return &l }
	for _, c := range []struct {
		load *Load
		want string
	}{
		{with(func(l *Load) { l.Disk, l.CPU = "paused: full", 1 }), "disk: paused: full"},
		{with(func(l *Load) { l.Output, l.CPU = "paused: output x", 1 }), "output: paused: output x"},
		{with(func(l *Load) { l.CPU = 0.95 }), "CPU: 95 %"},
		{with(func(l *Load) { l.Bandwidth = 520_000 }), "bandwidth: 500 KB/s of the 520 KB/s"},
		{with(func(l *Load) { l.Bandwidth, l.InFlight = 5_000_000, 16 }), "concurrency: all 16"},
		{with(func(l *Load) { l.Resolving = 2 }), "DNS: 2 of 3"},
		{with(func(l *Load) { l.Waiting = "0 of 1 hosts ready" }), "politeness: 0 of 1 hosts ready"},
		{&busy, "politeness of few hosts: 1 hosts hold 7"},
		{nil, "politeness of few hosts: 1 hosts hold 7"},
	} {
		d := Diagnosis{Load: c.load}
		d.add(frontier.HostInfo{Name: "a.test", Nav: 5, Data: 2, ETA: time.Minute})
		d.add(frontier.HostInfo{Name: "done.test", Done: 9})
		if got := d.Bottleneck(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.load, got, c.want)
		}
	}
}

// TestSlowest: the ten hosts that take longest, longest first.
func TestSlowest(t *testing.T) {
	var d Diagnosis
	for i := range 50 {
		d.add(frontier.HostInfo{Nav: 1, ETA: time.Duration(i*37%50) * time.Second})
	}
	for i, h := range d.Slowest {
		if want := time.Duration(49-i) * time.Second; h.ETA != want {
			t.Errorf("host %d takes %s, want %s", i, h.ETA, want)
		}
	}
	if len(d.Slowest) != maxSlowest || d.Hosts != 50 {
		t.Errorf("%d of %d hosts", len(d.Slowest), d.Hosts)
	}
}
