package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"octopus"
)

// whyCmd tells all that is known of a URL.
func (a *app) whyCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "why URL", Short: "Tell what is known about a URL, and what it waits for", Args: cobra.ExactArgs(1),
		Long: `Tell all that is known about a URL: canonical form, the rule of the scope, the
line of robots.txt, where it is queued, its lease, last and next fetch, and its
stored page. It reads the state directory --dir of an earlier crawl.`}
	flags := addFlags(cmd, "dir")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	cmd.RunE = a.withSettings(flags, func(l *loaded, args []string) error {
		url, err := a.entry(args[0])
		if err != nil {
			return usage(fmt.Errorf("bad %w", err))
		}
		n, err := a.openState(l)
		if err != nil {
			return err
		}
		ex, err := n.Explain(context.Background(), url)
		if err = errors.Join(err, n.Close()); err != nil {
			return l.blame(err)
		}
		if asJSON {
			out := newJSONLines(a.stdout)
			return errors.Join(out.encode(whyOf(args[0], ex)), out.w.Flush())
		}
		return printWhy(a.stdout, ex)
	})
	return cmd
}

// printWhy writes one aligned line for each fact.
func printWhy(w io.Writer, ex octopus.Explanation) error {
	facts := []octopus.Fact{{Name: "url", Value: ex.URL.Text}, {Name: "host", Value: ex.URL.Host}, {Name: "site", Value: ex.URL.Site},
		{Name: "key", Value: ex.URL.Key.String()}, {Name: "state", Value: ex.State}}
	for _, f := range []octopus.Fact{{Name: "reason", Value: ex.Reason}, {Name: "waiting", Value: ex.Waiting}} {
		if f.Value != "" {
			facts = append(facts, f)
		}
	}
	facts = append(facts, ex.Facts...)
	wide := 0
	for _, f := range facts {
		wide = max(wide, len(f.Name))
	}
	for _, f := range facts {
		if _, err := fmt.Fprintf(w, "%-*s  %s\n", wide, f.Name, printable(f.Value)); err != nil {
			return err
		}
	}
	return nil
}

// why is what why --json prints.
type why struct {
	Input   string    `json:"input"`
	URL     string    `json:"url"`
	Host    string    `json:"host"`
	Site    string    `json:"site"`
	Key     string    `json:"key"`
	State   string    `json:"state"` // unknown, queued, leased, done, parked, failed or cleared
	Reason  string    `json:"reason,omitempty"`
	Waiting string    `json:"waiting,omitempty"`
	Facts   []whyFact `json:"facts"` // in reading order; a name may come twice
}

type whyFact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func whyOf(input string, ex octopus.Explanation) why {
	w := why{Input: input, URL: ex.URL.Text, Host: ex.URL.Host, Site: ex.URL.Site, Key: ex.URL.Key.String(),
		State: ex.State, Reason: ex.Reason, Waiting: ex.Waiting, Facts: []whyFact{}}
	for _, f := range ex.Facts {
		w.Facts = append(w.Facts, whyFact(f))
	}
	return w
}
