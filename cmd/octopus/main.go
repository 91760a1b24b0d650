package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	// net/http reports what hostile servers do through package log; it is no news
	// in a crawler.
	log.SetOutput(io.Discard)
	os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
}

// Main runs one command line and returns its exit code. env holds NAME=value
// pairs, as os.Environ returns them. It may be called many times, but not at
// once: the verbs listen to the signals of the process.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, env []string) int {
	return newApp(stdin, stdout, stderr, env).main(args)
}

// app is what one command line has: its streams, its environment and the flags
// that every verb takes.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            map[string]string

	args       []string // the command line
	configFile string
	logLevel   string
	logFormat  string
	color      string
	quiet      bool

	open   openFunc                      // node.Open; tests put a fake here
	notify func(chan<- os.Signal) func() // begins to send signals, returns the end of it
}

func newApp(stdin io.Reader, stdout, stderr io.Writer, env []string) *app {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, env: map[string]string{}, open: openNode, notify: notifySignals}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		a.env[name] = value
	}
	return a
}

func notifySignals(c chan<- os.Signal) func() {
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	return func() { signal.Stop(c) }
}

// envNames returns the names of the environment variables in order, so that
// the same mistake gives the same message.
func (a *app) envNames() []string { return slices.Sorted(maps.Keys(a.env)) }

func (a *app) main(args []string) int {
	a.args = args
	root := a.rootCmd()
	root.SetArgs(args)
	cmd, err := root.ExecuteC()
	code := codeOf(err)
	if err != nil && err.Error() != "" {
		fmt.Fprintf(a.stderr, "%s %v\n", a.paint(31, "octopus:"), err)
		if code == exitUsage {
			fmt.Fprintf(a.stderr, "`%s --help` lists the flags.\n", cmd.CommandPath())
		}
	}
	return code
}

// verb wraps the body of a command: an error without an exit code is a failure
// at run time.
func (a *app) verb(body func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := body(cmd, args)
		var known *exitError
		if err == nil || errors.As(err, &known) {
			return err
		}
		return &exitError{exitFailure, err}
	}
}

// withSettings wraps the body of a command that begins with the settings of the
// configuration file and of flags.
func (a *app) withSettings(flags *flagSet, body func(l *loaded, args []string) error) func(*cobra.Command, []string) error {
	return a.verb(func(_ *cobra.Command, args []string) error {
		l, err := a.load(flags)
		if err != nil {
			return err
		}
		return body(l, args)
	})
}

// note tells people something on standard error, unless -q was given.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.stderr, format+"\n", args...)
	}
}
