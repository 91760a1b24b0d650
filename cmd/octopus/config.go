package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"octopus/node"
)

// configCmd checks and shows the configuration.
func (a *app) configCmd() *cobra.Command {
	return group("config", "Check or show the configuration", configHelp, a.configCheckCmd(), a.configShowCmd())
}

func (a *app) configCheckCmd() *cobra.Command {
	return &cobra.Command{Use: "check [FILE]", Short: "Say what is wrong with the configuration, with line and column", Args: cobra.MaximumNArgs(1),
		RunE: a.verb(func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.configFile = args[0]
			}
			l, err := a.load(nil)
			if err != nil {
				return err
			}
			if l.file == "" {
				a.note("no configuration file; looked for %s", strings.Join(a.searchPath(), ", "))
				return nil
			}
			for _, note := range l.Notes() {
				a.note("note: %s: %s", l.file, note)
			}
			a.note("%s is valid", l.file)
			return nil
		})}
}

func (a *app) configShowCmd() *cobra.Command {
	var origin, changed bool
	cmd := &cobra.Command{Use: "show", Short: "Print the configuration in force, as TOML", Args: cobra.NoArgs}
	flags := addFlags(cmd)
	cmd.Flags().BoolVar(&origin, "origin", false, "say where each value came from")
	cmd.Flags().BoolVar(&changed, "changed", false, "only what differs from the default")
	cmd.RunE = a.withSettings(flags, func(l *loaded, _ []string) error {
		return showConfig(a.stdout, l, origin, changed)
	})
	return cmd
}

// showConfig writes TOML that loads to the same values again.
func showConfig(w io.Writer, l *loaded, origin, changed bool) error {
	def := node.DefaultConfig()
	var lines [][2]string // "key = value", comment
	table, wide := "", 0
	for _, s := range settings() {
		value := s.toml(&l.Config)
		if changed && value == s.toml(&def) {
			continue
		}
		head, name := "", s.key
		if i := strings.IndexByte(s.key, '.'); i >= 0 {
			head, name = s.key[:i], s.key[i+1:]
		}
		if head != table {
			lines = append(lines, [2]string{"", ""}, [2]string{"[" + head + "]", ""})
			table = head
		}
		line := name + " = " + value
		wide = max(wide, len(line))
		lines = append(lines, [2]string{line, "# " + l.origin[s.key]})
	}
	for _, line := range lines {
		text := line[0]
		if origin && line[1] != "" {
			text = fmt.Sprintf("%-*s  %s", min(wide, 60), line[0], line[1])
		}
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	for i := range l.Boards {
		if _, err := fmt.Fprint(w, "\n"+boardTOML(&l.Boards[i], changed)); err != nil {
			return err
		}
	}
	return nil
}

// boardTOML writes a board as a table [[board]]; with changed only what differs
// from the default.
func boardTOML(b *node.BoardConfig, changed bool) string {
	def := node.DefaultBoard()
	text := "[[board]]\n"
	for _, s := range boardSettings() {
		if value := s.toml(b); !changed || value != s.toml(&def) {
			text += s.key + " = " + value + "\n"
		}
	}
	return text
}
