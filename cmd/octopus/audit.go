package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"octopus/canon"
	"octopus/node"
)

// auditCmd proves the manners of a crawl from its fetch log.
func (a *app) auditCmd() *cobra.Command {
	var asJSON bool
	delay := node.Duration(-1)
	cmd := &cobra.Command{Use: "audit FILE...", Short: "Prove from fetch logs that no host was asked too often", Args: cobra.MinimumNArgs(1),
		Long: `Read fetch logs (octopus crawl --fetch-log FILE) and tell, per host and per
address, the smallest gap between the end of a request and the start of the next
one. A gap below the host delay, or an answer 429 or 503 whose Retry-After was
not waited for, is a violation: exit code 10. What scripts of a rendered page
ask its host for is part of the page's visit: the gap is due behind the last of
it.`}
	cmd.Flags().Var(&durationFlag{&delay}, "host-delay", "the gap that hosts were promised; without it, what the logs recorded (default recorded)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	cmd.RunE = a.verb(func(_ *cobra.Command, args []string) error {
		au := newAuditor(time.Duration(delay))
		for _, file := range args {
			if err := au.read(file); err != nil {
				return err
			}
		}
		rep := au.report()
		if err := a.report(rep, asJSON, "%s", rep.text()); err != nil {
			return err
		}
		if n := len(rep.Violations); n > 0 {
			return &exitError{exitVerify, fmt.Errorf("%d violations; the first: %s", n, rep.Violations[0])}
		}
		return nil
	})
	return cmd
}

// durationFlag is a node.Duration as a flag.
type durationFlag struct{ d *node.Duration }

func (f *durationFlag) String() string     { return "" }
func (f *durationFlag) Set(s string) error { return f.d.UnmarshalText([]byte(s)) }
func (f *durationFlag) Type() string       { return "duration" }

// auditor collects the requests of logs.
type auditor struct {
	fixed   time.Duration // host delay given; negative: what the log says
	hosts   map[string][]audited
	ips     map[string][]audited
	parts   map[string]int // by host: requests of pages' scripts
	total   int
	damaged int
	delays  [2]time.Duration // of the run being read: host, address
}

// audited is a request with the gaps that were promised after it.
type audited struct {
	node.FetchLine
	promised time.Duration
}

func newAuditor(fixed time.Duration) *auditor {
	return &auditor{fixed: fixed, hosts: map[string][]audited{}, ips: map[string][]audited{}, parts: map[string]int{}}
}

// read takes in one log. A line cut off by a kill counts as damaged.
func (au *auditor) read(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	au.delays = [2]time.Duration{}
	known := false
	err = readLines(f, func(line []byte) bool {
		var l node.FetchLine
		if json.Unmarshal(line, &l) != nil || l.Run == nil && l.Host == "" {
			au.damaged++
			return true
		}
		known = true
		au.add(l)
		return true
	})
	if err == nil && !known {
		return fmt.Errorf("%s is no fetch log: no line of it tells of a run or a request; octopus crawl --fetch-log FILE writes one", file)
	}
	return err
}

// add takes in one line. Requests that reached no host are left out.
func (au *auditor) add(l node.FetchLine) {
	if l.Run != nil {
		au.delays = [2]time.Duration{secondsOf(l.HostDelay), secondsOf(l.IPDelay)}
		if au.fixed >= 0 {
			au.delays[0] = au.fixed
		}
		return
	}
	if slices.Contains([]string{"dns", "no-host", "forbidden-address"}, l.Error) {
		return
	}
	if l.PartOf != "" {
		au.parts[l.Host]++
		if page, err := canon.Parse(l.PartOf); err == nil && page.Host == l.Host {
			au.hosts[l.Host] = append(au.hosts[l.Host], audited{l, au.delays[0]})
		}
		return
	}
	au.total++
	au.hosts[l.Host] = append(au.hosts[l.Host], audited{l, au.delays[0]})
	if l.IP != "" {
		au.ips[l.IP] = append(au.ips[l.IP], audited{l, au.delays[1]})
	}
}

