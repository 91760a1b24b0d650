package main

import (
	"errors"

	"github.com/spf13/cobra"

	"octopus"
	"octopus/canon"
)

// urlAnswer tells what canon makes of a URL. Site is the registrable domain,
// SURT the key of CDX indexes.
type urlAnswer struct {
	Input string `json:"input"`
	URL   string `json:"url"`
	Host  string `json:"host"`
	Site  string `json:"site"`
	Key   string `json:"key"`
	SURT  string `json:"surt"`
	Error string `json:"error,omitempty"`
}

func (a *app) inspectURLCmd() *cobra.Command {
	var base string
	cmd := &cobra.Command{Use: "url [--base URL] URL...", Short: "Canonical form, site, key and SURT of URLs",
		Long: `Canonical form, site, key and SURT of URLs, one JSON line each.

With - as the only argument it reads JSON lines {"input":…,"base":…} from
standard input; base may be left out.`,
		Args: cobra.MinimumNArgs(1)}
	cmd.Flags().StringVar(&base, "base", "", "resolve relative URLs against this one")
	cmd.RunE = a.verb(func(_ *cobra.Command, args []string) error {
		if len(args) == 1 && args[0] == "-" {
			return stream(a.stdin, a.stdout, func(line []byte) any {
				in := struct{ Input, Base string }{Base: base}
				if bad := decodeLine(line, &in); bad != nil {
					return bad
				}
				return inspectURL(in.Input, in.Base)
			})
		}
		out := newJSONLines(a.stdout)
		for _, arg := range args {
			if err := out.encode(inspectURL(arg, base)); err != nil {
				return err
			}
		}
		return out.w.Flush()
	})
	return cmd
}

func inspectURL(input, base string) urlAnswer {
	u, err := parseURL(input, base)
	if err != nil {
		return urlAnswer{Input: input, Error: err.Error()}
	}
	return urlAnswer{Input: input, URL: u.Text, Host: u.Host, Site: u.Site, Key: u.Key.String(), SURT: canon.SURT(u)}
}

func parseURL(input, base string) (octopus.URL, error) {
	if base == "" {
		return canon.Parse(input)
	}
	b, err := canon.Parse(base)
	if err != nil {
		return octopus.URL{}, errors.Join(errors.New("base"), err)
	}
	return canon.Resolve(b, input)
}
