package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"octopus"
	"octopus/node"
	"octopus/sink"
)

// crawler is what the verbs need of a *node.Node while it crawls.
type crawler interface {
	Run(ctx context.Context, entries []string) (node.Summary, error)
	Drain()
	Status() node.Status
	Close() error
}

// openFunc opens a crawler, as node.Open does.
type openFunc func(node.Config, node.Options) (crawler, error)

func openNode(cfg node.Config, opt node.Options) (crawler, error) {
	n, err := node.Open(cfg, opt)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// result is what a crawl came to.
type result struct {
	node.Summary
	signal os.Signal // what ended it; nil where it ended by itself
}

// run crawls: it opens the node, shows progress, and turns signals into Drain
// and cut.
func (a *app) run(l *loaded, entries []string, fresh bool, show showFlags) (result, error) {
	defer a.limitMemory(l)()
	screen := &screen{w: a.stderr}
	admit := func(boards []octopus.Board) error { return checkStored(l, entries, boards) }
	n, err := a.open(l.Config, node.Options{Fresh: fresh, Control: listenLoopback, Admit: admit, Log: a.logger(screen), Stdout: a.stdout})
	if err != nil {
		return result{}, a.openError(l, err)
	}
	stopShow := a.progress(l, entries, show, screen, n.Status)
	ctx, cut := context.WithCancel(context.Background())
	stopSignals := a.handleSignals(n, cut, screen)
	sum, err := n.Run(ctx, entries)
	sig := stopSignals()
	stopShow()
	cut()
	if sig != nil && errors.Is(err, context.Canceled) {
		err = nil
	}
	return result{sum, sig}, errors.Join(l.blame(err), n.Close())
}

// checkStored is checkContact with the boards of the state directory: those of
// the file, those that octopus board added, and where no entries are given that
// of the crawl that goes on.
func checkStored(l *loaded, entries []string, stored []octopus.Board) error {
	var boards []octopus.Board
	for _, b := range stored {
		if !b.Paused && (len(entries) == 0 || b.Name != node.CrawlBoard) {
			boards = append(boards, b)
		}
	}
	return checkContact(l, entries, boards)
}

// listenLoopback is where a running crawl hears `octopus board`.
func listenLoopback() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }

// openError gives the exit code of what node.Open returned.
func (a *app) openError(l *loaded, err error) error {
	switch {
	case errors.Is(err, node.ErrLocked):
		return &exitError{exitLocked, err}
	case errors.Is(err, sink.ErrBackend):
		return &exitError{exitBackend, err}
	}
	if errors.Is(err, node.ErrDamaged) {
		return &exitError{exitVerify, fmt.Errorf("%w; move it away and crawl again: all is fetched anew, and the stored pages stay", err)}
	}
	return l.blame(err)
}

// handleSignals drains n at the first signal and calls cut at the second. The
// function it returns ends that, and tells the signal, or nil.
func (a *app) handleSignals(n crawler, cut func(), w io.Writer) func() os.Signal {
	signals := make(chan os.Signal, 2)
	stop := a.notify(signals)
	quit, first := make(chan struct{}), make(chan os.Signal, 1)
	go func() {
		var got os.Signal
		defer func() { first <- got }()
		for {
			select {
			case s := <-signals:
				if got != nil {
					a.noteTo(w, "stopping now")
					cut()
					continue
				}
				got = s
				n.Drain()
				a.noteTo(w, "stopping: %d in flight, finishing them (%s again to stop now; what is done is safe)", n.Status().InFlight, signalName(s))
			case <-quit:
				return
			}
		}
	}()
	return func() os.Signal {
		stop()
		close(quit)
		return <-first
	}
}

func signalName(s os.Signal) string {
	if s == syscall.SIGTERM {
		return "SIGTERM"
	}
	return "Ctrl-C"
}

// noteTo is note, written past a progress display.
func (a *app) noteTo(w io.Writer, format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(w, format+"\n", args...)
	}
}

// againCommand is the command line that goes on with a crawl.
func againCommand(args []string) string {
	quoted := []string{"octopus"}
	for _, arg := range args {
		if arg != "--fresh" && arg != "--fresh=true" {
			quoted = append(quoted, shellQuote(node.Redact(arg)))
		}
	}
	return strings.Join(quoted, " ")
}

// shellQuote quotes what a shell would not read as one plain word.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+", r)
	}
	if s != "" && !slices.ContainsFunc([]rune(s), func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
