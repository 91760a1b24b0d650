package node

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"octopus/sink"
	"octopus/sink/mongosink"
	"octopus/sink/parquetsink"
	"octopus/sink/sqlsink"
)

var (
	_ sink.LineWriter = (*sink.JSONL)(nil)
	_ sink.LineWriter = (*sink.Writer)(nil)
	_ sink.Resumer    = (*sink.CSV)(nil)
	_ sink.Resumer    = (*sink.Markdown)(nil)
	_ sink.Resumer    = (*sink.Feed)(nil)
	_ sink.Resumer    = (*sqlsink.Sink)(nil)
	_ sink.Resumer    = (*mongosink.Sink)(nil)
	_ sink.Gatherer   = (*parquetsink.Sink)(nil)
)

// An output is `-o FORM:REST`, or a path whose suffix tells the form.
var outputForms = []struct {
	form   string
	suffix string // of a path without FORM:, empty where the form must be said
	open   func(n *Node, rest string) (sink.Target, error)
}{
	{"jsonl", ".jsonl", (*Node).fileOutput},
	{"csv", ".csv", (*Node).fileOutput},
	{"parquet", ".parquet", (*Node).fileOutput},
	{"parquet", ".parquet/", (*Node).fileOutput},
	{"md", ".md/", (*Node).fileOutput},
	{"feed", "", (*Node).fileOutput},
	{"sqlite", ".sqlite", (*Node).sqlOutput},
	{"sqlite", ".db", (*Node).sqlOutput},
	{"postgres", "", (*Node).sqlOutput},
	{"postgresql", "", (*Node).sqlOutput},
	{"mysql", "", (*Node).sqlOutput},
	{"mariadb", "", (*Node).sqlOutput},
	{"mongodb", "", (*Node).mongoOutput},
	{"mongodb+srv", "", (*Node).mongoOutput},
}

// outputHelp is what an output that is none of the forms is told.
const outputHelp = "write FILE.jsonl, FILE.csv, DIR.parquet, md:DIR, feed:DIR, FILE.sqlite, postgres://USER@HOST/DB, mysql://USER@HOST/DB, mongodb://USER@HOST/DB, or - for stdout; octopus export writes the store as warc, wacz and cdxj"

// outputForm returns the form of an output and the whole with the form in
// front; "" where it is none.
func outputForm(text string) (i int, full string, ok bool) {
	form, _, _ := strings.Cut(text, ":")
	path, _, _ := strings.Cut(text, "?")
	for i, f := range outputForms {
		if f.form == form {
			return i, text, true
		}
	}
	for i, f := range outputForms {
		if f.suffix != "" && strings.HasSuffix(path, f.suffix) && !strings.Contains(path, "://") {
			return i, f.form + ":" + text, true
		}
	}
	return 0, "", false
}

// openOutput opens what one -o names. Its errors show no password.
func (n *Node) openOutput(text string) (sink.Target, error) {
	if text == "-" {
		return sink.Target{Name: "-", Sink: sink.NewWriter(n.opt.Stdout)}, nil
	}
	i, full, _ := outputForm(text) // Validate has seen it
	return outputForms[i].open(n, full)
}

// checkOutputs refuses outputs of no known form.
func (c *Config) checkOutputs() error {
	for i, text := range c.Output {
		if _, _, ok := outputForm(text); !ok && text != "-" {
			return &ConfigError{fmt.Sprintf("output[%d]", i), fmt.Sprintf("%q is no known form of output; %s", Redact(text), outputHelp)}
		}
	}
	return nil
}

// fileOutput opens a file or folder. The name it has in the outbox is its form
// and path; that of JSON lines is the path alone, as it was before there were
// forms.
func (n *Node) fileOutput(text string) (sink.Target, error) {
	form, path, _ := strings.Cut(text, ":")
	abs, err := filepath.Abs(path)
	if err != nil || path == "" {
		return sink.Target{}, fmt.Errorf("%q names no file", text)
	}
	t := sink.Target{Name: form + ":" + abs}
	switch form {
	case "csv":
		t.Sink = sink.NewCSV(abs)
	case "parquet":
		t.Sink = parquetsink.New(abs)
	case "md":
		t.Sink = sink.NewMarkdown(abs)
	case "feed":
		t.Sink = sink.NewFeed(abs)
	default:
		t.Name, t.Sink = abs, sink.NewJSONL(abs)
	}
	return t, nil
}

