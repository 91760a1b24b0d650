package main

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"octopus"
	"octopus/node"
)

// cli is one command line under test, in an empty working directory.
type cli struct {
	t     *testing.T
	stdin string
	env   []string
	open  openFunc // nil: the real one
	// signals are sent once Run of a fake crawler is under way.
	notify func(chan<- os.Signal) func()

	code        int
	stdout, err string
}

func newCLI(t *testing.T) *cli {
	t.Helper()
	t.Chdir(t.TempDir())
	return &cli{t: t}
}

func (c *cli) run(args ...string) *cli {
	c.t.Helper()
	var stdout, stderr bytes.Buffer
	a := newApp(strings.NewReader(c.stdin), &stdout, &stderr, c.env)
	if c.open != nil {
		a.open = c.open
	}
	if c.notify != nil {
		a.notify = c.notify
	}
	c.code = a.main(args)
	c.stdout, c.err = stdout.String(), stderr.String()
	return c
}

// want fails the test unless the exit code is code and standard error holds
// each of the texts.
func (c *cli) want(code int, texts ...string) *cli {
	c.t.Helper()
	if c.code != code {
		c.t.Fatalf("exit code %d, want %d\nstdout: %s\nstderr: %s", c.code, code, c.stdout, c.err)
	}
	for _, text := range texts {
		if !strings.Contains(c.err, text) {
			c.t.Errorf("stderr lacks %q:\n%s", text, c.err)
		}
	}
	return c
}

