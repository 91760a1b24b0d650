package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"octopus/node"
)

// crawlCmd is the verb most people need.
func (a *app) crawlCmd() *cobra.Command {
	var fresh, limitIsError bool
	var profile string
	var show showFlags
	cmd := &cobra.Command{
		Use:   "crawl URL...",
		Short: "Crawl from one or more URLs until nothing is left",
		Long: `Crawl from one or more URLs until nothing is left, or a limit is reached.

A URL - reads URLs from standard input, one a line; lines that begin with # are
comments. Running the same command again goes on where the last run ended; so
does a crawl without URLs. Ctrl-C finishes what is under way, a second Ctrl-C
stops at once; nothing finished is lost in either case, nor by kill -9.

Data goes to standard output, everything else to standard error. Every flag with
a default here is a key of the configuration file too: octopus help config.`,
		Example: `  octopus crawl https://example.com/ -n 100 -o pages.jsonl
  octopus crawl https://example.com/docs/ --scope prefix -d 3 --no-pages -o -
  cat urls.txt | octopus crawl - --depth 0 --scope page`,
	}
	flags := addFlags(cmd)
	cmd.SetUsageFunc(func(c *cobra.Command) error { return flags.groupedUsage(c, columnsOf(a.stdout)) })
	cmd.Flags().BoolVar(&fresh, "fresh", false, "forget what --dir holds and start anew")
	cmd.Flags().StringVar(&profile, "cpu-profile", "", "write a CPU profile of the crawl to `FILE`, for go tool pprof")
	cmd.Flags().BoolVar(&limitIsError, "limit-is-error", false, "exit with 6 where --max-pages or --max-time ended the crawl")
	show.add(cmd)
	cmd.RunE = a.verb(func(_ *cobra.Command, args []string) error {
		if err := show.check(); err != nil {
			return err
		}
		l, err := a.load(flags)
		if err != nil {
			return err
		}
		entries, err := a.entries(args)
		if err != nil {
			return err
		}
		if err := checkStart(l, args, entries, fresh); err != nil {
			return err
		}
		for _, note := range l.Notes() {
			a.note("note: %s", note)
		}
		a.noteUnused(l, entries)
		stopProfile, err := startProfile(profile)
		if err != nil {
			return err
		}
		res, err := a.run(l, entries, fresh, show)
		if err := errors.Join(err, stopProfile()); err != nil {
			return err
		}
		return a.conclude(l, res, show, limitIsError)
	})
	return cmd
}

// checkStart refuses a crawl that could not begin or would be rude.
func checkStart(l *loaded, args, entries []string, fresh bool) error {
	if len(entries) == 0 {
		switch {
		case len(args) > 0:
			return usage(fmt.Errorf("no URL on standard input"))
		case len(l.Boards) > 0, l.Crawl.Watch:
		case l.Frontier != "": // it helps those who have named one
		case fresh, l.Store.Discard, !hasState(l.Dir):
			return usage(fmt.Errorf("name a URL to start from: octopus crawl https://example.com/"))
		}
	}
	return checkContact(l, entries, l.boards())
}

// noteUnused tells of flags that say what is taken of the URLs on the command
// line, where there is none: a crawl goes on as it was begun.
func (a *app) noteUnused(l *loaded, entries []string) {
	if len(entries) > 0 || l.Frontier != "" {
		return
	}
	for _, key := range []string{"crawl.scope", "crawl.depth", "crawl.accept", "crawl.reject", "crawl.render"} {
		if flag := l.origin[key]; strings.HasPrefix(flag, "--") {
			a.note("note: %s has no effect without a URL: the crawl goes on as it was begun", flag)
		}
	}
}

// hasState tells whether dir holds a crawl to go on with. One that cannot be
// looked at counts: whoever opens it tells why not.
func hasState(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "kv"))
	return !errors.Is(err, fs.ErrNotExist)
}

