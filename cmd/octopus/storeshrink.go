package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"octopus/container"
)

// rewritten is what store compact and store purge print with --json.
type rewritten struct {
	Segments int   `json:"segments"` // removed
	Moved    int64 `json:"moved"`
	Dropped  int64 `json:"dropped"`
	Promoted int64 `json:"promoted"`
	Bytes    int64 `json:"bytes"` // length of the removed segments
}

// storeCompactCmd gives back the room of what is dead.
func (a *app) storeCompactCmd() *cobra.Command {
	var minLive float64
	var keep int
	var asJSON bool
	cmd := &cobra.Command{Use: "compact", Short: "Rewrite segments of which much is deleted, stored twice or too old", Args: cobra.NoArgs}
	flags := addFlags(cmd, "dir")
	f := cmd.Flags()
	f.Float64Var(&minLive, "min-live", 0.5, "rewrite segments of which less than this share of the bytes is alive; 1: all where anything is dead")
	f.IntVar(&keep, "keep", 0, "newest versions of a URL that stay; 0 keeps all")
	f.BoolVar(&asJSON, "json", false, "as one JSON object")
	cmd.RunE = a.verb(func(*cobra.Command, []string) error {
		if minLive < 0 || minLive > 1 || keep < 0 {
			return usage(fmt.Errorf("--min-live %g --keep %d: want a share of 0 to 1, and 0 or more versions", minLive, keep))
		}
		return a.withPages(flags, false, func(c *container.Container) error {
			progress, end := a.storeProgress("compacted")
			r, err := c.Compact(context.Background(), minLive, keep, progress)
			end()
			return a.reportRewritten(r, err, asJSON)
		})
	})
	return cmd
}

// storePurgeCmd takes pages off the disk.
func (a *app) storePurgeCmd() *cobra.Command {
	var host, url string
	var asJSON bool
	cmd := &cobra.Command{Use: "purge", Short: "Take every version of a URL, or of a host's URLs, off the disk (takedown)", Args: cobra.NoArgs,
		Long: `Take every version of a URL, or of all URLs of a host, off the disk: the
segments that hold one are rewritten. Contents that other URLs share stay with
those. The frontier still knows the URLs; only their pages go.`}
	flags := addFlags(cmd, "dir")
	f := cmd.Flags()
	f.StringVar(&host, "host", "", "the host, such as www.example.com")
	f.StringVar(&url, "url", "", "the URL")
	f.BoolVar(&asJSON, "json", false, "as one JSON object")
	cmd.MarkFlagsMutuallyExclusive("host", "url")
	cmd.MarkFlagsOneRequired("host", "url")
	cmd.RunE = a.verb(func(*cobra.Command, []string) error {
		argument := a.argURL
		if host != "" {
			argument = hostURL
		}
		u, err := argument(cmp.Or(url, host))
		if err != nil {
			return usage(err)
		}
		if host != "" && u.Host != strings.Trim(host, "[]") { // of a URL more would go than was meant
			return usage(fmt.Errorf("--host %q is no host name; write %s", host, u.Host))
		}
		return a.withPages(flags, false, func(c *container.Container) error {
			progress, end := a.storeProgress("purged")
			var r container.Rewritten
			if host != "" {
				r, err = c.PurgeHost(context.Background(), u.Host, progress)
			} else {
				r, err = c.PurgeURL(context.Background(), u, progress)
			}
			end()
			return a.reportRewritten(r, err, asJSON)
		})
	})
	return cmd
}

func (a *app) reportRewritten(r container.Rewritten, err error, asJSON bool) error {
	if err != nil {
		return err
	}
	return a.report(rewritten(r), asJSON, "%d versions gone, %d moved, %d revisits made whole; %d segments of %s replaced\n",
		r.Dropped, r.Moved, r.Promoted, r.Segments, bytesText(r.Bytes))
}