func (c *cli) file(name, text string) {
	c.t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// fake is a crawler that answers what it is told.
type fake struct {
	cfg     node.Config
	opt     node.Options
	entries []string
	boards  []octopus.Board // of the state directory
	sum     node.Summary
	err     error
	drained chan struct{}
	closed  bool
	run     func(ctx context.Context, f *fake) // nil: return at once
}

func (f *fake) Run(ctx context.Context, entries []string) (node.Summary, error) {
	f.entries = entries
	if err := f.opt.Admit(f.boards); err != nil {
		return node.Summary{}, err
	}
	if f.run != nil {
		f.run(ctx, f)
	}
	return f.sum, f.err
}

func (f *fake) Drain()              { close(f.drained) }
func (f *fake) Status() node.Status { return f.sum.Status }
func (f *fake) Close() error        { f.closed = true; return nil }

// use makes the command line crawl with f.
func (c *cli) use(f *fake) *cli {
	f.drained = make(chan struct{})
	c.open = func(cfg node.Config, opt node.Options) (crawler, error) {
		f.cfg, f.opt = cfg, opt
		return f, nil
	}
	return c
}

func TestUsageErrors(t *testing.T) {
	for _, c := range []struct {
		args string
		want string
	}{
		{"cralw", `unknown command "cralw" for "octopus"; did you mean "crawl"?`},
		{"help cralw", `unknown command "cralw" for "octopus"; did you mean "crawl"?`},
		{"help crawl x", `unknown command "x" for "octopus crawl"`},
		{"help board lsit", `unknown command "lsit" for "octopus board"; did you mean "list"?`},
		{"completion bsah", `unknown command "bsah" for "octopus completion"; did you mean "bash"?`},
		{"completion", "octopus completion what? bash, fish, powershell, zsh"},
		{"crawl --dpeth 3", `did you mean "--depth"?`},
		{"why", "too few arguments; write: octopus why URL"},
		{"crawl --delay 3", `did you mean "--host-delay"?`},
		{"crawl --depth three http://a.test/", `"three" is no whole number`},
		{"crawl --host-delay 5x http://a.test/", `"5x" is no duration; write it like 500ms`},
		{"crawl --scope galaxy http://a.test/", `--scope is "galaxy"; use page, prefix, host, domain or any`},
		{"crawl --progress fancy http://a.test/", `--progress "fancy": use auto, bar`},
		{"crawl --summary xml http://a.test/", `--summary "xml": use text, json`},
		{"crawl --log-level loud http://a.test/", `--log-level "loud"`},
		{"crawl --progress-interval 0s http://a.test/", `must be positive`},
		{"crawl", "name a URL to start from"},
		{"crawl -", "no URL on standard input"},
		{"crawl mailto:a@b.test", `bad URL "mailto:a@b.test"`},
		{"crawl ftp://a.test/", `bad URL "ftp://a.test/": not an http or https URL`},
		{"crawl http://a.test/ http://", `bad URL "http://"`},
		{"crawl http://[::1/", `bad URL "http://[::1/": An IPv6 address is missing the closing U+005D (])` + "\n"},
		{"crawl ./page.html", `bad URL "./page.html": relative URL without a base`},
		{"crawl /etc/hosts", `bad URL "/etc/hosts": relative URL without a base`},
		{"crawl --memory 2 http://a.test/", "--memory is 2; it takes 32MiB at least"},
		{"demo --port 70000", "--port 70000: must be 0 to 65535"},
		{"bench crawl --pages 0", "must be at least 1"},
		{"crawl --allow-net 300.0.0.0/8 http://a.test/", `--allow-net "300.0.0.0/8" is no network`},
		{"crawl --reject ( http://a.test/", `--reject "(" is no regular expression: missing closing )`},
		{"crawl --accept ^(?!x) http://a.test/", `no look-around (RE2): say what to leave out with crawl.reject, --reject`},
		{"inspect ulr x", `did you mean "url"?`},
		{"config", "octopus config what?"},
		{"inspect robots only-a-file", "at least one URL"},
		{"version extra", "write: octopus version"},
	} {
		t.Run(c.args, func(t *testing.T) {
			newCLI(t).run(strings.Fields(c.args)...).want(exitUsage, c.want)
		})
	}
}

// TestExitCodesDocumented holds the table people read to the constants.
func TestExitCodesDocumented(t *testing.T) {
	var documented []string
	for line := range strings.Lines(exitCodesDoc) {
		documented = append(documented, strings.Fields(line)[0])
	}
	want := []string{"0", "1", "2", "3", "4", "6", "8", "9", "10", "130", "143"}
	if !slices.Equal(documented, want) {
		t.Errorf("documented exit codes %v, want %v", documented, want)
	}
	if c := newCLI(t).run("help", "exit-codes"); !strings.Contains(c.stdout, exitCodesDoc) {
		t.Errorf("help exit-codes prints %q", c.stdout)
	}
}

func TestVersion(t *testing.T) {
	c := newCLI(t).run("version", "--json").want(exitOK)
	if !strings.Contains(c.stdout, `"version":"`+node.Version+`"`) {
		t.Errorf("version --json prints %s", c.stdout)
	}
	if c := c.run("version").want(exitOK); !strings.HasPrefix(c.stdout, "octopus "+node.Version) {
		t.Errorf("version prints %s", c.stdout)
	}
}

func TestManAndCompletion(t *testing.T) {
	c := newCLI(t).run("man", "pages").want(exitOK)
	page, err := os.ReadFile("pages/octopus-crawl.1")
	if err != nil || !bytes.Contains(page, []byte("host-delay")) {
		t.Errorf("octopus-crawl.1: %v, %d bytes", err, len(page))
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if c.run("completion", shell).want(exitOK); !strings.Contains(c.stdout, "octopus") {
			t.Errorf("completion %s prints %q", shell, c.stdout)
		}
	}
}

// TestHelpWidth: what help says fits a terminal of 80 columns; examples are
// command lines, and may be longer.
func TestHelpWidth(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if n := len("  aliases     " + cmd.Short); n > 100 {
			t.Errorf("%s: a heading of %d characters in the list of its group", cmd.CommandPath(), n)
		}
		for line := range strings.Lines(cmd.Long) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
				t.Errorf("help of %s: a line of %d characters: %s", cmd.CommandPath(), n, line)
			}
		}
		for _, c := range cmd.Commands() {
			if !c.Hidden {
				visit(c)
			}
		}
	}
	visit(newApp(nil, nil, nil, nil).rootCmd())
}

// TestHelpPrintsDefaults looks for the default of every flag.
func TestHelpPrintsDefaults(t *testing.T) {
	c := newCLI(t).run("crawl", "--help").want(exitOK)
	help := strings.Join(strings.Fields(c.stdout), " ") // as if no line were broken
	def := node.DefaultConfig()
	for _, s := range settings() {
		if s.flag == "" {
			continue
		}
		want := s.text(&def)
		if want == "" {
			want = "none"
		}
		want = s.help + " (default " + want + ")"
		_, after, found := strings.Cut(help, "--"+s.flag+" ")
		if !found || !strings.Contains(after, want) {
			t.Errorf("help of --%s does not say %q", s.flag, want)
		}
	}
}
