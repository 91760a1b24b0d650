package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"octopus/node"
)

func TestSettingNames(t *testing.T) {
	want := map[string][2]string{
		"dir":                   {"OCTOPUS_DIR", "dir"},
		"userAgent":             {"OCTOPUS_USER_AGENT", "user-agent"},
		"fetcher.hostDelay":     {"OCTOPUS_FETCHER_HOST_DELAY", "host-delay"},
		"fetcher.retry.backoff": {"OCTOPUS_FETCHER_RETRY_BACKOFF", "retry-wait"},
		"fetcher.ipDelay":       {"OCTOPUS_FETCHER_IP_DELAY", "ip-delay"},
	}
	seen := map[string]bool{}
	for _, s := range settings() {
		if w, ok := want[s.key]; ok && (w != [2]string{s.env, s.flag}) {
			t.Errorf("%s: %s --%s, want %v", s.key, s.env, s.flag, w)
		}
		for _, name := range []string{s.key, s.env, "--" + s.flag} {
			if seen[name] {
				t.Errorf("two settings have the name %s", name)
			}
			seen[name] = true
		}
		if s.help == "" {
			t.Errorf("%s has no help", s.key)
		}
		delete(want, s.key)
	}
	if len(want) > 0 {
		t.Errorf("no settings %v", want)
	}
}

// TestConfigErrors holds messages to places: line and column are those of the
// key, or of the syntax error.
func TestConfigErrors(t *testing.T) {
	for name, c := range map[string]struct{ toml, want string }{
		"unknown key":      {"[fetcher]\nhostDelay = \"1s\"\nhostDealy = \"2s\"\n", `f.toml:3:1: unknown key "fetcher.hostDealy"; did you mean "fetcher.hostDelay"?`},
		"unknown section":  {"[fetscher]\nhostDelay = \"1s\"\n", `f.toml:2:1: unknown key "fetscher.hostDelay"; did you mean "fetcher.hostDelay"?`},
		"missing section":  {"\n  hostDelay = \"1s\"\n", `f.toml:2:3: unknown key "hostDelay"; did you mean "fetcher.hostDelay"?`},
		"flag's spelling":  {"[fetcher]\nhost-delay = \"1s\"\n", `did you mean "fetcher.hostDelay"?`},
		"nothing like it":  {"quux = 1\n", "f.toml:1:1: unknown key \"quux\"; `octopus config show` lists all keys"},
		"number in quotes": {"[fetcher]\nconcurrency = \"64\"\n", `f.toml:2:1: fetcher.concurrency: want a whole number, got the string "64"`},
		"string for list":  {"output = \"a.jsonl\"\n", `f.toml:1:1: output: want a list of strings, got the string "a.jsonl"`},
		"list of numbers":  {"output = [1]\n", `f.toml:1:1: output: want a list of strings, got a list`},
		"number for time":  {"fetcher.timeout = 20\n", `f.toml:1:1: fetcher.timeout: want a duration like "30m", got 20`},
		"bad duration":     {"fetcher.timeout = \"20 parsecs\"\n", `f.toml:1:1: fetcher.timeout: "20 parsecs" is no duration`},
		"float for int":    {"crawl.depth = 1.5\n", `f.toml:1:1: crawl.depth: want a whole number, got 1.5`},
		"bad value":        {"\n[crawl]\nscope = \"galaxy\"\n", `f.toml:3:1: crawl.scope: is "galaxy"; use page`},
		"value for table":  {"fetcher = 3\n", `f.toml:1:1: fetcher: is a table, write it as [fetcher]`},
		"inline table":     {"fetcher = { hostDelay = \"1s\", tiemout = \"2s\" }\n", `f.toml:1:31: unknown key "fetcher.tiemout"; did you mean "fetcher.timeout"?`},
		"deep inline":      {"[fetcher]\nretry = { max = \"x\" }\n", `f.toml:2:11: fetcher.retry.max: want a whole number`},
		"syntax":           {"dir = \"db\"\n[fetcher\n", `f.toml:2:`},
		"bad escape":       {"crawl.accept = [\"link\\?x\"]\n", `f.toml:1:`},
		"twice":            {"dir = \"a\"\ndir = \"b\"\n", `f.toml:2:`},
		"dotted above":     {"fetcher.hostDelay = \"1s\"\n\n[fetcher]\ntimeout = \"2s\"\n", `f.toml:3:2: table [fetcher] was opened already by the dotted line 1; move that line below [fetcher] and write it without "fetcher."`},
		"bad pattern":      {"[crawl]\n\nreject = ['ok', '*.pdf']\n", `f.toml:3:1: crawl.reject: "*.pdf" is no regular expression: missing argument to repetition operator`},
		"bad resolver":     {"[fetcher]\nresolver = ['127.0.0.1', 'dns server']\n", `f.toml:2:26: fetcher.resolver[1]: "dns server" is no address of a DNS server`},
		"bad output":       {"output = ['a.jsonl', 'b.xml']\n", `f.toml:1:22: output[1]: "b.xml" is no known form of output`},
		"UTF-16":           {"\xff\xfed\x00i\x00r\x00", "f.toml: is UTF-16; save it as UTF-8"},
		"two mistakes":     {"a = 1\n\nb = 2\n", "f.toml:3:1: unknown key \"b\""},
	} {
		t.Run(name, func(t *testing.T) {
			cli := newCLI(t)
			cli.file("f.toml", c.toml)
			cli.run("config", "check", "f.toml").want(exitConfig, c.want)
			cli.run("-C", "f.toml", "config", "show").want(exitConfig, c.want)
		})
	}
}

