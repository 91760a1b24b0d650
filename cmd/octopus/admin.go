package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"octopus"
	"octopus/canon"
	"octopus/frontier"
	"octopus/node"
)

// stateVerb makes a verb that works on the state directory of a crawl that does
// not run; the crawl's own process has it locked while it does. body gets a
// node that writes no outputs.
func (a *app) stateVerb(cmd *cobra.Command, body func(ctx context.Context, n *node.Node, args []string) error) *cobra.Command {
	flags := addFlags(cmd, "dir")
	cmd.RunE = a.withSettings(flags, func(l *loaded, args []string) error {
		n, err := a.openState(l)
		if err != nil {
			return err
		}
		return errors.Join(body(context.Background(), n, args), n.Close())
	})
	return cmd
}

// frontierVerb is stateVerb for the local frontier: a shared one is not in the
// state directory.
func (a *app) frontierVerb(cmd *cobra.Command, body func(ctx context.Context, n *node.Node, args []string) error) *cobra.Command {
	return a.stateVerb(cmd, func(ctx context.Context, n *node.Node, args []string) error {
		if n.Frontier() == nil {
			return node.ErrSharedFrontier
		}
		return body(ctx, n, args)
	})
}

// operation makes a verb that does something to a frontier: that of the crawl
// that runs in --dir, or of one that does not.
func (a *app) operation(cmd *cobra.Command, body func(args []string, do func(node.Operation) (int64, error)) error) *cobra.Command {
	flags := addFlags(cmd, "dir")
	cmd.RunE = a.withSettings(flags, func(l *loaded, args []string) error {
		return body(args, func(o node.Operation) (int64, error) { return a.operate(l, o) })
	})
	return cmd
}

func (a *app) operate(l *loaded, o node.Operation) (int64, error) {
	changed, err := node.AskOperation(context.Background(), l.Dir, o)
	if !errors.Is(err, node.ErrNotRunning) {
		return changed, err
	}
	n, err := a.openState(l)
	if err != nil {
		return 0, err
	}
	changed, err = n.Operate(context.Background(), o)
	return changed, errors.Join(err, n.Close())
}

// filterFlags select URLs of a list.
type filterFlags struct{ host, site, board, match, reason string }

// add gives cmd the flags; those of the reason only where URLs have one.
func (f *filterFlags) add(cmd *cobra.Command, reasons bool) {
	s := cmd.Flags()
	s.StringVar(&f.host, "host", "", "only URLs of this `HOST`")
	s.StringVar(&f.site, "site", "", "only URLs of this registrable `DOMAIN`")
	s.StringVar(&f.board, "board", "", "only URLs of the board of this `NAME`")
	s.StringVar(&f.match, "match", "", "only URLs that match this regular expression (`RE`2)")
	if reasons {
		s.StringVar(&f.reason, "reason", "", "only URLs set aside for this `WORD`: robots, quota, trap, dead, failed, dropped …")
	}
}

// filter turns the flags into a filter; the error names the flag.
func (f *filterFlags) filter() (frontier.Filter, error) {
	out := frontier.Filter{Board: f.board, Reason: f.reason}
	for _, h := range []struct {
		flag, text string
		into       *octopus.URL
	}{{"--host", f.host, &out.Host}, {"--site", f.site, &out.Site}} {
		if h.text == "" {
			continue
		}
		u, err := hostURL(h.text)
		if err != nil {
			return out, usage(fmt.Errorf("%s %w", h.flag, err))
		}
		*h.into = u
	}
	if f.match == "" {
		return out, nil
	}
	if err := checkPatterns("--match", []string{f.match}); err != nil {
		return out, usage(err)
	}
	out.Match = regexp.MustCompile(f.match)
	return out, nil
}

// hostURL returns a URL of the host that text names: a host name, or any URL of
// it.
func hostURL(text string) (octopus.URL, error) {
	full := text
	if _, err := netip.ParseAddr(text); err == nil {
		full = "http://" + octopus.HostInURL(text) + "/"
	} else if !strings.Contains(text, "://") {
		full = "http://" + text + "/"
	}
	u, err := canon.Parse(full)
	if err != nil {
		return u, fmt.Errorf("%q is no host name", text)
	}
	return u, nil
}

// listItem is what ls --json prints of a URL.
type listItem struct {
	URL      string `json:"url"`
	Host     string `json:"host"`
	Depth    int    `json:"depth"`
	Lane     string `json:"lane"` // nav or data
	Board    string `json:"board,omitempty"`
	Via      string `json:"via,omitempty"`
	Attempts int    `json:"attempts"` // failed ones of the coming visit
	Reason   string `json:"reason,omitempty"`
	Detail   string `json:"detail,omitempty"`
}

func itemOf(i frontier.Item) listItem {
	return listItem{i.URL, i.Host, i.Depth, i.Lane.String(), i.Board, i.Via, i.Attempts, i.Reason, i.Detail}
}

// lister prints what ls verbs find.
type lister struct {
	asJSON bool
	limit  int64
	shown  int64
	out    jsonLines
}

func (p *lister) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&p.asJSON, "json", false, "one JSON object a line")
	cmd.Flags().Int64Var(&p.limit, "limit", 0, "print at most so many; 0 has no limit")
}

// print prints one thing: as JSON, or as text.
func (p *lister) print(v any, format string, args ...any) error {
	p.shown++
	if p.asJSON {
		return p.out.encode(v)
	}
	_, err := fmt.Fprintf(p.out.w, format+"\n", args...)
	return err
}

// full reports whether the limit is reached.
func (p *lister) full() bool { return p.limit > 0 && p.shown >= p.limit }
