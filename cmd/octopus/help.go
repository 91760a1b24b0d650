package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// exitCodesTopic is a command without a body: `octopus help exit-codes` prints
// it.
func exitCodesTopic() *cobra.Command {
	return &cobra.Command{Use: "exit-codes", Short: "Exit codes of all verbs", Long: "Exit codes:\n\n" + exitCodesDoc}
}

// outputsTopic is a command without a body: `octopus help outputs` prints it.
func outputsTopic() *cobra.Command {
	return &cobra.Command{Use: "outputs", Short: "What -o can write to", Long: outputsHelp}
}

// outputsHelp is the long help of `octopus help outputs`.
const outputsHelp = `-o names where the records go, one for each visit; it may be given several
times, and each output has a place of its own:

  -                                   standard output, one JSON object a line
  FILE.jsonl, jsonl:FILE              the same in a file
  FILE.csv, csv:FILE                  a table with a line per record
  DIR.parquet, parquet:DIR            a folder of Parquet files
  DIR.md/, md:DIR                     a folder with a Markdown file per page
  feed:DIR                            a folder with an Atom and a JSON feed of
                                      the newest articles of each board
  FILE.sqlite, FILE.db, sqlite:FILE   a SQLite database
  postgres://USER:PASSWORD@HOST/DB    PostgreSQL
  mysql://USER:PASSWORD@HOST/DB       MySQL or MariaDB; mariadb:// is the same
  mongodb://USER:PASSWORD@HOST/DB     MongoDB; mongodb+srv:// too

--extract says whether records have the main text or Markdown of their pages;
databases, Parquet and md: have it by themselves.

Databases take ?table=NAME (default pages). A password need not stand on the
command line, where others see it: ?passwordFile=FILE, or the setting output in
a file or in OCTOPUS_OUTPUT; for PostgreSQL also PGPASSWORD and ~/.pgpass.
octopus prints no password.

A database that goes away does not lose or double a record: they wait in --dir,
and are sent when it is back. docs/reference/outputs.md tells the columns and
what each output promises.`

// configHelp is the long help of `octopus config`.
const configHelp = `Every setting is a key of the configuration file, an environment variable and,
for most, a flag of ` + "`octopus crawl`" + `:

  fetcher.hostDelay     OCTOPUS_FETCHER_HOST_DELAY     --host-delay

The first of these that names it decides:

  1. the flag
  2. the environment variable; a list has one element a line
  3. the file: -C FILE, else ./octopus.toml, else ./my.conf, else
     octopus/octopus.toml in $XDG_CONFIG_HOME (~/.config). One file is read.
  4. the default

The file is TOML. An unknown key, a wrong type, an unknown OCTOPUS_ variable is
an error (exit code 3), never ignored. Durations are written "90s", "2h", "7d",
sizes "10MB" or "512KiB". Keys of a table are written dotted or below [table]:

  fetcher.hostDelay = "2s"          [fetcher]
                                    hostDelay = "2s"

A dotted line cannot stand above the [table] of the same name in one file: that
is a rule of TOML. Move the line below [table].

  octopus config check [FILE]       says what is wrong, with line and column
  octopus config show --origin      all settings and where each came from`

// manCmd writes the manual pages.
func (a *app) manCmd() *cobra.Command {
	return &cobra.Command{Use: "man DIR", Short: "Write the manual pages into a directory", Args: cobra.ExactArgs(1),
		RunE: a.verb(func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			cmd.Root().DisableAutoGenTag = true
			header := &doc.GenManHeader{Title: "OCTOPUS", Section: "1", Source: "octopus"}
			if err := doc.GenManTree(cmd.Root(), header, args[0]); err != nil {
				return err
			}
			a.note("manual pages in %s; try: man %s", args[0], filepath.Join(args[0], "octopus-crawl.1"))
			return nil
		})}
}
