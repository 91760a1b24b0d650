package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"octopus/node"
)

const boardHelp = `Boards say what is watched: entries, rules for what they lead to, and how often
to look again. They are tables [[board]] of the configuration file, or are added
here, to the state directory --dir. A crawl that runs there takes every change up
at once; otherwise the next one does.`

// boardCmd changes and shows boards.
func (a *app) boardCmd() *cobra.Command {
	return group("board", "Say what is watched: add, change, pause, test boards", boardHelp,
		a.boardAddCmd(), a.boardListCmd(), a.boardShowCmd(), a.boardEditCmd(),
		a.boardVerbCmd(node.BoardPause, "Fetch nothing of a board until it is resumed", "%s is paused; octopus board resume %[1]s lets it go on\n"),
		a.boardVerbCmd(node.BoardResume, "Let a paused board go on", "%s goes on; %s URLs queued again\n"),
		a.boardVerbCmd(node.BoardRecheck, "Visit the pages of a board again now that wait for their refresh", "%s: %[2]s pages are due now\n"),
		a.boardVerbCmd(node.BoardInject, "Offer the entries of a board to the queue now", "%s: %[2]s entries offered\n"),
		a.boardTestCmd(), a.boardExportCmd(), a.boardImportCmd(),
		a.boardVerbCmd(node.BoardRemove, "Remove a board; what it fetched is kept, what it queued is parked", "%s is removed\n"))
}

// doBoard has the crawl that runs in --dir carry out a command, or opens the
// directory and does it here.
func (a *app) doBoard(l *loaded, c node.BoardCommand) (node.BoardAnswer, error) {
	ctx := context.Background()
	answer, err := node.AskRunning(ctx, l.Dir, c)
	if !errors.Is(err, node.ErrNotRunning) {
		return answer, boardFlagError(err)
	}
	l.Output = nil // nothing is to be written
	n, err := node.Open(l.Config, node.Options{Log: a.logger(a.stderr)})
	if err != nil {
		return answer, a.openError(l, err)
	}
	answer, err = n.DoBoard(ctx, c)
	return answer, errors.Join(boardFlagError(err), n.Close())
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
	cmd.RunE = a.verb(func(_ *cobra.Command, args []string) error {
		l, err := a.load(dir)
		if err != nil {
			return err
		}
		b := node.DefaultBoard()
		flags.overlayBoard(&b)
		b.Name = args[0]
		if b.Entry, err = a.entries(args[1:]); err != nil {
			return err
		}
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
	cmd.RunE = a.verb(func(_ *cobra.Command, args []string) error {
		l, err := a.load(dir)
		if err != nil {
			return err
		}
		if len(flags.set) == 0 {
			return usage(errors.New("change what? octopus board edit --help lists the flags"))
		}
		old, err := a.doBoard(l, node.BoardCommand{Verb: node.BoardList, Name: args[0]})
		if err != nil {
			return err
		}
		b := old.Boards[0].BoardConfig
		flags.overlayBoard(&b)
		if _, err := a.doBoard(l, node.BoardCommand{Verb: node.BoardEdit, Board: &b}); err != nil {
			return err
		}
		a.note("%s is changed", b.Name)
		return nil
	})
	return cmd
}

// boardVerbCmd makes a verb that needs nothing but the name of a board.
func (a *app) boardVerbCmd(verb node.BoardVerb, short, done string) *cobra.Command {
	cmd := &cobra.Command{Use: string(verb) + " NAME", Short: short, Args: cobra.ExactArgs(1)}
	dir := addFlags(cmd, "dir")
	var asJSON bool
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	cmd.RunE = a.verb(func(_ *cobra.Command, args []string) error {
		l, err := a.load(dir)
		if err != nil {
			return err
		}
		answer, err := a.doBoard(l, node.BoardCommand{Verb: verb, Name: args[0]})
		if err != nil {
			return err
		}
		text := []any{args[0]}
		if strings.Contains(done, "%s URLs") || strings.Contains(done, "[2]") {
			text = append(text, grouped(int64(answer.URLs)))
		}
		return a.report(changed{int64(answer.URLs)}, asJSON, done, text...)
	})
	return cmd
}

// boards returns the boards of --dir, or one of them; without a state directory
// those of the configuration file.
func (a *app) boards(l *loaded, name string) ([]node.BoardInfo, error) {
	if !hasState(l.Dir) && len(l.Boards) == 0 {
		return nil, nil
	}
	if !hasState(l.Dir) {
		l.Store.Discard = true // a look leaves no directory behind
	}
	answer, err := a.doBoard(l, node.BoardCommand{Verb: node.BoardList, Name: name})
	return answer.Boards, err
}

func (a *app) boardListCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the boards in the order they are asked", Args: cobra.NoArgs}
	dir := addFlags(cmd, "dir")
	var p lister
	p.add(cmd)
	cmd.RunE = a.verb(func(*cobra.Command, []string) error {
		l, err := a.load(dir)
		if err != nil {
			return err
		}
		list, err := a.boards(l, "")
		if err != nil {
			return err
		}
		p.out = newJSONLines(a.stdout)
		for _, b := range list {
			if p.full() {
				break
			}
			state := "active"
			if b.Paused {
				state = "paused"
			}
			where := b.File
			if where == "" {
				where = "by hand"
			}
			if err := p.print(b, "%s\t%s\tevery %s\t%s\t%s", b.Name, state, b.Refresh, strings.Join(b.Entry, " "), where); err != nil {
				return err
			}
		}
		return p.out.w.Flush()
	})
	return cmd
}

func (a *app) boardShowCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "show NAME", Short: "Show a board as it is in force", Args: cobra.ExactArgs(1)}
	dir := addFlags(cmd, "dir")
	var asJSON bool
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	cmd.RunE = a.verb(func(_ *cobra.Command, args []string) error {
		l, err := a.load(dir)
		if err != nil {
			return err
		}
		answer, err := a.doBoard(l, node.BoardCommand{Verb: node.BoardList, Name: args[0]})
		if err != nil {
			return err
		}
		b := answer.Boards[0]
		text := boardTOML(&b.BoardConfig, false)
		if b.Paused {
			text += "# paused\n"
		}
		if b.File != "" {
			text += "# defined in " + b.File + "\n"
		}
		return a.report(b, asJSON, "%s", text)
	})
	return cmd
}

