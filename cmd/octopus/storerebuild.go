package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"octopus"
	"octopus/container"
	"octopus/frontier"
)

// rebuilt is what store rebuild --json prints.
type rebuilt struct {
	sizes
	Lost   int64 `json:"lost"`   // URLs of which a stored version cannot be read any more
	Queued int64 `json:"queued"` // of these, URLs that the next crawl fetches again
}

// storeRebuildCmd mends the store, and has the next crawl fetch again what is lost.
func (a *app) storeRebuildCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "rebuild", Short: "Make key files and index anew from the WARC segments; queue URLs of lost pages again", Args: cobra.NoArgs,
		Long: `Make key files and index anew from the WARC segments. URLs whose page cannot be
read any more are queued again: the next octopus crawl in this directory fetches
them. Exit code 10 if there are any. Damaged bytes are kept as *.damaged.`}
	flags := addFlags(cmd, "dir")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	cmd.RunE = a.withSettings(flags, func(l *loaded, _ []string) error {
		if !hasState(l.Dir) { // pages alone, imported ones
			return a.withPages(flags, false, func(c *container.Container) error { return a.storeRebuild(c, nil, asJSON) })
		}
		n, err := a.openState(l)
		if err != nil {
			return err
		}
		if n.Pages() == nil {
			return errors.Join(fmt.Errorf("%s keeps no pages", l.Dir), n.Close())
		}
		return errors.Join(a.storeRebuild(n.Pages(), n.Frontier(), asJSON), n.Close())
	})
	return cmd
}

// storeRebuild rebuilds c. f, which may be nil, hears of what is lost before c
// forgets it, so that a crash loses none.
func (a *app) storeRebuild(c *container.Container, f *frontier.Frontier, asJSON bool) error {
	var queued int64
	met := map[octopus.Key]bool{}
	progress, end := a.storeProgress("read")
	err := c.Rebuild(context.Background(), progress, func(keys []octopus.Key) error {
		for _, k := range keys {
			met[k] = true
		}
		if f == nil {
			return nil
		}
		n, err := f.Refetch(context.Background(), keys)
		queued += int64(n)
		return err
	})
	end()
	if err != nil {
		return err
	}
	r := rebuilt{sizes(c.Stat()), int64(len(met)), queued}
	if err := a.report(r, asJSON, "%s\n", r.sizes); err != nil || r.Lost == 0 {
		return err
	}
	return &exitError{exitVerify, fmt.Errorf("%s lost a stored page; %s queued again, and octopus crawl fetches what is queued; damaged bytes are kept as *.damaged",
		counted(r.Lost, "URL"), grouped(r.Queued))}
}
