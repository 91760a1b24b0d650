package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"octopus/container"
	"octopus/node"
)

// storeCmd looks after the pages in a state directory.
func (a *app) storeCmd() *cobra.Command {
	return group("store", "Verify, mend, measure, shrink or serve the store of pages", "",
		a.storeVerb("verify", "Read every record and compare it with its digest; exit code 10 if any is damaged", a.storeVerify),
		a.storeRebuildCmd(),
		a.storeVerb("stat", "Print the size of the store", a.storeStat),
		a.storeCompactCmd(), a.storePurgeCmd(), a.storeServeCmd())
}

// storeVerb makes a verb that works on the open store; the node that owns it
// must not be running.
func (a *app) storeVerb(name, short string, body func(*container.Container, bool) error) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: name, Short: short, Args: cobra.NoArgs}
	flags := addFlags(cmd, "dir")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	cmd.RunE = a.verb(func(*cobra.Command, []string) error {
		return a.withPages(flags, false, func(c *container.Container) error { return body(c, asJSON) })
	})
	return cmd
}

// withPages opens the pages of --dir for body, and closes them. Where there are
// none, create makes an empty store; else that is an error.
func (a *app) withPages(flags *flagSet, create bool, body func(*container.Container) error) error {
	l, err := a.load(flags)
	if err != nil {
		return err
	}
	dir := filepath.Join(l.Dir, "pages")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && !create {
		if hasState(l.Dir) {
			return fmt.Errorf("%s holds no pages: its crawl keeps none (--no-pages)", l.Dir)
		}
		return fmt.Errorf("%s holds no pages; name the directory of a crawl with --dir", l.Dir)
	}
	c, err := container.Open(container.Options{Dir: dir, IndexMemory: int64(l.Store.IndexMemory)})
	if errors.Is(err, container.ErrLocked) {
		return &exitError{exitLocked, fmt.Errorf("%s is %w of octopus (a crawl, or store serve); wait until it ends, or stop it", l.Dir, node.ErrLocked)}
	}
	if err != nil {
		return err
	}
	return errors.Join(body(c), c.Close())
}

// storeProgress redraws one line on a terminal, and writes none elsewhere.
func (a *app) storeProgress(what string) (container.Progress, func()) {
	if a.quiet || !a.isTerminal(a.stderr) {
		return nil, func() {}
	}
	s, shown := &screen{w: a.stderr}, int64(-1)
	return func(done, total int64) {
		if percent := 100 * done / max(total, 1); percent != shown {
			shown = percent
			s.draw([]string{fmt.Sprintf("%s %s of %s  %d%%", what, bytesText(done), bytesText(total), percent)})
		}
	}, s.clear
}

// verified is what store verify --json prints.
type verified struct {
	Segments int64    `json:"segments"`
	Records  int64    `json:"records"`
	Pages    int64    `json:"pages"`
	Bytes    int64    `json:"bytes"`
	Errors   []string `json:"errors"` // each names file and offset; at most 1000
}

func (a *app) storeVerify(c *container.Container, asJSON bool) error {
	progress, end := a.storeProgress("verified")
	rep, err := c.Verify(context.Background(), progress)
	end()
	if err != nil {
		return err
	}
	v := verified{rep.Segments, rep.Records, rep.Pages, rep.Bytes, []string{}}
	for _, damage := range rep.Errors {
		v.Errors = append(v.Errors, damage.Error())
	}
	if err := a.report(v, asJSON, "%s, %s, %s, %s: %d damaged\n",
		counted(v.Segments, "segment"), counted(v.Records, "record"), counted(v.Pages, "page"), bytesText(v.Bytes), len(v.Errors)); err != nil {
		return err
	}
	if len(v.Errors) == 0 {
		return nil
	}
	for _, text := range v.Errors {
		fmt.Fprintln(a.stderr, text)
	}
	return &exitError{exitVerify, fmt.Errorf("%d damaged; octopus store rebuild mends key files and index, and lets the next crawl fetch again what is lost", len(v.Errors))}
}

// sizes is what store stat --json prints.
type sizes struct {
	Segments     int   `json:"segments"`
	URLs         int64 `json:"urls"`
	Payloads     int64 `json:"payloads"`
	Versions     int64 `json:"versions"`
	SegmentBytes int64 `json:"segment_bytes"`
	KeyBytes     int64 `json:"key_bytes"`
	IndexBytes   int64 `json:"index_bytes"`  // memory
	DigestBytes  int64 `json:"digest_bytes"` // memory
	Damage       int   `json:"damage"`       // parts that cannot be read
}

func (a *app) storeStat(c *container.Container, asJSON bool) error {
	st := sizes(c.Stat())
	return a.report(st, asJSON, "%s\n", st)
}

func (st sizes) String() string {
	return fmt.Sprintf("%s in %s, %s\n%s %s, key files %s, index %s in memory",
		counted(st.URLs, "URL"), counted(st.Versions, "version"), counted(st.Payloads, "distinct content"), counted(int64(st.Segments), "segment"), bytesText(st.SegmentBytes), bytesText(st.KeyBytes), bytesText(st.IndexBytes+st.DigestBytes))
}

// report prints v as JSON, or the text.
func (a *app) report(v any, asJSON bool, format string, args ...any) error {
	if asJSON {
		return json.NewEncoder(a.stdout).Encode(v)
	}
	_, err := fmt.Fprintf(a.stdout, format, args...)
	return err
}
