package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"octopus/container"
)

// imported is what import --json prints, summed over all files.
type imported struct {
	Pages   int64            `json:"pages"`   // stored or known
	Known   int64            `json:"known"`   // of these, stored before
	Other   int64            `json:"other"`   // records that are no pages
	Skipped map[string]int64 `json:"skipped"` // pages not taken, by reason
}

// importCmd brings the pages of foreign WARC files into the store.
func (a *app) importCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "import FILE...", Short: "Store the pages of WARC files", Args: cobra.MinimumNArgs(1),
		Long: `Store the pages of WARC files (1.0 or 1.1, gzip or not, of any program, wget's
too) in --dir, at their own times and with content encodings undone. - is
standard input. Importing a file again stores nothing twice. The URLs do not
enter the frontier.`}
	flags := addFlags(cmd, "dir")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	cmd.RunE = a.verb(func(_ *cobra.Command, args []string) error {
		if err := checkInputs(args); err != nil {
			return err
		}
		return a.withPages(flags, true, func(c *container.Container) error {
			sum, err := imported{Skipped: map[string]int64{}}, error(nil)
			for _, name := range args {
				if err = a.importFile(c, name, &sum); err != nil {
					break
				}
			}
			return errors.Join(err, a.reportImported(sum, asJSON))
		})
	})
	return cmd
}

// checkInputs sees to it that files which cannot be read stop an import before it
// makes a store or takes pages of the others.
func checkInputs(names []string) error {
	for _, name := range names {
		if name == "-" {
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		info, err := f.Stat()
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		if info.IsDir() {
			return fmt.Errorf("%s is a directory; name the files in it", name)
		}
	}
	return nil
}

// importFile adds what one file brought to sum.
func (a *app) importFile(c *container.Container, name string, sum *imported) error {
	in := a.stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	rep, err := c.Import(context.Background(), in)
	sum.Pages += rep.Pages
	sum.Known += rep.Known
	sum.Other += rep.Other
	for reason, n := range rep.Skipped {
		sum.Skipped[reason] += n
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (a *app) reportImported(sum imported, asJSON bool) error {
	for _, reason := range slices.Sorted(maps.Keys(sum.Skipped)) {
		a.note("note: %d pages not taken: %s", sum.Skipped[reason], reason)
	}
	return a.report(sum, asJSON, "%d pages, %d of them known; %d other records\n", sum.Pages, sum.Known, sum.Other)
}
