package node

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"octopus/dns"
	"octopus/frontier"
	"octopus/sink"
)

// Diagnosis is what holds a crawl up.
type Diagnosis struct {
	Load    *Load               `json:"load,omitempty"` // of a crawl that runs
	Hosts   int                 `json:"hosts"`          // with anything queued
	Blocked int                 `json:"blocked"`        // of these, not asked now
	Queued  int64               `json:"queued"`
	Slowest []frontier.HostInfo `json:"slowest"` // that take longest, at most maxSlowest
}

// maxSlowest is how many of the slowest hosts a Diagnosis names.
const maxSlowest = 10

// loadWindow is how long a running crawl is watched.
const loadWindow = 2 * time.Second

// Diagnose looks at the queues and, while Run is running, watches it for two
// seconds.
func (n *Node) Diagnose(ctx context.Context) (Diagnosis, error) {
	d := Diagnosis{Slowest: []frontier.HostInfo{}}
	n.mu.Lock()
	running := n.engine != nil
	n.mu.Unlock()
	if running {
		l, err := n.watch(ctx, loadWindow)
		if err != nil {
			return d, err
		}
		d.Load = &l
	}
	if n.frontier == nil { // shared: the hosts are in Redis
		return d, nil
	}
	return d, n.frontier.Hosts(ctx, func(h frontier.HostInfo) error { d.add(h); return nil })
}

func (d *Diagnosis) add(h frontier.HostInfo) {
	queued := h.Nav + h.Data
	if queued == 0 {
		return
	}
	d.Hosts++
	d.Queued += queued
	if h.Blocked > 0 {
		d.Blocked++
	}
	i, _ := slices.BinarySearchFunc(d.Slowest, h.ETA, func(v frontier.HostInfo, eta time.Duration) int {
		if v.ETA >= eta {
			return -1
		}
		return 1
	})
	d.Slowest = slices.Insert(d.Slowest, i, h)
	d.Slowest = d.Slowest[:min(len(d.Slowest), maxSlowest)]
}

// Bottleneck names in words what sets the pace.
func (d *Diagnosis) Bottleneck() string {
	if d.Load != nil {
		if why := d.Load.bottleneck(); why != "" {
			return why
		}
	}
	switch {
	case d.Hosts == 0:
		return "nothing is queued"
	case d.Blocked == d.Hosts:
		return fmt.Sprintf("back-off: all %d hosts with URLs are blocked; octopus host ls --blocked tells why", d.Hosts)
	case d.Hosts < 10:
		return fmt.Sprintf("politeness of few hosts: %d hosts hold %d URLs, and each is asked once in its gap", d.Hosts, d.Queued)
	}
	return fmt.Sprintf("none in the queues: %d URLs of %d hosts wait, %d of these blocked; concurrency, network or sites set the pace", d.Queued, d.Hosts, d.Blocked)
}

// Load is what a running crawl did in a while.
type Load struct {
	Seconds     float64 `json:"seconds"` // how long it was watched
	Requests    int64   `json:"requests"`
	Bytes       int64   `json:"bytes"`       // of bodies received
	Bandwidth   int64   `json:"bandwidth"`   // allowed per second; 0: no limit
	CPU         float64 `json:"cpu"`         // share of all processors in use, 0 to 1
	InFlight    int64   `json:"in_flight"`   // requests under way
	Concurrency int     `json:"concurrency"` // allowed
	Resolving   int64   `json:"resolving"`   // of those, waiting for DNS
	Disk        string  `json:"disk"`        // why the disk holds it up; empty where it does not
	Waiting     string  `json:"waiting"`     // why nothing was leased; empty where something was

	Output  string        `json:"output"`  // which output holds it up, and why; empty where none does
	Outputs []sink.Status `json:"outputs"` // how far each output is
}

// bottleneck names what holds a running crawl up; empty where nothing does.
func (l *Load) bottleneck() string {
	rate := float64(l.Bytes) / max(l.Seconds, 1e-9)
	switch {
	case l.Disk != "":
		return "disk: " + l.Disk
	case l.Output != "":
		return "output: " + l.Output
	case l.CPU >= 0.9:
		return fmt.Sprintf("CPU: %.0f %% of the processors are in use by this crawl", 100*l.CPU)
	case l.Bandwidth > 0 && rate >= 0.9*float64(l.Bandwidth):
		return fmt.Sprintf("bandwidth: %.0f KB/s of the %.0f KB/s of --bandwidth are received", rate/1e3, float64(l.Bandwidth)/1e3)
	case l.Resolving > 0 && 2*l.Resolving >= l.InFlight:
		return fmt.Sprintf("DNS: %d of %d requests under way wait for an address; name a faster server with --resolver", l.Resolving, l.InFlight)
	case l.InFlight >= int64(l.Concurrency):
		return fmt.Sprintf("concurrency: all %d requests are under way, so the sites and the network set the pace; raise --concurrency", l.Concurrency)
	case l.Waiting != "":
		return "politeness: " + l.Waiting
	}
	return ""
}

// watch measures a running crawl for a while.
func (n *Node) watch(ctx context.Context, window time.Duration) (Load, error) {
	before, cpu, start := n.observer.snapshot(), cpuTime(), time.Now()
	timer := time.NewTimer(window)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return Load{}, ctx.Err()
	}
	after, took := n.observer.snapshot(), time.Since(start)
	var out Status
	n.outputStatus(&out)
	return Load{
		Output: out.Waiting, Outputs: out.Outputs,
		Seconds: took.Seconds(), Requests: after.Fetches - before.Fetches, Bytes: after.Bytes - before.Bytes,
		Bandwidth: int64(n.cfg.Fetcher.Bandwidth), CPU: (cpuTime() - cpu).Seconds() / took.Seconds() / float64(runtime.GOMAXPROCS(0)),
		InFlight: n.queue.Counts().Leased, Concurrency: n.cfg.Fetcher.Concurrency, Resolving: n.resolving.Load(),
		Disk: n.valve.why(), Waiting: n.queue.Waiting(),
	}, nil
}

// countedResolver counts the look-ups under way.
type countedResolver struct {
	*dns.Resolver
	open *atomic.Int64
}

// LookupNetIP implements fetch.Resolver.
func (r countedResolver) LookupNetIP(ctx context.Context, host string) ([]netip.Addr, error) {
	r.open.Add(1)
	defer r.open.Add(-1)
	return r.Resolver.LookupNetIP(ctx, host)
}
