package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"octopus/node"
)

const boardHelp = `Boards say what is watched: entries, rules for what they lead to, and how often
to look again. They are tables [[board]] of the configuration file, or are added
here, to the state directory --dir. A crawl that runs there takes every change
up at once; otherwise the next one does.`

// boardCmd changes and shows boards.
func (a *app) boardCmd() *cobra.Command {
	return group("board", "Say what is watched: add, change, pause, test boards", boardHelp,
		a.boardAddCmd(), a.boardListCmd(), a.boardShowCmd(), a.boardEditCmd(),
		a.boardVerbCmd(node.BoardPause, "Fetch nothing of a board until it is resumed", "%[1]s is paused; octopus board resume %[1]s lets it go on\n"),
		a.boardVerbCmd(node.BoardResume, "Let a paused board go on", "%[1]s goes on; %[2]s URLs queued again\n"),
		a.boardVerbCmd(node.BoardRecheck, "Visit the pages of a board again now that wait for their refresh", "%[1]s: %[2]s pages are due now\n"),
		a.boardVerbCmd(node.BoardInject, "Offer the entries of a board to the queue now", "%[1]s: %[2]s entries offered\n"),
		a.boardTestCmd(), a.boardExportCmd(), a.boardImportCmd(),
		a.boardVerbCmd(node.BoardRemove, "Remove a board; what it fetched is kept, what it queued is parked", "%[1]s is removed\n"))
}

// doBoard has the crawl that runs in --dir carry out a command, or opens the
// directory and does it here.
func (a *app) doBoard(l *loaded, c node.BoardCommand) (node.BoardAnswer, error) {
	ctx := context.Background()
	answer, err := node.AskRunning(ctx, l.Dir, c)
	if !errors.Is(err, node.ErrNotRunning) {
		return answer, boardFlagError(err)
	}
	cfg := l.Config
	cfg.Output = nil                                                 // nothing is to be written
	cfg.Store.Discard = c.Verb == node.BoardList && !hasState(l.Dir) // a look leaves no directory behind
	n, err := node.Open(cfg, node.Options{Look: true, Log: a.logger(a.stderr)})
	if err != nil {
		return answer, a.openError(l, err)
	}
	answer, err = n.DoBoard(ctx, c)
	return answer, errors.Join(boardFlagError(err), n.Close())
}

// board returns a board of --dir.
func (a *app) board(l *loaded, name string) (b node.BoardInfo, err error) {
	answer, err := a.doBoard(l, node.BoardCommand{Verb: node.BoardList, Name: name})
	if err == nil {
		b = answer.Boards[0]
	}
	return b, err
}

// boards returns the boards of --dir; without a state directory those of the
// configuration file.
func (a *app) boards(l *loaded) ([]node.BoardInfo, error) {
	if !hasState(l.Dir) && len(l.Boards) == 0 {
		return nil, nil
	}
	answer, err := a.doBoard(l, node.BoardCommand{Verb: node.BoardList})
	return answer.Boards, err
}

// boardFlagError blames the flag whose value cannot work.
func boardFlagError(err error) error {
	var bad *node.ConfigError
	if !errors.As(err, &bad) {
		return err
	}
	key, _, _ := strings.Cut(bad.Key, "[")
	for _, s := range boardSettings() {
		if s.key == key && s.flag != "" {
			return usage(fmt.Errorf("--%s %s", s.flag, bad.Text))
		}
	}
	return usage(err)
}

// boardFlags gives cmd the flags of a board but those named; the values given
// are written over a board by overlayBoard.
func boardFlags(cmd *cobra.Command, without ...string) *flagSet {
	b := node.DefaultBoard()
	f := &flagSet{cfg: &b, all: boardSettings()}
	var keys []string
	for _, s := range f.all {
		if !slices.Contains(without, s.key) {
			keys = append(keys, s.key)
		}
	}
	f.define(cmd, keys...)
	return f
}

// overlayBoard writes what was given over b.
func (f *flagSet) overlayBoard(b *node.BoardConfig) {
	for _, s := range f.all {
		if slices.Contains(f.set, s.key) {
			s.field(b).Set(s.field(f.cfg))
		}
	}
}

func (a *app) boardAddCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "add NAME URL...", Short: "Add a board; a running crawl begins with it at once", Args: cobra.MinimumNArgs(2),
		Example: "  octopus board add news https://example.com/ --depth 2 --article '/20\\d\\d/' --refresh 10m"}
	dir := addFlags(cmd, "dir")
	flags := boardFlags(cmd, "entry")
	cmd.RunE = a.withSettings(dir, func(l *loaded, args []string) error {
		entries, err := a.entries(args[1:])
		if err != nil {
			return err
		}
		b := node.DefaultBoard()
		flags.overlayBoard(&b)
		b.Name, b.Entry = args[0], entries
		if _, err := a.doBoard(l, node.BoardCommand{Verb: node.BoardAdd, Board: &b}); err != nil {
			return err
		}
		a.note("%s is added", b.Name)
		return nil
	})
	return cmd
}

func (a *app) boardEditCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "edit NAME", Short: "Change a board: what is not named stays; a list is replaced as a whole", Args: cobra.ExactArgs(1),
		Example: "  octopus board edit news --refresh 5m --reject '/login' --reject '/ads/'"}
	dir := addFlags(cmd, "dir")
	flags := boardFlags(cmd)
	cmd.RunE = a.withSettings(dir, func(l *loaded, args []string) error {
		if len(flags.set) == 0 {
			return usage(errors.New("change what? name a flag, such as --refresh 5m"))
		}
		old, err := a.board(l, args[0])
		if err != nil {
			return err
		}
		b := old.BoardConfig
		flags.overlayBoard(&b)
		if _, err := a.doBoard(l, node.BoardCommand{Verb: node.BoardEdit, Board: &b}); err != nil {
			return err
		}
		a.note("%s is changed", b.Name)
		return nil
	})
	return cmd
}

// boardVerbCmd makes a verb that needs nothing but the name of a board. done
// says what happened: %[1]s is the name, %[2]s the number of URLs.
func (a *app) boardVerbCmd(verb node.BoardVerb, short, done string) *cobra.Command {
	cmd := &cobra.Command{Use: string(verb) + " NAME", Short: short, Args: cobra.ExactArgs(1)}
	dir := addFlags(cmd, "dir")
	var asJSON bool
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	cmd.RunE = a.withSettings(dir, func(l *loaded, args []string) error {
		answer, err := a.doBoard(l, node.BoardCommand{Verb: verb, Name: args[0]})
		if err != nil {
			return err
		}
		return a.report(changed{int64(answer.URLs)}, asJSON, done, args[0], grouped(int64(answer.URLs)))
	})
	return cmd
}
