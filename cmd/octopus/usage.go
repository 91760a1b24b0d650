package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// titles head the groups of flags in the help of `octopus crawl`, in its order,
// by the table of the configuration file that their settings are in.
var titles = []struct{ table, title string }{
	{"common", "Flags that most crawls need"},
	{"", "This run"},
	{"crawl", "What is crawled, and what is read out of it"},
	{"fetcher", "Manners and fetching"},
	{"master", "Queues"},
	{"limit", "Quotas and traps"},
	{"seen", "The memory of met URLs"},
	{"store", "Files"},
	{"process", "Process and shared crawls"},
	{"render", "Pages that need JavaScript"},
}

// groupedUsage prints the usage of cmd with its flags in groups; its common ones
// come first. Lines are no longer than columns.
func (f *flagSet) groupedUsage(cmd *cobra.Command, columns int) error {
	groups := map[string]*pflag.FlagSet{}
	for _, t := range titles {
		groups[t.table] = newFlagSet()
	}
	cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) { groups[f.table(flag.Name)].AddFlag(flag) })
	var out strings.Builder
	fmt.Fprintf(&out, "Usage:\n  %s\n\nExamples:\n%s\n", cmd.UseLine(), cmd.Example)
	for _, t := range titles {
		fmt.Fprintf(&out, "\n%s:\n%s", t.title, groups[t.table].FlagUsagesWrapped(columns))
	}
	fmt.Fprintf(&out, "\nFlags of every verb:\n%s", cmd.InheritedFlags().FlagUsagesWrapped(columns))
	_, err := fmt.Fprint(cmd.OutOrStderr(), out.String())
	return err
}

func newFlagSet() *pflag.FlagSet {
	s := pflag.NewFlagSet("", pflag.ContinueOnError)
	s.SortFlags = false
	return s
}

// table returns the group that a flag of this name is in: "" for those that are
// no settings.
func (f *flagSet) table(name string) string {
	i := slices.IndexFunc(f.all, func(s setting) bool { return s.flag == name })
	if i < 0 {
		return ""
	}
	key := f.all[i].key
	if slices.Contains(commonFlags[:], key) {
		return "common"
	}
	table, _, found := strings.Cut(key, ".")
	if !found {
		return "process"
	}
	return table
}
