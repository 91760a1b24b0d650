package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"octopus/node"
)

// versionCmd tells what this binary was built from.
func (a *app) versionCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: a.verb(func(*cobra.Command, []string) error {
			v := buildInfo()
			if asJSON {
				return json.NewEncoder(a.stdout).Encode(v)
			}
			_, err := fmt.Fprintf(a.stdout, "octopus %s (%s, %s/%s)\n", v.Version, v.Go, v.OS, v.Arch)
			return err
		})}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	return cmd
}

// build is what `version --json` prints.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision"` // commit; empty where the build does not know it
	Modified bool   `json:"modified"` // built from a changed tree
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func buildInfo() build {
	b := build{Version: node.Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Revision = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	return b
}
