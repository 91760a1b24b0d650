package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"octopus/node"
)

// showFlags say how a crawl is shown; crawl and demo have them.
type showFlags struct {
	progress string
	interval time.Duration
	summary  string
}

func (s *showFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.progress, "progress", "auto", "bar, plain, json, none, or auto: bar on a terminal, else plain")
	f.DurationVar(&s.interval, "progress-interval", 10*time.Second, "time between two lines of plain or json progress")
	f.StringVar(&s.summary, "summary", "text", "text (standard error) or json (standard output, or standard error with -o -)")
}

func (s *showFlags) check() error {
	if err := oneOf("--progress", s.progress, "auto", "bar", "plain", "json", "none"); err != nil {
		return err
	}
	if s.interval <= 0 {
		return usage(fmt.Errorf("--progress-interval %s: must be positive", s.interval))
	}
	return oneOf("--summary", s.summary, "text", "json")
}

// redraw is the period of the bar.
const redraw = 250 * time.Millisecond

// progress starts showing status and returns the function that ends it.
func (a *app) progress(l *loaded, entries []string, show showFlags, out *screen, status func() node.Status) (stop func()) {
	mode := show.progress
	if mode == "auto" {
		mode = "plain"
		if a.isTerminal(a.stderr) {
			mode = "bar"
		}
	}
	if a.quiet || mode == "none" {
		return func() {}
	}
	v := &view{head: headline(l, entries), maxPages: l.Crawl.MaxPages, maxTime: time.Duration(l.Crawl.MaxTime)}
	draw := func() { fmt.Fprintln(out, v.plain()) }
	period := show.interval
	switch mode {
	case "bar":
		draw, period = func() { out.draw(v.bar(columnsOf(a.stderr))) }, redraw
	case "json":
		draw = func() { json.NewEncoder(out).Encode(v.object()) }
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		// The trend wants a sample each second, however rarely a line is due.
		tick := time.NewTicker(min(period, time.Second))
		defer tick.Stop()
		for next := period; ; {
			select {
			case <-tick.C:
				v.update(status())
				if mode == "bar" || v.st.Elapsed >= next {
					draw()
					next = v.st.Elapsed - v.st.Elapsed%period + period
				}
			case <-quit:
				out.clear()
				return
			}
		}
	}()
	return func() { close(quit); <-done }
}

// headline is the first line of the bar: what is crawled, and how.
func headline(l *loaded, entries []string) string {
	what := l.Dir
	switch len(entries) {
	case 0:
	case 1:
		what = entries[0]
	default:
		what = fmt.Sprintf("%s and %d more", entries[0], len(entries)-1)
	}
	depth := "depth unlimited"
	if l.Crawl.Depth >= 0 {
		depth = fmt.Sprintf("depth≤%d", l.Crawl.Depth)
	}
	state := "dir " + l.Dir
	if l.Store.Discard {
		state = "nothing kept"
	}
	return fmt.Sprintf("octopus %s  %s  scope=%s  %s  robots=%s  %s", node.Version, printable(what), l.Crawl.Scope, depth, l.Robots.Policy, printable(state))
}

// screen is a writer with a block of lines at its end that is drawn again and
// again. What is written meanwhile goes above the block.
type screen struct {
	w     io.Writer
	mu    sync.Mutex
	lines int // guarded by mu: height of the block shown now
}

// Write writes p above the block; the block comes back with the next draw.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	return s.w.Write(p)
}

func (s *screen) draw(lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	io.WriteString(s.w, strings.Join(lines, "\n")+"\n")
	s.lines = len(lines)
}

func (s *screen) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
}

// erase moves to the block's first line and clears to the end of the screen.
func (s *screen) erase() {
	if s.lines > 0 {
		fmt.Fprintf(s.w, "\x1b[%dA\r\x1b[J", s.lines)
		s.lines = 0
	}
}
