package main

import (
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
	return group("bench", "Measure this program on this machine", "", a.benchCrawlCmd(), a.benchServeCmd())
}

// benchReport is the line that bench crawl prints.
type benchReport struct {
	Mode       string  `json:"mode"`
	PagesPerS  float64 `json:"pages_per_s"`
	CPU        float64 `json:"cpu_s_per_1k"` // of the crawler, user and system, per 1,000 pages
	RSS        float64 `json:"peak_rss_mb"`
	Complete   float64 `json:"complete"`   // pages fetched / pages there are, by the server
	Duplicates int64   `json:"duplicates"` // pages fetched again, by the server
}

// benchCrawlCmd crawls a synthetic site that another process serves.
func (a *app) benchCrawlCmd() *cobra.Command {
	var web benchweb.Options
	var concurrency int
	cmd := &cobra.Command{Use: "crawl", Short: "Crawl a synthetic site on loopback in three modes and print what it took", Args: cobra.NoArgs,
		Long: `Start a synthetic site (20 KB and 40 links a page) in a process of its own and crawl
it three times, without pause and limits: discard (nothing kept), default (durable
frontier, robots, no page bodies) and pages (with the WARC container). Print one
JSON object for each. Memory and CPU time are those of the crawler alone;
completeness and duplicates are the server's count. The exit code is 0 only if
every page was fetched exactly once.`}
	f := cmd.Flags()
	f.IntVar(&web.Hosts, "hosts", 1, "number of hosts")
	f.IntVar(&web.Pages, "pages", 20_000, "pages of each host")
	f.BoolVar(&web.Gzip, "gzip", false, "compress pages")
	f.DurationVar(&web.Latency, "latency", 0, "wait before each answer")
	f.IntVarP(&concurrency, "concurrency", "c", 16, "requests under way at once")
	cmd.RunE = a.verb(func(*cobra.Command, []string) error { return a.benchCrawl(web, concurrency) })
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
	n := strconv.Itoa(concurrency)
	args := []string{"crawl", web.Entry, "--scope", "any", "--host-delay", "0s", "--allow-net", "127.0.0.0/8", "-c", n, "--conns-per-host", n, "--quiet"}
	for _, mode := range []struct {
		name  string
		flags []string
	}{
		{"discard", []string{"--discard", "--robots", "ignore"}},
		{"default", []string{"--no-pages", "--dir", filepath.Join(dir, "default")}},
		{"pages", []string{"--dir", filepath.Join(dir, "pages")}},
	} {
		cmd := exec.Command(self, append(args, mode.flags...)...)
		cmd.Dir, cmd.Stderr = dir, stderr
		if err := a.benchMode(mode.name, cmd, web); err != nil {
			return err
		}
	}
	return nil
}

// benchMode runs one crawl and prints its line.
func (a *app) benchMode(name string, cmd *exec.Cmd, web *benchweb.Remote) error {
	u, err := benchweb.Measure(cmd)
	if err != nil {
		return fmt.Errorf("mode %s: %w", name, err)
	}
	st, err := web.Reset()
	if err != nil {
		return err
	}
	pages := float64(max(st.Distinct, 1))
	err = json.NewEncoder(a.stdout).Encode(benchReport{
		Mode: name, PagesPerS: rounded(pages / u.Wall.Seconds()), CPU: rounded(u.CPU.Seconds() * 1000 / pages), RSS: rounded(float64(u.RSS) / 1e6),
		Complete: rounded(pages / float64(st.Pages)), Duplicates: st.Duplicates,
	})
	if err == nil && (st.Distinct != st.Pages || st.Duplicates > 0) {
		err = fmt.Errorf("mode %s: %d of %d pages fetched, %d again", name, st.Distinct, st.Pages, st.Duplicates)
	}
	return err
}

// rounded keeps four significant digits: more would be noise.
func rounded(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return v
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
