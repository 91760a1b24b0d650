package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"octopus"
	"octopus/node"
)

// summarize prints what a crawl came to. The JSON goes to standard output
// unless the records went there.
func (a *app) summarize(l *loaded, res result, show showFlags, code int) error {
	if show.summary == "json" {
		w := a.stdout
		if slices.Contains(l.Output, "-") {
			w = a.stderr
		}
		return json.NewEncoder(w).Encode(summaryObject(res, code))
	}
	if !a.quiet {
		io.WriteString(a.stderr, a.summaryText(res, l.Store.NoPages))
	}
	return nil
}

// summaryText is the block that stays on the screen.
func (a *app) summaryText(res result, noPages bool) string {
	var b strings.Builder
	st := res.Status
	fmt.Fprintf(&b, "%s  %s  %s   %s  %s/s  %s\n", a.paint(1, "done"), res.End, short(st.Elapsed), counted(st.Pages, "page"), rateText(average(st)), bytesText(st.Bytes))
	fmt.Fprintf(&b, "  %s", strings.Replace(classes(st), "err ", "errors ", 1))
	if len(st.Errors) > 0 {
		fmt.Fprintf(&b, " (%s)", ranking(st.Errors))
	}
	b.WriteString(listed("   skipped", st.Skipped))
	if st.Saved > 0 {
		fmt.Fprintf(&b, "   parsing saved by checksum %s", grouped(st.Saved))
	}
	b.WriteString("\n")
	c := st.Counts
	fmt.Fprintf(&b, "  urls %s: done %s (failed %s), queued %s, parked %s   known again %s\n",
		grouped(c.Known), grouped(c.Done+c.Again), grouped(c.Failed), grouped(c.Queued-c.Again), grouped(c.Parked), grouped(st.Known))
	var kept []string
	for _, o := range outputs(res) {
		switch {
		case o.Path == "-":
		case o.Bytes == 0:
			kept = append(kept, o.Path)
		default:
			kept = append(kept, o.Path+" "+bytesText(o.Bytes))
		}
	}
	if res.Dir != "" {
		kept = append(kept, "state "+res.Dir)
	}
	if len(kept) > 0 {
		fmt.Fprintf(&b, "  %s\n", strings.Join(kept, "   "))
	}
	if res.Note != "" {
		fmt.Fprintf(&b, "  %s\n", res.Note)
	}
	switch {
	case res.Dir == "":
	case c.Queued > c.Again && res.End == node.EndPages:
		fmt.Fprintf(&b, "  %s left; a larger --max-pages goes on, it counts the pages of earlier runs too\n", grouped(c.Queued-c.Again))
	case c.Queued > c.Again:
		fmt.Fprintf(&b, "  %s left; go on with: %s\n", grouped(c.Queued-c.Again), againCommand(a.args))
	case c.Again > 0:
		fmt.Fprintf(&b, "  %s pages come due again; the same command visits them then, or waits for them with --watch\n", grouped(c.Again))
	case c.Pages > 0:
		dir := ""
		if res.Dir != node.DefaultConfig().Dir {
			dir = " --dir " + shellQuote(res.Dir)
		}
		fmt.Fprintf(&b, "  next: octopus why URL%s", dir)
		if !noPages {
			fmt.Fprintf(&b, " · octopus get URL --markdown%s", dir)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// summaryJSON is what --summary json prints. docs/reference/cli.md documents
// its fields; none goes away or changes its meaning without a new "v".
type summaryJSON struct {
	V        int              `json:"v"`
	Type     string           `json:"type"` // "summary"
	End      string           `json:"end"`
	ExitCode int              `json:"exit_code"`
	Elapsed  float64          `json:"elapsed_s"`
	Pages    int64            `json:"pages"`
	Rate     float64          `json:"rate"`
	Bytes    int64            `json:"bytes"`
	Fetches  int64            `json:"fetches"`
	Status   map[string]int64 `json:"status"`
	Errors   map[string]int64 `json:"errors"`
	Skipped  map[string]int64 `json:"skipped"`
	Known    int64            `json:"known_again"`
	Saved    int64            `json:"parsing_saved"`
	URLs     urlCounts        `json:"urls"`
	Dir      string           `json:"dir"`
	Out      []output         `json:"out"`
	Note     string           `json:"note"`
}

// urlCounts are the totals of the frontier, earlier runs included.
type urlCounts struct {
	Known  int64 `json:"known"`
	Queued int64 `json:"queued"`
	Later  int64 `json:"later"`
	Done   int64 `json:"done"`
	Parked int64 `json:"parked"`
	Failed int64 `json:"failed"`
	Pages  int64 `json:"pages"`
}

func countsOf(c octopus.Counts) urlCounts {
	return urlCounts{c.Known, c.Queued, c.Later, c.Done, c.Parked, c.Failed, c.Pages}
}

func summaryObject(res result, code int) summaryJSON {
	st := res.Status
	return summaryJSON{V: 1, Type: "summary", End: string(res.End), ExitCode: code, Elapsed: seconds(st.Elapsed), Pages: st.Pages,
		Rate: round(average(st)), Bytes: st.Bytes, Fetches: st.Fetches, Status: statusMap(st), Errors: notNil(st.Errors),
		Skipped: notNil(st.Skipped), Known: st.Known, Saved: st.Saved, URLs: countsOf(st.Counts), Dir: res.Dir, Out: outputs(res), Note: res.Note}
}

// output is one file, folder or table written.
type output struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"` // the length of a file; 0 for anything else
}

func outputs(res result) []output {
	out := []output{}
	for _, path := range res.Out {
		o := output{Path: node.Redact(path)}
		if form, file, ok := strings.Cut(path, ":"); ok && slices.Contains([]string{"jsonl", "csv", "sqlite"}, form) {
			path = file
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			o.Bytes = info.Size()
		}
		out = append(out, o)
	}
	return out
}
