package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/spf13/cobra"

	"octopus/internal/benchweb"
	"octopus/node"
)

// benchInsideCmd crawls a site of bench serve and looks at its own process. It
// is for the bench module and for bench crawl.
func (a *app) benchInsideCmd() *cobra.Command {
	cfg := node.DefaultConfig()
	var mode, profile string
	var pages int64
	cmd := &cobra.Command{Use: "inside URL", Short: "Crawl a synthetic site and print what the process allocated and held", Hidden: true, Args: cobra.ExactArgs(1)}
	f := cmd.Flags()
	f.StringVar(&mode, "mode", "default", "discard, default or pages")
	f.StringVar(&cfg.Dir, "dir", "", "state directory, new")
	f.StringVar(&profile, "profile", "", "write a CPU profile to `FILE`")
	f.Int64Var(&pages, "pages", 20_000, "pages there are")
	f.IntVarP(&cfg.Fetcher.Concurrency, "concurrency", "c", 16, "requests under way at once")
	cmd.RunE = a.verb(func(_ *cobra.Command, args []string) error {
		cfg.Fetcher.ConnsPerHost, cfg.Fetcher.HostDelay = cfg.Fetcher.Concurrency, 0
		cfg.Fetcher.AllowNet, cfg.Crawl.Scope = []string{"127.0.0.0/8"}, "any"
		switch mode {
		case "discard":
			cfg.Store.Discard, cfg.Robots.Policy = true, "ignore"
		case "default":
			cfg.Store.NoPages = true
		case "pages":
		default:
			return usage(fmt.Errorf("--mode is discard, default or pages, not %q", mode))
		}
		stop, err := benchProfile(profile)
		if err != nil {
			return err
		}
		got, err := a.benchInside(cfg, args[0], pages)
		if err := errors.Join(err, stop()); err != nil {
			return err
		}
		return json.NewEncoder(a.stdout).Encode(got)
	})
	return cmd
}

// benchRate is the rate of the profile, in Hz. At the usual 100 Hz a tenth of
// the time is lost: the kernel looks at the timers of threads every 4 ms, and
// only at those that run just then, so of a thread that works in short bursts
// two periods may end before one is noticed.
const benchRate = 50

func benchProfile(path string) (stop func() error, err error) {
	if path != "" {
		runtime.SetCPUProfileRate(benchRate) // what comes next says on standard error that it keeps this rate
		defer func() {
			if err != nil {
				pprof.StopCPUProfile()
			}
		}()
	}
	return startProfile(path)
}

// benchInside crawls, looking at the process after each tenth of the pages.
func (a *app) benchInside(cfg node.Config, url string, pages int64) (got benchweb.Inside, err error) {
	defer a.tuneGC()()
	watch := benchweb.StartWatch(pages)
	n, err := a.open(cfg, node.Options{})
	if err != nil {
		return got, err
	}
	ended := make(chan error, 1)
	go func() {
		_, err := n.Run(context.Background(), []string{url})
		ended <- err
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for running := true; running; {
		select {
		case err = <-ended:
			running = false
		case <-tick.C:
			watch.At(n.Status().Pages)
		}
	}
	done := n.Status().Pages
	err = errors.Join(err, n.Close())
	return watch.End(done), err
}
