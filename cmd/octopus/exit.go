package main

import "errors"

// Exit codes. docs/reference/exit-codes.md and `octopus help exit-codes` tell
// them; they never change their meaning.
const (
	exitOK       = 0   // finished, all as asked
	exitFailure  = 1   // failure at run time
	exitUsage    = 2   // the command line is wrong
	exitConfig   = 3   // a configuration file or environment variable is wrong
	exitNothing  = 4   // nothing could be fetched
	exitLimit    = 6   // a limit ended the crawl, and --limit-is-error was given
	exitBackend  = 8   // a database named as output cannot be used, or lacks records
	exitLocked   = 9   // the directory is in use by another process
	exitVerify   = 10  // a verification found damage
	exitSIGINT   = 130 // interrupted; everything finished is on disk
	exitSIGTERM  = 143 // terminated; everything finished is on disk
	exitCodesDoc = `0    finished, all as asked; also when nothing was left to fetch
1    failure at run time: disk full, directory not writable, page not stored
2    the command line is wrong: unknown flag, bad URL, missing contact
3    a configuration file or OCTOPUS_ variable is wrong; the message names it
4    nothing fetched: unknown host, refused, denied by robots.txt, not allowed
6    a limit ended the crawl (pages, time), and --limit-is-error was given
8    a database named as output cannot be used, or lacks records (kept in --dir)
9    the directory is in use by another octopus
10   verification failed (store verify, audit)
130  SIGINT (Ctrl-C): stopped; run the same command again to go on
143  SIGTERM: stopped; run the same command again to go on`
)

// exitError is an error that knows its exit code. A nil err only sets the code:
// what there was to say has been said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usage(err error) error { return &exitError{exitUsage, err} }

// codeOf returns the exit code of what a command returned. Errors without a
// code come from the command-line parser itself, because every verb gives its
// own one (see app.verb).
func codeOf(err error) int {
	var e *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &e):
		return e.code
	}
	return exitUsage
}