// extraction says what is to be extracted from pages: what crawl.extract says,
// or what the outputs are made for.
func (c *Config) extraction() (text, markdown bool) {
	switch c.Crawl.Extract {
	case "auto":
		for _, output := range c.Output {
			i, _, ok := outputForm(output)
			form := outputForms[i].form
			text = text || ok && !oneOf(form, "jsonl", "csv", "md", "feed")
			markdown = markdown || ok && form == "md"
		}
		return text, markdown
	}
	return oneOf(c.Crawl.Extract, "text", "both"), oneOf(c.Crawl.Extract, "markdown", "both")
}

// sqlOutput opens a table of a database.
func (n *Node) sqlOutput(text string) (sink.Target, error) {
	address, err := withPassword(text)
	if err != nil {
		return sink.Target{}, err
	}
	s, err := sqlsink.New(address, sqlsink.Options{})
	if err != nil {
		return sink.Target{}, fmt.Errorf("%s: %w", Redact(text), err)
	}
	return sink.Target{Name: s.Name(), Sink: s}, nil
}

// mongoOutput opens a collection of MongoDB.
func (n *Node) mongoOutput(text string) (sink.Target, error) {
	address, err := withPassword(text)
	if err != nil {
		return sink.Target{}, err
	}
	s, err := mongosink.New(address, mongosink.Options{})
	if err != nil {
		return sink.Target{}, fmt.Errorf("%s: %w", Redact(text), err)
	}
	return sink.Target{Name: s.Name(), Sink: s}, nil
}

// withPassword puts the password from the file that ?passwordFile= names into
// an address, and takes the parameter out. An address may name several hosts,
// as no URL can.
func withPassword(address string) (string, error) {
	front, query, _ := strings.Cut(address, "?")
	q, err := url.ParseQuery(query)
	file := q.Get("passwordFile")
	if err != nil || file == "" {
		return address, nil // the sink tells what is wrong
	}
	q.Del("passwordFile")
	password, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("%s: passwordFile: %w", Redact(address), err)
	}
	scheme, rest, _ := strings.Cut(front, "://")
	user, hosts, ok := strings.Cut(rest, "@")
	if !ok {
		return "", fmt.Errorf("%s: passwordFile needs a user: %s://USER@HOST/…", address, scheme)
	}
	user, _, _ = strings.Cut(user, ":")
	secret := url.UserPassword("", strings.TrimRight(string(password), "\r\n")).String()
	address = scheme + "://" + user + secret + "@" + hosts
	if len(q) > 0 {
		address += "?" + q.Encode()
	}
	return address, nil
}

// secret matches the password of a URL, also of one that is not escaped as it
// should be: it may have any character. parameter matches one given as such.
var (
	secret    = regexp.MustCompile(`(?s)([a-zA-Z][a-zA-Z0-9+.-]*://[^\s/?#:@]*):.*@`)
	parameter = regexp.MustCompile(`(?i)([?&][a-z]*(?:password|passwd|pwd)=)[^&\s"]*`)
)

// Redact replaces the passwords of URLs, so that a text can be shown.
func Redact(text string) string {
	return parameter.ReplaceAllString(secret.ReplaceAllString(text, "$1:xxxxx@"), "${1}xxxxx")
}

// openOutbox opens the outputs; without any there is no outbox.
func (n *Node) openOutbox() error {
	if len(n.cfg.Output) == 0 {
		return nil
	}
	var targets []sink.Target
	for _, text := range n.cfg.Output {
		t, err := n.openOutput(text)
		if err != nil {
			for _, t := range targets {
				t.Sink.Close()
			}
			return &ConfigError{"output", err.Error()}
		}
		targets = append(targets, t)
	}
	var err error
	n.outbox, err = sink.Open(n.store, []byte(prefixOutbox), sink.Options{Targets: targets, Limit: n.cfg.Store.MaxPending, OnError: n.outputFailed})
	if errors.Is(err, sink.ErrTwice) {
		return &ConfigError{"output", strings.TrimPrefix(err.Error(), "output ")}
	}
	if err != nil {
		return err
	}
	for _, c := range n.outbox.Absent() {
		n.log.Warn("an output of an earlier run lacks records and is not among the outputs now; they are gone once the others have them", "output", c.Name, "records", c.Pending)
	}
	return nil
}

// outputFailed logs that an output does not take records.
func (n *Node) outputFailed(name string, err error, wait time.Duration) {
	n.log.Warn("output failed, trying again", "output", name, "err", Redact(err.Error()), "in", wait)
}
