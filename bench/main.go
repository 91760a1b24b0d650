package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"

	"octopus/internal/benchweb"
)

func main() {
	verb, args := "run", os.Args[1:]
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		verb, args = args[0], args[1:]
	}
	verbs := map[string]func([]string) error{"run": run, "serve": serve, "colly": crawlColly, "least": crawlLeast, "stages": printStages, "flame": printFlame}
	f, ok := verbs[verb]
	if !ok {
		fmt.Fprintf(os.Stderr, "bench: no verb %q; there are run, serve, colly, least, stages and flame\n", verb)
		os.Exit(2)
	}
	if err := f(args); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// serve is the web. Its options come as JSON, its orders on standard input.
func serve(args []string) error {
	var opt benchweb.Options
	if len(args) != 1 {
		return errors.New("usage: bench serve OPTIONS, where OPTIONS are those of benchweb as JSON")
	}
	if err := json.Unmarshal([]byte(args[0]), &opt); err != nil {
		return err
	}
	s, err := benchweb.Start(opt)
	if err != nil {
		return err
	}
	return errors.Join(s.Control(os.Stdin, os.Stdout), s.Close())
}
