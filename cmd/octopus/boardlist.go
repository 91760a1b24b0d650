package main

import (
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

func (a *app) boardListCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the boards in the order they are asked", Args: cobra.NoArgs}
	dir := addFlags(cmd, "dir")
	var p lister
	p.add(cmd)
	cmd.RunE = a.withSettings(dir, func(l *loaded, _ []string) error {
		list, err := a.boards(l)
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
	cmd.RunE = a.withSettings(dir, func(l *loaded, args []string) error {
		b, err := a.board(l, args[0])
		if err != nil {
			return err
		}
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
	cmd.RunE = a.withSettings(dir, func(l *loaded, args []string) error {
		list, err := a.boards(l)
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
		Long: `Add the boards of a file, which octopus board export or a person has written:
TOML tables [[board]], or JSON, one object a line. A board of the same name is
changed. Nothing is added if anything in the file is wrong. - is standard input.`}
	dir := addFlags(cmd, "dir")
	cmd.RunE = a.withSettings(dir, func(l *loaded, args []string) error {
		boards, err := a.readBoards(args[0])
		if err != nil {
			return &exitError{exitConfig, err}
		}
		known, err := a.boards(l)
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
		a.note("%s imported", counted(int64(len(boards)), "board"))
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
