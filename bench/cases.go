package main

import (
	"path/filepath"
	"strconv"
	"time"

	"octopus/internal/benchweb"
)

// webCase is a site and those who crawl it.
type webCase struct {
	name     string
	web      benchweb.Options
	parallel int      // requests at once
	perHost  int      // of them to one host, for those who can be told; 0: all
	quick    []string // clients of the quick run; peers come before octopus, whose ratios need them
	full     []string // those that the full run adds
}

var (
	ours   = []string{"octopus-discard", "octopus", "octopus-warc"}
	limits = []string{"L2", "L1", "L1-warc"}
	peers  = []string{"colly", "wget", "wget-warc", "wget2"}
)

// cases are those of docs/performance.md.
func cases() []webCase {
	return []webCase{
		{"single: 1 host x 20,000", benchweb.Options{}, 16, 0, list(limits, peers, ours), nil},
		{"multi: 200 hosts x 100", benchweb.Options{Hosts: 200, Pages: 100}, 16, 1, list([]string{"L2", "wget2"}, ours), list([]string{"L1", "L1-warc", "colly", "wget", "wget-warc"})},
		{"hosts: 20,000 hosts x 1, by name", benchweb.Options{Hosts: 20_000, Pages: 1, Names: true}, 16, 1, []string{"octopus-discard", "octopus"}, []string{"colly", "octopus-warc"}},
		{"latency: 50 ms, 1 host x 4,000", benchweb.Options{Pages: 4_000, Latency: 50 * time.Millisecond}, 64, 0, []string{"wget2", "octopus"}, []string{"colly", "octopus-discard", "octopus-warc"}},
		{"gzip: 1 host x 20,000", benchweb.Options{Gzip: true}, 16, 0, []string{"L2", "wget2", "octopus"}, []string{"colly", "octopus-discard", "octopus-warc"}},
		{"tls: 1 host x 20,000", benchweb.Options{TLS: true}, 16, 0, []string{"L2", "wget2", "octopus"}, []string{"colly", "wget", "octopus-discard", "octopus-warc"}},
		{"large: 1 host x 200,000", benchweb.Options{Pages: 200_000}, 16, 0, []string{"octopus"}, []string{"octopus-discard", "octopus-warc"}},
	}
}

func list(parts ...[]string) (all []string) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// site is what a client is told of a running web.
type site struct {
	benchweb.Hello
	ca       string // file with the certificate; empty without TLS
	parallel int
	perHost  int
	dir      string // scratch directory of one run
}

// command returns the command line of a client.
func (b *bench) command(client string, s site) []string {
	parallel := strconv.Itoa(s.parallel)
	wget := []string{"wget", "-q", "-r", "-l", "inf", "-H", "-e", "robots=off", "--no-check-certificate", "--delete-after", "--no-proxy"}
	switch client {
	case "octopus-discard":
		return b.octopus(s, "--discard", "--robots", "ignore")
	case "octopus":
		return b.octopus(s, "--no-pages", "--dir", filepath.Join(s.dir, "db"))
	case "octopus-warc":
		return b.octopus(s, "--dir", filepath.Join(s.dir, "db"))
	case "L2":
		return []string{b.self, "least", "-client", "net", "-parallel", parallel, "-url", s.Entry}
	case "L1":
		return []string{b.self, "least", "-client", "raw", "-parallel", parallel, "-url", s.Entry}
	case "L1-warc":
		return []string{b.self, "least", "-client", "raw", "-parallel", parallel, "-url", s.Entry, "-warc", filepath.Join(s.dir, "least.warc.gz")}
	case "colly":
		return []string{b.self, "colly", "-parallel", parallel, "-url", s.Entry, "-resolver", s.Resolver}
	case "wget":
		return append(wget, s.Entry)
	case "wget-warc":
		return append(wget, "--warc-file="+filepath.Join(s.dir, "wget"), s.Entry)
	case "wget2":
		return append(append([]string{"wget2", "--max-threads=" + parallel}, wget[1:]...), s.Entry)
	}
	panic("no client " + client) // a mistake in cases
}

func (b *bench) octopus(s site, more ...string) []string {
	args := []string{b.product, "crawl", s.Entry, "--scope", "any", "--host-delay", "0s", "--allow-net", "127.0.0.0/8",
		"--concurrency", strconv.Itoa(s.parallel), "--conns-per-host", strconv.Itoa(s.perHost), "--progress", "none", "--quiet"}
	if s.Resolver != "" {
		args = append(args, "--resolver", s.Resolver)
	}
	return append(args, more...)
}