func TestConfigAccepted(t *testing.T) {
	for name, text := range map[string]string{
		"empty":               "",
		"empty table":         "[fetcher]\n",
		"dotted in table":     "[fetcher]\nretry.max = 2\n",
		"dotted":              "fetcher.retry.max = 2\nfetcher.timeout = \"1s\"\n[crawl]\ndepth = 1\n",
		"inline":              "fetcher = { retry = { max = 2 } }\n",
		"sub table":           "[fetcher.retry]\nmax = 2\n",
		"size as number":      "fetcher.maxBody = 4096\n",
		"trailing comma":      "[crawl]\naccept = [\n  'a',\n  'b',\n]\n",
		"Windows line ends":   "[fetcher]\r\nretry.max = 2\r\n",
		"byte order mark":     "\ufeff[fetcher]\nretry.max = 2\n",
		"days":                "crawl.maxTime = \"7d\"\n",
		"number with _":       "crawl.maxPages = 1_000_000\n",
		"comment after value": "dir = \"db\" # state\n",
	} {
		t.Run(name, func(t *testing.T) {
			cli := newCLI(t)
			cli.file("my.conf", text)
			cli.run("config", "check").want(exitOK, "my.conf is valid")
		})
	}
}

func TestPrecedence(t *testing.T) {
	cli := newCLI(t)
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".config/octopus"), 0o755); err != nil {
		t.Fatal(err)
	}
	user := filepath.Join(home, ".config/octopus/octopus.toml")
	cli.file(user, "fetcher.hostDelay = \"1m\"\n")
	cli.env = []string{"HOME=" + home}

	show := func(want string, args ...string) {
		t.Helper()
		cli.run(append([]string{"config", "show", "--origin", "--changed"}, args...)...).want(exitOK)
		if got := strings.Join(strings.Fields(cli.stdout), " "); got != want {
			t.Errorf("config show %v:\n got %s\nwant %s", args, got, want)
		}
	}
	show(`[fetcher] hostDelay = "1m" # ` + user + `:1:1`)
	cli.file("my.conf", "[fetcher]\nhostDelay = \"2s\"\n")
	show(`[fetcher] hostDelay = "2s" # my.conf:2:1`)
	cli.file("octopus.toml", "fetcher.hostDelay = \"3s\"\n")
	show(`[fetcher] hostDelay = "3s" # octopus.toml:1:1`)
	cli.file("mine.toml", "fetcher.hostDelay = \"4s\"\ncrawl.reject = ['a', 'b']\n")
	show(`[crawl] reject = ["a", "b"] # mine.toml:2:1 [fetcher] hostDelay = "4s" # mine.toml:1:1`, "-C", "mine.toml")
	cli.env = append(cli.env, "OCTOPUS_FETCHER_HOST_DELAY=5s", "OCTOPUS_CRAWL_REJECT=c\nd")
	show(`[crawl] reject = ["c", "d"] # OCTOPUS_CRAWL_REJECT [fetcher] hostDelay = "5s" # OCTOPUS_FETCHER_HOST_DELAY`, "-C", "mine.toml")
	show(`[crawl] reject = ["e", "f"] # --reject [fetcher] hostDelay = "6s" # --host-delay`, "-C", "mine.toml", "--host-delay", "6s", "--reject", "e", "--reject", "f")
}

