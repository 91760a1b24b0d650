package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"
)

// isTerminal tells whether w is a terminal that understands cursor movements.
func (a *app) isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && a.env["TERM"] != "dumb" && term.IsTerminal(int(f.Fd()))
}

// columnsOf returns the columns of the terminal w, or 100 where it can't tell.
func columnsOf(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return 100
}

// colored decides as the common conventions have it: the flag, then NO_COLOR,
// then CLICOLOR_FORCE, then whether anybody sees it.
func (a *app) colored() bool {
	switch {
	case a.color != "auto":
		return a.color == "always"
	case a.env["NO_COLOR"] != "":
		return false
	case a.env["CLICOLOR_FORCE"] != "" && a.env["CLICOLOR_FORCE"] != "0":
		return true
	}
	return a.isTerminal(a.stderr)
}

// paint writes text in an ANSI colour where colours are wanted.
func (a *app) paint(color int, text string) string {
	if !a.colored() {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", color, text)
}

// logger returns the log, written to w.
func (a *app) logger(w io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.logLevel)); err != nil {
		level = slog.LevelWarn // checkGlobals let nothing else through
	}
	opt := &slog.HandlerOptions{Level: level}
	if a.logFormat == "json" || (a.logFormat == "auto" && !a.isTerminal(a.stderr)) {
		return slog.New(slog.NewJSONHandler(w, opt))
	}
	return slog.New(slog.NewTextHandler(w, opt))
}
