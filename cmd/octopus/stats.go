package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"octopus/node"
	"octopus/stats"
)

// statsFlags select and fold rows of statistics.
type statsFlags struct {
	by, board, class, since, until string
	split                          []string
	asJSON, asCSV                  bool
}

func (a *app) statsCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "stats", Short: "Print what a crawl did, hour by hour or day by day", Args: cobra.NoArgs,
		Long: `Counters per hour or day, UTC, of a crawl's directory: one line for each hour or
day in which anything happened, and their sum. It asks the crawl that runs in
the directory, if one does. Each accepted outcome counts once, also over kill
-9. Hours are kept for 31 days, days for three years.`,
		Example: `  octopus stats --since 7d --by day
  octopus stats --board news --split class
  octopus stats --by day --split board,class --csv`}
	var s statsFlags
	f := cmd.Flags()
	f.StringVar(&s.by, "by", "hour", "length of a line's time: hour or day")
	f.StringVar(&s.board, "board", "", "only the board of this `NAME`; a plain octopus crawl is the board crawl")
	f.StringVar(&s.class, "class", "", "only pages of this `CLASS`: nav, data or other; robots for robots.txt")
	f.StringSliceVar(&s.split, "split", nil, "a line for each `board,class` instead of their sum")
	f.StringVar(&s.since, "since", "", "begin so long ago or at this `TIME`: 36h, 7d, 2026-07-01 (default 24h, by day 31d)")
	f.StringVar(&s.until, "until", "", "end so long ago or with this `TIME` (default now)")
	f.BoolVar(&s.asJSON, "json", false, "one JSON object a line, without the sum")
	f.BoolVar(&s.asCSV, "csv", false, "comma-separated values with a heading, without the sum")
	flags := addFlags(cmd, "dir")
	cmd.RunE = a.verb(func(_ *cobra.Command, _ []string) error {
		q, err := s.query(time.Now())
		if err != nil {
			return usage(err)
		}
		l, err := a.load(flags)
		if err != nil {
			return err
		}
		return a.printStats(l, &s, q)
	})
	return cmd
}

// printStats prints the rows of a query, of the crawl that runs in the directory
// or of the directory itself.
func (a *app) printStats(l *loaded, s *statsFlags, q stats.Query) error {
	p := s.printer(a.stdout)
	var fold statsFold
	visit := func(r stats.Row) error {
		if s.board != "" && r.Board != s.board || s.class != "" && r.Class != s.class {
			return nil
		}
		return fold.add(s.strip(r), p.row)
	}
	rows, err := node.AskStats(context.Background(), l.Dir, q)
	for _, r := range rows {
		err = errors.Join(err, visit(r))
	}
	if errors.Is(err, node.ErrNotRunning) {
		n, openErr := a.openState(l)
		if openErr != nil {
			return openErr
		}
		err = errors.Join(n.Stats(q, visit), n.Close())
	}
	if err != nil {
		return err
	}
	return errors.Join(fold.flush(p.row), p.end())
}

// query checks the flags.
func (s *statsFlags) query(now time.Time) (q stats.Query, err error) {
	if err := oneOf("--by", s.by, "hour", "day"); err != nil {
		return q, err
	}
	if err := oneOf("--class", s.class, "", "nav", "data", "other", stats.ClassRobots); err != nil {
		return q, err
	}
	for _, word := range s.split {
		if err := oneOf("--split", word, "board", "class"); err != nil {
			return q, err
		}
	}
	if s.asJSON && s.asCSV {
		return q, errors.New("--json and --csv: choose one")
	}
	q.Span, q.Since = stats.Hour, now.Add(-24*time.Hour)
	if s.by == "day" {
		q.Span, q.Since = stats.Day, now.Add(-31*24*time.Hour)
	}
	if s.since != "" {
		if q.Since, err = ago(s.since, now, false); err != nil {
			return q, fmt.Errorf("--since: %w", err)
		}
	}
	if s.until != "" {
		if q.Until, err = ago(s.until, now, true); err != nil {
			return q, fmt.Errorf("--until: %w", err)
		}
	}
	return q, nil
}

// ago reads a time, or a duration before now. A date is its first instant, or
// with last its last one.
func ago(text string, now time.Time, last bool) (time.Time, error) {
	var d node.Duration
	if d.UnmarshalText([]byte(text)) == nil {
		return now.Add(-time.Duration(d)), nil
	}
	t, err := parseTime(text)
	if err != nil {
		return t, fmt.Errorf("%q is neither a time nor a duration; write 36h, 7d, 2026-07-01 or 2026-07-01T12:00:00Z", text)
	}
	if !last && len(text) == len(time.DateOnly) {
		t = t.Truncate(24 * time.Hour)
	}
	return t, nil
}

// strip takes out of a row's name what is not to be told apart.
func (s *statsFlags) strip(r stats.Row) stats.Row {
	if !slices.Contains(s.split, "board") {
		r.Board = ""
	}
	if !slices.Contains(s.split, "class") {
		r.Class = ""
	}
	return r
}

// statsFold adds up the rows of one hour or day that have the same name.
type statsFold struct{ rows []stats.Row }

// add takes in a row, and prints those of the time before once it is over.
func (f *statsFold) add(r stats.Row, print func(stats.Row) error) error {
	if len(f.rows) > 0 && !f.rows[0].Start.Equal(r.Start) {
		if err := f.flush(print); err != nil {
			return err
		}
	}
	for i := range f.rows {
		if f.rows[i].Board == r.Board && f.rows[i].Class == r.Class {
			f.rows[i].Add(&r.Counts)
			return nil
		}
	}
	f.rows = append(f.rows, r)
	return nil
}

func (f *statsFold) flush(print func(stats.Row) error) error {
	slices.SortStableFunc(f.rows, func(a, b stats.Row) int {
		return strings.Compare(a.Board+"\x00"+a.Class, b.Board+"\x00"+b.Class)
	})
	for _, r := range f.rows {
		if err := print(r); err != nil {
			return err
		}
	}
	f.rows = f.rows[:0]
	return nil
}