func secondsOf(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// auditReport is what audit --json prints.
type auditReport struct {
	Requests   int        `json:"requests"`
	Parts      int        `json:"parts"`   // requests of pages' scripts, not counted above
	Damaged    int        `json:"damaged"` // lines that could not be read
	Hosts      []gapFound `json:"hosts"`
	IPs        []gapFound `json:"ips"`
	Violations []string   `json:"violations"`
}

// gapFound is the smallest gap of a host or an address.
type gapFound struct {
	Name     string   `json:"name"`
	Requests int      `json:"requests"`
	Parts    int      `json:"parts,omitempty"` // further ones, by scripts of pages of any host
	Gap      *float64 `json:"gap_s"`           // null: one request only; below 0 where two ran at once
	URL      string   `json:"url,omitempty"`   // that came so soon
}

func (au *auditor) report() auditReport {
	r := auditReport{Requests: au.total, Damaged: au.damaged, Hosts: []gapFound{}, IPs: []gapFound{}, Violations: []string{}}
	for _, name := range slices.Sorted(maps.Keys(au.hosts)) {
		g := r.judge("host "+name, name, au.hosts[name], true)
		g.Parts = au.parts[name]
		r.Hosts = append(r.Hosts, g)
	}
	for _, n := range au.parts {
		r.Parts += n
	}
	for _, name := range slices.Sorted(maps.Keys(au.ips)) {
		r.IPs = append(r.IPs, r.judge("address "+name, name, au.ips[name], false))
	}
	return r
}

// slack is what the clocks of two readings may differ by.
const slack = time.Millisecond

// judge finds the smallest gap in a list of requests and notes what broke a
// promise; a Retry-After is a promise to a host. What the scripts of a page ask
// its host for belongs to the visit of that page: no gap is due before it, but
// behind it.
func (r *auditReport) judge(what, name string, list []audited, host bool) gapFound {
	slices.SortStableFunc(list, func(a, b audited) int { return a.Start.Compare(b.Start) })
	g := gapFound{Name: name}
	visited := map[string]bool{}
	var free time.Time // by Retry-After
	end := list[0]     // the request that ended last so far
	for i, q := range list {
		if q.PartOf != "" {
			if !visited[q.PartOf] {
				r.Violations = append(r.Violations, fmt.Sprintf("%s: %s belongs to %s, which was not visited before", what, q.URL, q.PartOf))
			}
			if q.End.After(end.End) {
				end = q
			}
			continue
		}
		g.Requests++
		visited[q.URL] = true
		if host && q.Start.Add(slack).Before(free) {
			r.Violations = append(r.Violations, fmt.Sprintf("%s: %s came %s before Retry-After was over", what, q.URL, free.Sub(q.Start).Round(time.Millisecond)))
		}
		if q.RetryAfter > 0 && (q.Status == 429 || q.Status == 503) {
			free = q.End.Add(min(secondsOf(q.RetryAfter), 24*time.Hour))
		}
		if i == 0 {
			continue
		}
		gap := q.Start.Sub(end.End)
		if s := seconds(gap); g.Gap == nil || s < *g.Gap {
			g.Gap, g.URL = &s, q.URL
		}
		if end.promised > 0 && gap+slack < end.promised {
			r.Violations = append(r.Violations, fmt.Sprintf("%s: %s came %s after the end of the request before, %s was promised", what, q.URL, gap.Round(time.Millisecond), end.promised))
		}
		if q.End.After(end.End) {
			end = q
		}
	}
	return g
}

func (r auditReport) text() string {
	var b strings.Builder
	for _, part := range []struct {
		what string
		list []gapFound
	}{{"host", r.Hosts}, {"address", r.IPs}} {
		for _, g := range part.list {
			if g.Gap != nil {
				fmt.Fprintf(&b, "%s %s: %d requests, smallest gap %.3fs\n", part.what, g.Name, g.Requests, *g.Gap)
			}
		}
	}
	if r.Parts > 0 {
		fmt.Fprintf(&b, "%d more requests by scripts of pages\n", r.Parts)
	}
	fmt.Fprintf(&b, "%d requests to %d hosts, %d violations\n", r.Requests, len(r.Hosts), len(r.Violations))
	return b.String()
}
