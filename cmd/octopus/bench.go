package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/spf13/cobra"

	"octopus/internal/benchweb"
)

// benchCmd groups the measurements that the product brings along. Comparisons
// with other crawlers are in the bench module of the source tree.
func (a *app) benchCmd() *cobra.Command {
	return group("bench", "Measure this program on this machine", "", a.benchCrawlCmd(), a.benchServeCmd(), a.benchInsideCmd())
}

// benchReport is the line that bench crawl prints.
type benchReport struct {
	Mode       string  `json:"mode"`
	PagesPerS  float64 `json:"pages_per_s"`
	CPU        float64 `json:"cpu_s_per_1k"` // of the crawler, user and system, per 1,000 pages
	RSS        float64 `json:"peak_rss_mb"`
	Complete   float64 `json:"complete"`   // pages fetched / pages there are, by the server
	Duplicates int64   `json:"duplicates"` // pages fetched again, by the server
	Bytes      float64 `json:"bytes_per_page"`
	Allocs     float64 `json:"allocs_per_page"`

	// Before the crawl, after a tenth of the pages, after nine tenths, and at
	// the end.
	Goroutines  [4]int     `json:"goroutines"`
	Descriptors [4]int     `json:"descriptors"`
	Heap        [4]float64 `json:"heap_mb"`
}

// benchCrawlCmd crawls a synthetic site that another process serves.
func (a *app) benchCrawlCmd() *cobra.Command {
	var web benchweb.Options
	var concurrency int
	cmd := &cobra.Command{Use: "crawl", Short: "Crawl a synthetic site on loopback in three modes and print what it took", Args: cobra.NoArgs,
		Long: `Start a synthetic site (20 KB and 40 links a page) in a process of its own and
crawl it three times, without pause and limits: discard (nothing kept), default
(durable frontier, robots, no page bodies) and pages (with the WARC container).
Print one JSON object for each. Memory and CPU time are those of the crawler
alone; completeness and duplicates are the server's count. The exit code is 0
only if every page was fetched exactly once and no goroutine or file was left
open.`}
	f := cmd.Flags()
	f.IntVar(&web.Hosts, "hosts", 1, "number of hosts")
	f.IntVar(&web.Pages, "pages", 20_000, "pages of each host")
	f.BoolVar(&web.Gzip, "gzip", false, "compress pages")
	f.DurationVar(&web.Latency, "latency", 0, "wait before each answer")
	f.IntVarP(&concurrency, "concurrency", "c", 16, "requests under way at once")
	cmd.RunE = a.verb(func(*cobra.Command, []string) error {
		if web.Hosts < 1 || web.Pages < 1 || concurrency < 1 {
			return usage(fmt.Errorf("--hosts %d --pages %d --concurrency %d: each must be at least 1", web.Hosts, web.Pages, concurrency))
		}
		return a.benchCrawl(web, concurrency)
	})
	return cmd
}

// benchServeCmd is the server's process of bench crawl.
func (a *app) benchServeCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "serve OPTIONS", Short: "Serve the site of bench crawl", Hidden: true, Args: cobra.ExactArgs(1)}
	cmd.RunE = a.verb(func(_ *cobra.Command, args []string) error {
		var opt benchweb.Options
		if err := json.Unmarshal([]byte(args[0]), &opt); err != nil {
			return usage(fmt.Errorf("options of the site: %w", err))
		}
		s, err := benchweb.Start(opt)
		if err != nil {
			return err
		}
		return errors.Join(s.Control(os.Stdin, a.stdout), s.Close())
	})
	return cmd
}

// benchCrawl runs the modes one after the other, each in a process of its own.
func (a *app) benchCrawl(opt benchweb.Options, concurrency int) (err error) {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "octopus-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	options, err := json.Marshal(opt)
	if err != nil {
		return err
	}
	server := exec.Command(self, "bench", "serve", string(options))
	stderr := &sharedWriter{w: a.stderr}
	server.Stderr = stderr
	web, err := benchweb.Spawn(server)
	if err != nil {
		return usage(err)
	}
	defer func() { err = errors.Join(err, web.Close()) }()
	for _, mode := range []string{"discard", "default", "pages"} {
		cmd := exec.Command(self, "bench", "inside", web.Entry, "--mode", mode, "-c", strconv.Itoa(concurrency),
			"--pages", strconv.Itoa(opt.Total()), "--dir", filepath.Join(dir, mode))
		cmd.Dir, cmd.Stderr = dir, stderr
		if err := a.benchMode(mode, cmd, web); err != nil {
			return err
		}
	}
	return nil
}

// benchMode runs one crawl and prints its line.
func (a *app) benchMode(name string, cmd *exec.Cmd, web *benchweb.Remote) error {
	var out bytes.Buffer
	cmd.Stdout = &out
	u, err := benchweb.Measure(cmd)
	if err != nil {
		return fmt.Errorf("mode %s: %w", name, err)
	}
	var in benchweb.Inside
	if err := json.Unmarshal(out.Bytes(), &in); err != nil {
		return fmt.Errorf("mode %s: what it says of itself: %w", name, err)
	}
	st, err := web.Reset()
	if err != nil {
		return err
	}
	pages := float64(max(st.Distinct, 1))
	r := benchReport{
		Mode: name, PagesPerS: benchweb.Round(pages / u.Wall.Seconds()), CPU: benchweb.Round(u.CPU.Seconds() * 1000 / pages), RSS: benchweb.Round(float64(u.RSS) / 1e6),
		Complete: benchweb.Round(pages / float64(st.Pages)), Duplicates: st.Duplicates,
		Bytes: in.Bytes, Allocs: in.Allocs,
	}
	last := len(in.Points) - 1
	for i, at := range [4]int{0, 1, last - 1, last} {
		p := in.Points[min(max(at, 0), last)]
		r.Goroutines[i], r.Descriptors[i], r.Heap[i] = p.Goroutines, p.Descriptors, p.Heap
	}
	if err := json.NewEncoder(a.stdout).Encode(r); err != nil {
		return err
	}
	return r.check(st)
}

// check is the error of a crawl that was not what it should be.
func (r *benchReport) check(st benchweb.Stats) error {
	switch {
	case st.Distinct != st.Pages || st.Duplicates > 0:
		return fmt.Errorf("mode %s: %d of %d pages fetched, %d again", r.Mode, st.Distinct, st.Pages, st.Duplicates)
	case r.Goroutines[3] > r.Goroutines[0] || r.Descriptors[3] > r.Descriptors[0]:
		return fmt.Errorf("mode %s: %d goroutines and %d descriptors before the crawl, %d and %d after it", r.Mode,
			r.Goroutines[0], r.Descriptors[0], r.Goroutines[3], r.Descriptors[3])
	}
	return nil
}

// sharedWriter lets two processes write to one stream in turn.
type sharedWriter struct {
	mu sync.Mutex // guards w
	w  io.Writer
}

func (s *sharedWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}
