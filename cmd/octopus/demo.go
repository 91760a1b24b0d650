package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"octopus"
	"octopus/internal/webtest"
	"octopus/node"
)

// demoDelay is the pause between two requests to one host of the demo: short,
// because the hosts are ours, and long enough to be seen kept.
const demoDelay = 50 * time.Millisecond

// demoCmd crawls a synthetic web and compares what it found with the truth.
func (a *app) demoCmd() *cobra.Command {
	var opt webtest.Options
	var dir string
	var serveOnly bool
	var show showFlags
	cmd := &cobra.Command{Use: "demo", Short: "Crawl a synthetic web on this machine and compare with the truth", Args: cobra.NoArgs,
		Long: `Start a synthetic web on loopback: many hosts with redirects, traps, robots.txt,
sitemaps, GBK and Big5 pages, errors and slow answers. Crawl it as octopus crawl
would, and compare what was found with the truth. The exit code is 0 only if
every page was found, none twice, and every host's pause was kept.`}
	f := cmd.Flags()
	f.IntVar(&opt.Hosts, "hosts", 40, "number of hosts")
	f.IntVar(&opt.Pages, "pages", 2000, "number of pages, all hosts together; those with special features come on top")
	f.Uint64Var(&opt.Seed, "seed", 1, "another seed is another web")
	f.IntVar(&opt.Port, "port", 0, "serve on this port, so that the URLs are the same each time; 0 takes a free one")
	f.StringVar(&dir, "dir", "", "keep state and pages.jsonl in this directory (default a temporary one, removed at the end)")
	f.BoolVar(&serveOnly, "serve-only", false, "serve the web until Ctrl-C, and print how to crawl it")
	show.add(cmd)
	cmd.RunE = a.verb(func(*cobra.Command, []string) error {
		if err := show.check(); err != nil {
			return err
		}
		if opt.Hosts < 1 || opt.Pages < 1 {
			return usage(fmt.Errorf("--hosts %d --pages %d: both must be at least 1", opt.Hosts, opt.Pages))
		}
		if opt.Port < 0 || opt.Port > 65535 {
			return usage(fmt.Errorf("--port %d: must be 0 to 65535", opt.Port))
		}
		opt.Agent = "octopus"
		opt.Scope = octopus.ScopeAny
		web := webtest.New(opt)
		if err := web.Start(); err != nil {
			return fmt.Errorf("start the synthetic web: %w", err)
		}
		defer web.Close()
		if serveOnly {
			return a.serve(web)
		}
		return a.demo(web, dir, show)
	})
	return cmd
}

// serve waits for a signal.
func (a *app) serve(web *webtest.Web) error {
	signals := make(chan os.Signal, 1)
	defer a.notify(signals)()
	fmt.Fprintf(a.stdout, "octopus crawl %s --scope any --resolver %s --allow-net 127.0.0.0/8 --host-delay %s\n",
		strings.Join(web.Entries(), " "), web.ResolverAddr(), demoDelay)
	a.note("serving %d hosts; Ctrl-C ends it", len(web.Hosts()))
	<-signals
	return nil
}

// demo crawls a web that runs, and judges the result.
func (a *app) demo(web *webtest.Web, dir string, show showFlags) error {
	temporary := dir == ""
	if temporary {
		tmp, err := os.MkdirTemp("", "octopus-demo-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		dir = tmp
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	l := demoConfig(web, dir)
	a.note("crawling %d hosts on loopback; entry %s", len(web.Hosts()), strings.Join(web.Entries(), " "))
	res, err := a.run(l, web.Entries(), true, show)
	if err != nil {
		return err
	}
	if temporary {
		res.Dir, res.Out = "", nil // they are gone in a moment
	}
	if err := a.summarize(l, res, show, exitCode(res, false)); err != nil {
		return err
	}
	if res.signal != nil {
		return &exitError{code: exitCode(res, false)}
	}
	found, err := readFound(l.Output[0])
	if err != nil {
		return err
	}
	return a.verdict(web.Check(slices.Values(found), demoDelay))
}

// demoConfig is that of an ordinary crawl, but for the network it may reach and
// the pauses.
func demoConfig(web *webtest.Web, dir string) *loaded {
	l := &loaded{Config: node.DefaultConfig(), origin: map[string]string{}}
	l.Dir = filepath.Join(dir, "db")
	l.Output = []string{filepath.Join(dir, "pages.jsonl")}
	l.Crawl.Scope = octopus.ScopeAny
	l.Fetcher.Concurrency = 64
	l.Fetcher.HostDelay = node.Duration(demoDelay)
	l.Fetcher.Retry.Backoff = node.Duration(250 * time.Millisecond)
	l.Fetcher.AllowNet = []string{"127.0.0.0/8"}
	l.Fetcher.Resolver = []string{web.ResolverAddr()}
	return l
}
