package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"octopus/fetch/render"
	"octopus/parse"
)

// pageAnswer tells what parse makes of a page; ID echoes the input line's.
type pageAnswer struct {
	ID   json.RawMessage `json:"id,omitempty"`
	File string          `json:"file,omitempty"`
	*parse.Inspection
	NeedsBrowser string `json:"needs_browser,omitempty"` // why render = "auto" would start one
	Error        string `json:"error,omitempty"`
}

// maxPage bounds what is read of a file, unpacked.
const maxPage = 64 << 20

// maxLinks is far more than any page has: who inspects wants to see them all.
const maxLinks = 1 << 20

func (a *app) inspectPageCmd() *cobra.Command {
	var url string
	cmd := &cobra.Command{Use: "page [--url URL] FILE...", Short: "Charset, kind, title, text, links … of HTML files",
		Long: `Charset, kind, title, author, date, text, Markdown, links … of HTML files (also
.gz), one JSON line each. Relative links need --url.

With - as the only argument it reads JSON lines
{"id":…,"url":…,"content_type":…,"html_base64":…} from standard input.`,
		Args: cobra.MinimumNArgs(1)}
	cmd.Flags().StringVar(&url, "url", "", "address of the page: resolves its relative links")
	cmd.RunE = a.verb(func(_ *cobra.Command, args []string) error {
		parser, err := parse.New(parse.Options{Text: true, Markdown: true, MaxLinks: maxLinks})
		if err != nil {
			return err
		}
		if len(args) == 1 && args[0] == "-" {
			return stream(a.stdin, a.stdout, func(line []byte) any { return inspectPageLine(parser, line, url) })
		}
		out := newJSONLines(a.stdout)
		for _, file := range args {
			if err := out.encode(inspectFile(parser, file, url)); err != nil {
				return err
			}
		}
		return out.w.Flush()
	})
	return cmd
}

func inspectPageLine(parser *parse.Parser, line []byte, url string) any {
	in := struct {
		ID          json.RawMessage `json:"id"`
		URL         string          `json:"url"`
		ContentType string          `json:"content_type"`
		HTML        string          `json:"html_base64"`
	}{URL: url}
	if bad := decodeLine(line, &in); bad != nil {
		return bad
	}
	body, err := base64.StdEncoding.DecodeString(in.HTML)
	if err != nil {
		return pageAnswer{ID: in.ID, Error: "html_base64: " + err.Error()}
	}
	return inspectPage(parser, pageAnswer{ID: in.ID}, body, in.URL, in.ContentType)
}

func inspectFile(parser *parse.Parser, file, url string) pageAnswer {
	body, err := readPage(file)
	if err != nil {
		return pageAnswer{File: file, Error: err.Error()}
	}
	return inspectPage(parser, pageAnswer{File: file}, body, url, "")
}

func inspectPage(parser *parse.Parser, ans pageAnswer, body []byte, url, contentType string) pageAnswer {
	ins, err := parser.Inspect(body, url, contentType)
	if err != nil {
		ans.Error = err.Error() // a bad URL; the rest is usable
	}
	if ins != nil && ins.Links == nil {
		ins.Links = []string{}
	}
	ans.Inspection, ans.NeedsBrowser = ins, render.Needs(body)
	return ans
}

// readPage reads a file, unpacked where its name ends in .gz.
func readPage(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if err != nil || !strings.HasSuffix(file, ".gz") {
		return data, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	body, err := io.ReadAll(io.LimitReader(z, maxPage))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return body, nil
}