func TestEnvironmentErrors(t *testing.T) {
	for variable, want := range map[string]string{
		"OCTOPUS_FETCHER_HOSTDELAY=5s":  "unknown environment variable OCTOPUS_FETCHER_HOSTDELAY; did you mean \"OCTOPUS_FETCHER_HOST_DELAY\"?",
		"OCTOPUS_FETCHER_CONCURRENCY=x": `OCTOPUS_FETCHER_CONCURRENCY: "x" is no whole number`,
		"OCTOPUS_STORE_DISCARD=maybe":   `OCTOPUS_STORE_DISCARD: "maybe" is neither true nor false`,
		"OCTOPUS_FETCHER_TIMEOUT=0s":    `OCTOPUS_FETCHER_TIMEOUT: fetcher.timeout: must be positive`,
	} {
		cli := newCLI(t)
		cli.env = []string{variable}
		cli.run("config", "check").want(exitConfig, want)
	}
	cli := newCLI(t)
	cli.env = []string{"OCTOPUS_TEST_SOMETHING=1"}
	cli.run("config", "check").want(exitOK)
}

func TestMissingFile(t *testing.T) {
	newCLI(t).run("-C", "none.toml", "config", "check").want(exitConfig, "none.toml")
	newCLI(t).run("config", "check").want(exitOK, "no configuration file; looked for octopus.toml, my.conf")
}

// TestShowReloads loads what config show printed: every value, odd ones too,
// comes back.
func TestShowReloads(t *testing.T) {
	cli := newCLI(t)
	want := node.DefaultConfig()
	want.UserAgent = "odd \" \\ \u00e9 bot (+https://x.test/; a'b\tc)"
	want.Output = []string{"a b.jsonl", `c:\d.jsonl`, "-"}
	want.Crawl.Accept = []string{`^https?://([^/]+\.)?example\.com/`, `it's \d`, ""}
	want.Crawl.MaxTime = node.Duration(36 * 3600 * 1e9)
	want.Fetcher.MaxBody = 1_234_567
	want.Store.NoPages = true
	l := &loaded{Config: want, origin: map[string]string{}}
	var text strings.Builder
	if err := showConfig(&text, l, true, false); err != nil {
		t.Fatal(err)
	}
	cli.file("again.toml", text.String())
	a := newApp(nil, nil, nil, nil)
	got, err := a.loadFile("again.toml")
	if err != nil {
		t.Fatalf("%v in\n%s", err, text.String())
	}
	if !reflect.DeepEqual(got.Config, want) {
		t.Errorf("got  %+v\nwant %+v\nfrom\n%s", got.Config, want, text.String())
	}
}

// FuzzReadTOML feeds any bytes as a configuration file: it loads or is refused
// with a place, and never panics.
func FuzzReadTOML(f *testing.F) {
	for _, seed := range []string{"", "a=1", "[fetcher]\nretry.max=2", "fetcher.timeout=\"1s\"\n[fetcher]", "output=['a']", "[[board]]\nx=1", "fetcher={a={b=1}}", "'a.b'=1", "\"\"=1"} {
		f.Add(seed)
	}
	file := filepath.Join(f.TempDir(), "f.toml")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg := node.DefaultConfig()
		if _, err := readTOML(&cfg, file); err != nil && !strings.HasPrefix(err.Error(), file+":") {
			t.Errorf("%q: error without a place: %v", text, err)
		}
	})
}
