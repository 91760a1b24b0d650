package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"octopus/container"
	"octopus/container/parquetexport"
	"octopus/node"
	"octopus/parse"
	"octopus/warc"
)

// exporter writes a store to w in one format.
type exporter struct {
	name, short string
	write       func(c *container.Container, w io.Writer) error
}

func exporters() []exporter {
	ctx := context.Background()
	return []exporter{
		{"cdxj", "index of all versions, sorted", func(c *container.Container, w io.Writer) error {
			_, err := c.ExportCDXJ(ctx, w)
			return err
		}},
		{"wacz", "one file that replay tools open (WACZ 1.1.1)", func(c *container.Container, w io.Writer) error {
			return c.ExportWACZ(ctx, w, warc.WACZInfo{Title: "octopus crawl", Software: "octopus " + node.Version, Created: time.Now()})
		}},
		{"wet", "main content of pages as WARC conversion records, gzip", exportText},
		{"jsonl", "newest version of every URL, bodies as base64 text", func(c *container.Container, w io.Writer) error {
			_, err := c.ExportJSONL(ctx, w)
			return err
		}},
		{"parquet", "index of all versions in the columns of Common Crawl's", func(c *container.Container, w io.Writer) error {
			return parquetexport.Write(ctx, c, w)
		}},
	}
}

// exportCmd writes the store in other formats.
func (a *app) exportCmd() *cobra.Command {
	var verbs []*cobra.Command
	for _, e := range exporters() {
		cmd := &cobra.Command{Use: e.name + " OUT", Short: "Write the store's pages: " + e.short, Args: cobra.ExactArgs(1)}
		flags := addFlags(cmd, "dir")
		cmd.RunE = a.verb(func(_ *cobra.Command, args []string) error {
			return a.withPages(flags, false, func(c *container.Container) error { return a.export(c, e, args[0]) })
		})
		verbs = append(verbs, cmd)
	}
	return group("export", "Write the store of pages in another format", "OUT is a file that does not exist yet, or - for standard output.", verbs...)
}

// export writes to standard output, or to a new file, which has its name once
// it is whole.
func (a *app) export(c *container.Container, e exporter, out string) error {
	if out == "-" {
		return e.write(c, a.stdout)
	}
	if _, err := os.Lstat(out); err == nil {
		return fmt.Errorf("%s exists; name another file", out)
	}
	part := out + ".part"
	f, err := os.Create(part)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if err = errors.Join(e.write(c, w), w.Flush(), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return os.Rename(part, out)
}

// exportText extracts the main content of HTML pages; other pages have none.
func exportText(c *container.Container, w io.Writer) error {
	p, err := parse.New(parse.Options{Text: true})
	if err != nil {
		return err
	}
	_, err = c.ExportText(context.Background(), w, func(s *container.Stored) string {
		if !strings.Contains(s.Header.Get("Content-Type"), "html") || s.Status != 200 {
			return ""
		}
		ins, err := p.Inspect(s.Body, s.URL, s.Header.Get("Content-Type"))
		if err != nil {
			return "" // no HTML after all
		}
		return ins.Text
	})
	return err
}
