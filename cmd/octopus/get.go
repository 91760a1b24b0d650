package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"octopus"
	"octopus/canon"
	"octopus/container"
	"octopus/node"
	"octopus/parse"
	"octopus/parse/charset"
	"octopus/warc"
)

// getCmd prints a page from the store.
func (a *app) getCmd() *cobra.Command {
	var raw, html, text, markdown, meta bool
	var at string
	cmd := &cobra.Command{Use: "get URL", Short: "Print a page from the store", Args: cobra.ExactArgs(1),
		Long: `Print the newest stored version of a page, from the state directory --dir, with
transfer and content encodings undone. With --at it is the version that was the
newest at that time.`}
	flags := addFlags(cmd, "dir")
	f := cmd.Flags()
	f.BoolVar(&raw, "raw", false, "the body's bytes as they came (the default)")
	f.BoolVar(&html, "html", false, "the body in UTF-8")
	f.BoolVar(&text, "text", false, "the main content as text")
	f.BoolVar(&markdown, "markdown", false, "the main content as Markdown")
	f.BoolVar(&meta, "meta", false, "URL, time, status, headers, digest … as one JSON object")
	f.StringVar(&at, "at", "", "the version that was the newest at `TIME`: 2026-07-01, 2026-07-01T12:00:00Z or 20260701120000 (UTC)")
	cmd.MarkFlagsMutuallyExclusive("raw", "html", "text", "markdown", "meta")
	cmd.RunE = a.verb(func(_ *cobra.Command, args []string) error {
		page, err := a.stored(flags, args[0], at)
		if err != nil {
			return err
		}
		switch {
		case html:
			return a.print(utf8Body(page))
		case text, markdown:
			return a.printContent(page, markdown)
		case meta:
			return json.NewEncoder(a.stdout).Encode(metaOf(page))
		}
		return a.print(page.Body)
	})
	return cmd
}

// stored reads the version of a page that was the newest at a time; with an
// empty time the newest of all. It needs nothing but the store of pages.
func (a *app) stored(flags *flagSet, arg, at string) (page *container.Stored, err error) {
	when := time.Time{}
	if at != "" {
		if when, err = parseTime(at); err != nil {
			return nil, usage(fmt.Errorf("--at: %w", err))
		}
	}
	u, err := a.argURL(arg)
	if err != nil {
		return nil, err
	}
	err = a.withPages(flags, false, func(c *container.Container) error {
		if at == "" {
			page, err = c.Get(context.Background(), u)
		} else {
			page, err = c.At(context.Background(), u, when)
		}
		return err
	})
	if errors.Is(err, container.ErrNotFound) {
		return nil, a.noPage(flags, u.Text)
	}
	return page, err
}

// noPage says what to ask where the store has no page of a URL.
func (a *app) noPage(flags *flagSet, url string) error {
	l, err := a.load(flags)
	if err != nil {
		return err
	}
	return fmt.Errorf("%s: no page in %s; `octopus why %s` tells what is known about it", url, l.Dir, againDir(l, shellQuote(url)))
}

// argURL reads a URL of the command line.
func (a *app) argURL(arg string) (octopus.URL, error) {
	text, err := a.entry(arg)
	if err != nil {
		return octopus.URL{}, usage(fmt.Errorf("bad %w", err))
	}
	return canon.Parse(text)
}

// parseTime reads a time in one of the forms that people and archives use, and
// returns the last moment that it means: a day's, a second's. So a page counts
// that was captured within it.
func parseTime(text string) (time.Time, error) {
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t.AddDate(0, 0, 1).Add(-time.Nanosecond), nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		if !strings.ContainsAny(text, ".,") { // not exact to a fraction
			t = t.Add(time.Second - time.Nanosecond)
		}
		return t, nil
	}
	if _, last, err := warc.ParseStamp(text); err == nil {
		return last, nil
	}
	return time.Time{}, fmt.Errorf("%q is no time; write 2026-07-01, 2026-07-01T12:00:00Z or 20260701120000", text)
}

// againDir adds --dir to a proposed command where it is not the default.
func againDir(l *loaded, command string) string {
	if l.origin["dir"] == "default" {
		return command
	}
	return command + " --dir " + shellQuote(l.Dir)
}

// openState opens the state directory of an earlier crawl; it makes none.
func (a *app) openState(l *loaded) (*node.Node, error) {
	if !hasState(l.Dir) {
		return nil, fmt.Errorf("%s holds no crawl; name its directory with --dir", l.Dir)
	}
	l.Output = nil // nothing is to be written
	n, err := node.Open(l.Config, node.Options{Look: true, Log: a.logger(a.stderr)})
	if err != nil {
		return nil, a.openError(l, err)
	}
	return n, nil
}

func (a *app) print(body []byte) error {
	_, err := a.stdout.Write(body)
	return err
}

// utf8Body decodes the body of a text page; other bodies stay as they are.
func utf8Body(page *container.Stored) []byte {
	mime, _, _ := strings.Cut(page.Header.Get("Content-Type"), ";")
	if mime = strings.TrimSpace(mime); mime != "" && !strings.HasPrefix(mime, "text/") && !strings.Contains(mime, "xml") && !strings.Contains(mime, "json") {
		return page.Body
	}
	body, _ := charset.ToUTF8(page.Body, page.Header.Get("Content-Type"))
	return body
}

// printContent prints the main content of an HTML page.
func (a *app) printContent(page *container.Stored, markdown bool) error {
	p, err := parse.New(parse.Options{Text: true, Markdown: true, MaxLinks: maxLinks})
	if err != nil {
		return err
	}
	ins, err := p.Inspect(page.Body, page.URL, page.Header.Get("Content-Type"))
	if err != nil {
		return err
	}
	content := ins.Text
	if markdown {
		content = ins.Markdown
	}
	_, err = fmt.Fprintln(a.stdout, strings.TrimRight(content, "\n"))
	return err
}

// pageMeta is what get --meta prints.
type pageMeta struct {
	URL       string      `json:"url"`
	SURT      string      `json:"surt"`
	FetchedAt time.Time   `json:"fetched_at"`
	Kind      string      `json:"kind"` // full, same (as an earlier record's) or not-modified
	Status    int         `json:"status"`
	Header    http.Header `json:"headers"`
	IP        string      `json:"ip,omitempty"`
	Size      int         `json:"size"` // bytes of the body
	Digest    string      `json:"digest"`
	Truncated string      `json:"truncated,omitempty"`
	RefersTo  string      `json:"refers_to,omitempty"` // URL of the record that holds the body
	Segment   int         `json:"segment"`
	Offset    int64       `json:"offset"`
}

func metaOf(p *container.Stored) pageMeta {
	m := pageMeta{URL: p.URL, FetchedAt: p.Time, Kind: p.Kind.String(), Status: p.Status, Header: p.Header, Size: len(p.Body),
		Digest: p.Digest, Truncated: p.Truncated, RefersTo: p.RefersTo, Segment: p.Ref.Segment, Offset: p.Ref.Offset}
	if u, err := canon.Parse(p.URL); err == nil {
		m.SURT = canon.SURT(u)
	}
	if p.IP.IsValid() {
		m.IP = p.IP.String()
	}
	return m
}