// conclude prints the summary and chooses the exit code.
func (a *app) conclude(l *loaded, res result, show showFlags, limitIsError bool) error {
	code := exitCode(res, limitIsError)
	if err := a.summarize(l, res, show, code); err != nil {
		return err
	}
	switch code {
	case exitOK:
		return nil
	case exitNothing:
		return &exitError{code, fmt.Errorf("nothing fetched: %s", whyNothing(res.Summary))}
	case exitBackend:
		return &exitError{code, fmt.Errorf("output %s", printable(res.Lack))}
	case exitLimit:
		return &exitError{code, fmt.Errorf("stopped by the %s", res.End)}
	}
	return &exitError{code: code}
}

// exitCode is what the end of a crawl means to a script.
func exitCode(res result, limitIsError bool) int {
	switch {
	case res.signal == os.Interrupt:
		return exitSIGINT
	case res.signal != nil:
		return exitSIGTERM
	case res.Lack != "":
		return exitBackend
	case limitIsError && (res.End == node.EndPages || res.End == node.EndTime):
		return exitLimit
	case res.Counts.Pages == 0 && tried(res.Summary):
		return exitNothing
	}
	return exitOK
}

// tried tells whether this run had anything to fetch.
func tried(sum node.Summary) bool {
	return sum.Counts.Queued > 0 || sum.Fetches > 0 || ranking(sum.Errors) != "" || ranking(sum.Skipped) != ""
}

// whyNothing tells why a crawl brought no page, and what could help.
func whyNothing(sum node.Summary) string {
	why := ranking(sum.Errors)
	if why == "" {
		why = ranking(sum.Skipped)
	}
	if why == "" {
		why = sum.Waiting
	}
	if why == "" {
		why = fmt.Sprintf("%d requests, no page with status 2xx", sum.Fetches)
		if n := sum.Counts.Parked; n > 0 {
			why += fmt.Sprintf(", %s URLs kept aside; `octopus why URL` tells the reason", grouped(n))
		}
	}
	if last := sum.Last; last.Error != "" {
		why += fmt.Sprintf(" (%s: %s)", printable(last.URL), printable(last.Error))
	} else if last.Status > 0 {
		why += fmt.Sprintf(" (%s: status %d)", printable(last.URL), last.Status)
	}
	for _, h := range []struct {
		count int64
		hint  string
	}{
		{sum.Errors["forbidden-address"], "private and loopback addresses need --allow-net, for example --allow-net " + hintNet(sum.Last.URL)},
		{sum.Errors["no-host"], "check the host name"},
		{sum.Errors["dns"], "check the network, or name a DNS server with --resolver"},
		{sum.Skipped["robots"], "robots.txt forbids it; for a site of your own, --robots ignore"},
		{sum.Skipped["quota"], "--max-pages-per-host or --max-pages-per-site is reached; raise it, then octopus parked revive --reason quota"},
		{sum.Skipped["trap"], "it looks like an endless URL space; --traps off takes it"},
		{sum.Skipped["dead"], "the host does not exist or never answers; octopus parked ls --reason dead"},
		{sum.Skipped["scope"], "the entry leads out of --scope; try the address it redirects to"},
	} {
		if h.count > 0 {
			return why + "; " + h.hint
		}
	}
	return why
}

// hintNet proposes a network that would allow the host of a URL.
func hintNet(text string) string {
	u, err := url.Parse(text)
	if err != nil || isLoopback(u.Hostname()) || !strings.ContainsAny(u.Hostname(), "0123456789") {
		return "127.0.0.0/8"
	}
	return strings.Trim(u.Hostname(), "[]")
}

// ranking writes counts, largest first: "timeout 6, dns 3".
func ranking(counts map[string]int64) string {
	names := make([]string, 0, len(counts))
	for name, n := range counts {
		if n > 0 {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := counts[b] - counts[a]; d != 0 {
			return int(d)
		}
		return strings.Compare(a, b)
	})
	for i, name := range names {
		names[i] = name + " " + grouped(counts[name])
	}
	return strings.Join(names, ", ")
}
