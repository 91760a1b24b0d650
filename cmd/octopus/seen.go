package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"octopus/node"
	"octopus/seen"
)

// seenCmd looks after the memory of met URLs.
func (a *app) seenCmd() *cobra.Command {
	return group("seen", "Look after the memory of met URLs, or plan its size", "",
		a.seenInfoCmd(), a.seenAddCmd(), a.seenCheckCmd(), a.seenRotateCmd(), a.seenAllowCmd(), a.seenPlanCmd())
}

func (a *app) seenInfoCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "info", Short: "Print what the set holds: URLs, bytes per URL, error rate, windows", Args: cobra.NoArgs}
	asJSON := cmd.Flags().Bool("json", false, "as one JSON object")
	return a.stateVerb(cmd, func(ctx context.Context, n *node.Node, _ []string) error {
		info, err := n.SeenInfo(ctx)
		if err != nil {
			return err
		}
		return a.report(info, *asJSON, "%s", infoText(info))
	})
}

// infoText writes an info for people.
func infoText(info node.SeenInfo) string {
	var b strings.Builder
	fmt.Fprintf(&b, "kind        %s\nURLs        %s\n", info.Kind, grouped(info.Entries))
	if info.Bytes > 0 {
		fmt.Fprintf(&b, "memory      %s, %.1f bytes per URL\n", bytesText(info.Bytes), info.PerEntry)
	}
	if info.Target > 0 {
		fmt.Fprintf(&b, "error rate  %.2g measured, %.2g asked for\n", info.ErrorRate, info.Target)
	}
	if info.Full {
		b.WriteString("full        a filter in Redis does not grow: give the next crawl a larger --seen-capacity, under another --job\n")
	}
	for _, w := range info.Windows {
		fmt.Fprintf(&b, "window      %s  %s of %s URLs  %s  error rate %.2g", w.Name, grouped(w.Entries), grouped(w.Capacity), bytesText(w.Bytes), w.ErrorRate)
		if !w.Expires.IsZero() {
			fmt.Fprintf(&b, "  until %s", w.Expires.Format(time.RFC3339))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (a *app) seenAddCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "add URL...", Short: "Take URLs for met, so that the crawl does not fetch them; - reads standard input", Args: cobra.MinimumNArgs(1)}
	return a.stateVerb(cmd, func(ctx context.Context, n *node.Node, args []string) error {
		urls, err := a.entries(args)
		if err != nil {
			return err
		}
		fresh, err := n.SeenAdd(ctx, urls)
		return a.answer(urls, fresh, "added", "known", err)
	})
}

func (a *app) seenCheckCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "check URL...", Short: "Tell which URLs are known now; - reads standard input", Args: cobra.MinimumNArgs(1)}
	return a.stateVerb(cmd, func(ctx context.Context, n *node.Node, args []string) error {
		urls, err := a.entries(args)
		if err != nil {
			return err
		}
		known, err := n.SeenCheck(ctx, urls)
		return a.answer(urls, known, "known", "new", err)
	})
}

// answer prints a word and the URL, one a line.
func (a *app) answer(urls []string, is []bool, yes, no string, err error) error {
	if err != nil {
		return err
	}
	w := bufio.NewWriter(a.stdout)
	for i, u := range urls {
		word := no
		if is[i] {
			word = yes
		}
		fmt.Fprintf(w, "%s\t%s\n", word, u)
	}
	return w.Flush()
}

func (a *app) seenRotateCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "rotate", Short: "Believe the clock at once: windows that are over are forgotten now", Args: cobra.NoArgs}
	return a.stateVerb(cmd, func(ctx context.Context, n *node.Node, _ []string) error { return n.SeenRotate(ctx) })
}

func (a *app) seenAllowCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "allow URL...", Short: "Take URLs as new once more, whatever the filter says; - reads standard input", Args: cobra.MinimumNArgs(1)}
	return a.stateVerb(cmd, func(_ context.Context, n *node.Node, args []string) error {
		urls, err := a.entries(args)
		if err != nil {
			return err
		}
		return n.SeenAllow(urls)
	})
}

// planned is what seen plan --json prints.
type planned struct {
	Capacity   int64   `json:"capacity"` // URLs of one window
	Windows    int     `json:"windows"`
	Layout     string  `json:"layout"` // split8 and twoline16 are those of the state directory; classic is Redis'
	Hashes     int     `json:"hashes"`
	BitsPerKey float64 `json:"bits_per_url"` // per window
	Bits       int64   `json:"bits"`         // per window
	Bytes      int64   `json:"bytes"`        // of all windows
	Blocks     int     `json:"blocks"`       // 512 MB Redis strings of a window
	ErrorRate  float64 `json:"error_rate"`   // the true one, of a check that asks all windows
}

func (a *app) seenPlanCmd() *cobra.Command {
	var capacity, bits int64
	var hashes, windows int
	var errorRate float64
	var asJSON bool
	cmd := &cobra.Command{Use: "plan", Short: "Size a filter from (capacity, error rate), or judge (capacity, bits, hashes)", Args: cobra.NoArgs,
		Example: `  octopus seen plan --capacity 200000000 --windows 3 --error-rate 1e-4
  octopus seen plan --capacity 50000000 --bits 1600000000 --hashes 22`}
	f := cmd.Flags()
	f.Int64Var(&capacity, "capacity", 1_000_000, "URLs of one window")
	f.IntVar(&windows, "windows", 1, "windows that are asked together; 1 is a filter without windows")
	f.Float64Var(&errorRate, "error-rate", 1e-4, "share of new URLs that may be taken for met, all windows together")
	f.Int64Var(&bits, "bits", 0, "judge a plain filter of so many bits per window; needs --hashes")
	f.IntVar(&hashes, "hashes", 0, "bits that a URL sets; needs --bits too")
	f.BoolVar(&asJSON, "json", false, "as one JSON object")
	cmd.RunE = a.verb(func(*cobra.Command, []string) error {
		plan := seen.PlanFor
		if bits != 0 || hashes != 0 {
			plan = func(int64, int, float64) (seen.Plan, error) { return seen.PlanClassic(capacity, bits, hashes, windows) }
		}
		p, err := plan(capacity, windows, errorRate)
		if err != nil {
			return usage(err)
		}
		return a.report(planned(p), asJSON, "bits        %s per window, %.2f per URL\nhashes      %d (%s)\nmemory      %.1f MB in %d windows\nblocks      %d of 512 MB per window\nerror rate  %.3g\n",
			grouped(p.Bits), p.BitsPerKey, p.Hashes, p.Layout, float64(p.Bytes)/1e6, p.Windows, p.Blocks, p.ErrorRate)
	})
	return cmd
}
