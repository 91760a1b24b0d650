package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"octopus/node"
)

// boardTestCmd fetches a few pages as boards would have it, and keeps nothing.
func (a *app) boardTestCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "test URL", Short: "Fetch a few pages from a URL on, and tell which rule of which board decided what", Args: cobra.ExactArgs(1),
		Long: `Fetch a few pages from a URL on as the boards would have it, and tell for each
page why it is navigation or data, and for its links which rule of which board
took or refused them. Nothing is kept, and the crawl is not touched.

The boards are those of --dir and of the configuration file. With any flag of a
board, a board of these flags alone is tried, with the URL as its entry.`,
		Example: "  octopus board test https://example.com/world/\n  octopus board test https://example.com/ --article '/20\\d\\d/' -n 20"}
	// The manners of the crawl hold here, too.
	settings := addFlags(cmd, "dir", "userAgent", "fetcher.hostDelay", "fetcher.allowNet", "fetcher.resolver", "fetcher.timeout", "robots.policy")
	flags := boardFlags(cmd, "entry", "name", "refresh", "recrawl", "quota", "delay")
	var pages int
	var asJSON bool
	cmd.Flags().IntVarP(&pages, "pages", "n", 10, "fetch so many pages with status 2xx")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a page")
	cmd.RunE = a.verb(func(_ *cobra.Command, args []string) error {
		if pages < 1 {
			return usage(errors.New("--pages must be at least 1"))
		}
		l, err := a.load(settings)
		if err != nil {
			return err
		}
		url, err := a.entry(args[0])
		if err != nil {
			return usage(fmt.Errorf("bad %w", err))
		}
		if err := a.boardsToTest(l, flags, url); err != nil {
			return err
		}
		if err := checkContact(l, []string{url}, l.boards()); err != nil {
			return err
		}
		return a.testBoards(l, url, pages, asJSON)
	})
	return cmd
}

// boardsToTest puts the boards that are tried into l.
func (a *app) boardsToTest(l *loaded, flags *flagSet, url string) error {
	if len(flags.set) == 0 {
		list, err := a.boards(l)
		if err != nil {
			return err
		}
		l.Boards = nil
		for _, b := range list {
			l.Boards = append(l.Boards, b.BoardConfig)
		}
	} else {
		l.Boards = nil
	}
	if len(l.Boards) == 0 {
		b := node.DefaultBoard()
		flags.overlayBoard(&b)
		b.Name, b.Entry = "test", []string{url}
		l.Boards = []node.BoardConfig{b}
	}
	for i := range l.Boards {
		if err := l.Boards[i].Validate(); err != nil {
			return boardFlagError(err)
		}
	}
	return nil
}

func (a *app) testBoards(l *loaded, url string, pages int, asJSON bool) error {
	out := newJSONLines(a.stdout)
	fetched := false
	judged, err := node.TestBoards(context.Background(), l.Config, node.Options{Log: a.logger(a.stderr)}, url, pages, func(t node.BoardTest) {
		fetched = fetched || t.Status/100 == 2
		if asJSON {
			out.encode(t)
			return
		}
		for line := range strings.Lines(t.String()) {
			fmt.Fprintln(out.w, printable(strings.TrimSuffix(line, "\n")))
		}
	})
	if err = errors.Join(err, out.w.Flush()); err != nil {
		return l.blame(err)
	}
	if fetched {
		return nil
	}
	text := "no page was fetched"
	for _, j := range judged {
		word := "refuses"
		if j.Accept {
			word = "accepts"
		}
		text += fmt.Sprintf("\n  board %s %s %s: %s", j.Board, word, url, j.Rule)
	}
	return errors.New(text)
}
