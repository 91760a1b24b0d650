package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"octopus/node"
)

// rootCmd builds the command tree.
func (a *app) rootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:   "octopus",
		Short: "A web crawler, from one site on a laptop to a cluster",
		Long: `octopus crawls web sites, politely, and keeps what it finds.

  octopus demo       crawl a synthetic web on this machine
  octopus crawl https://example.com/ -n 100 -o pages.jsonl
  octopus why URL    what is known about a URL, and what it waits for`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          known,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Version:       node.Version,
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	wrapped := fmt.Sprintf(".FlagUsagesWrapped %d", columnsOf(a.stdout))
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", wrapped))
	root.SetVersionTemplate("octopus {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.CompletionOptions.DisableNoDescFlag = true
	f := root.PersistentFlags()
	f.StringVarP(&a.configFile, "config", "C", "", "configuration `FILE` (default ./octopus.toml, ./my.conf, then the user's octopus/octopus.toml)")
	f.StringVar(&a.logLevel, "log-level", "warn", "least severe log messages shown: debug, info, warn or error")
	f.StringVar(&a.logFormat, "log-format", "auto", "text, json, or auto: text on a terminal")
	f.StringVar(&a.color, "color", "auto", "auto, always or never")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "no progress, notes or text summary: data and errors only")
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return a.checkGlobals() }

	root.AddCommand(a.crawlCmd(), a.boardCmd(), a.demoCmd(), a.getCmd(), a.whyCmd(), a.storeCmd(), a.exportCmd(), a.importCmd(), a.inspectCmd(),
		a.badCmd(), a.parkedCmd(), a.queueCmd(), a.hostCmd(), a.auditCmd(), a.doctorCmd(), a.seenCmd(), a.statsCmd(), a.dnsCmd(),
		a.configCmd(), a.benchCmd(), a.versionCmd(), a.manCmd(), exitCodesTopic(), outputsTopic())
	explainArgs(root)
	a.addLibraryCmds(root)
	return root
}

// addLibraryCmds adds the commands that every program of the library has, help
// and completion, and has them refuse a word they do not know.
func (a *app) addLibraryCmds(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				topic, rest, err := root.Find(args)
				return errors.Join(err, known(topic, rest))
			}
		case "completion":
			cmd.Args, cmd.RunE = known, whichVerb
			for _, shell := range cmd.Commands() {
				shell.RunE = a.verb(shell.RunE)
			}
		}
	}
}

// explainArgs has the commands below cmd show how they are written where they
// are given too many or too few arguments.
func explainArgs(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		explainArgs(c)
		check := c.Args
		if check == nil || c.HasSubCommands() {
			continue // a group names its commands
		}
		c.Args = func(c *cobra.Command, args []string) error {
			if check(c, args) == nil {
				return nil
			}
			return usage(fmt.Errorf("too many or too few arguments; write: %s", c.UseLine()))
		}
	}
}

// group makes a command that only holds others.
func group(name, short, long string, verbs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: name, Short: short, Long: long, Args: known, RunE: whichVerb}
	cmd.AddCommand(verbs...)
	return cmd
}

// whichVerb is the body of a group.
func whichVerb(cmd *cobra.Command, _ []string) error {
	return usage(fmt.Errorf("%s what? %s", cmd.CommandPath(), strings.Join(names(cmd), ", ")))
}

// known refuses a word that names no command below cmd.
func known(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usage(fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), suggest(args[0], names(cmd))))
}

func names(cmd *cobra.Command) []string {
	var all []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			all = append(all, c.Name())
		}
	}
	return all
}

// checkGlobals refuses words that no global flag knows.
func (a *app) checkGlobals() error {
	for _, c := range []struct {
		flag, value string
		words       []string
	}{
		{"--log-level", a.logLevel, []string{"debug", "info", "warn", "error"}},
		{"--log-format", a.logFormat, []string{"auto", "text", "json"}},
		{"--color", a.color, []string{"auto", "always", "never"}},
	} {
		if err := oneOf(c.flag, c.value, c.words...); err != nil {
			return err
		}
	}
	return nil
}

// oneOf returns a usage error unless value is one of words.
func oneOf(flag, value string, words ...string) error {
	if slices.Contains(words, value) {
		return nil
	}
	return usage(fmt.Errorf("%s %q: use %s%s", flag, value, strings.Join(words, ", "), suggest(value, words)))
}

// flagError adds a suggestion to the parser's message about an unknown flag.
func flagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	if typed, found := strings.CutPrefix(text, "unknown flag: --"); found {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		return usage(fmt.Errorf("%s%s", text, suggest("--"+typed, names)))
	}
	return usage(err)
}