func (a *app) boardExportCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "export [NAME...]", Short: "Write boards as TOML, for octopus board import or a configuration file"}
	dir := addFlags(cmd, "dir")
	var asJSON bool
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	cmd.RunE = a.verb(func(_ *cobra.Command, args []string) error {
		l, err := a.load(dir)
		if err != nil {
			return err
		}
		list, err := a.boards(l, "")
		if err != nil {
			return err
		}
		out := newJSONLines(a.stdout)
		for _, name := range args {
			if !slices.ContainsFunc(list, func(b node.BoardInfo) bool { return b.Name == name }) {
				return fmt.Errorf("there is no board %q; octopus board list shows those there are", name)
			}
		}
		for i, b := range list {
			switch {
			case len(args) > 0 && !slices.Contains(args, b.Name):
			case asJSON:
				err = errors.Join(err, out.encode(b.BoardConfig))
			default:
				_, e := fmt.Fprint(out.w, boardTOML(&list[i].BoardConfig, true)+"\n")
				err = errors.Join(err, e)
			}
		}
		return errors.Join(err, out.w.Flush())
	})
	return cmd
}

func (a *app) boardImportCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "import FILE", Short: "Add the boards of a file, or change those of the same names", Args: cobra.ExactArgs(1),
		Long: `Add the boards of a file, which octopus board export or a person has written: TOML
tables [[board]], or JSON, one object a line. A board of the same name is
changed. Nothing is added if anything in the file is wrong. - is standard input.`}
	dir := addFlags(cmd, "dir")
	cmd.RunE = a.verb(func(_ *cobra.Command, args []string) error {
		l, err := a.load(dir)
		if err != nil {
			return err
		}
		boards, err := a.readBoards(args[0])
		if err != nil {
			return &exitError{exitConfig, err}
		}
		known, err := a.boards(l, "")
		if err != nil {
			return err
		}
		for i := range boards {
			verb := node.BoardAdd
			if slices.ContainsFunc(known, func(b node.BoardInfo) bool { return b.Name == boards[i].Name }) {
				verb = node.BoardEdit
			}
			if _, err := a.doBoard(l, node.BoardCommand{Verb: verb, Board: &boards[i]}); err != nil {
				return fmt.Errorf("%d of %d boards imported: %w", i, len(boards), err)
			}
		}
		a.note("%d boards imported", len(boards))
		return nil
	})
	return cmd
}

// readBoards reads and checks the boards of a file.
func (a *app) readBoards(file string) ([]node.BoardConfig, error) {
	if strings.HasSuffix(file, ".json") || strings.HasSuffix(file, ".jsonl") {
		return readBoardsJSON(file)
	}
	read := os.ReadFile
	if file == "-" {
		read = func(string) ([]byte, error) { return io.ReadAll(a.stdin) }
	}
	data, err := read(file)
	if err != nil {
		return nil, err
	}
	l := &loaded{Config: node.DefaultConfig(), origin: map[string]string{}}
	at, err := parseTOML(&l.Config, file, data)
	if err != nil {
		return nil, err
	}
	l.place(at)
	if len(l.Boards) == 0 {
		return nil, fmt.Errorf("%s holds no [[board]]", file)
	}
	return l.Boards, l.check()
}

func readBoardsJSON(file string) ([]node.BoardConfig, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	var boards []node.BoardConfig
	for d.More() {
		b := node.DefaultBoard()
		if err := d.Decode(&b); err != nil {
			return nil, fmt.Errorf("%s: board %d: %w", file, len(boards)+1, err)
		}
		if err := b.Validate(); err != nil {
			return nil, fmt.Errorf("%s: board %d: %w", file, len(boards)+1, err)
		}
		boards = append(boards, b)
	}
	return boards, nil
}
