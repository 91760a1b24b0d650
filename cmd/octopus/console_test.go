package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestTutorial runs the console blocks of the tutorial, in order and in one
// folder, and compares what they print. In the expected output "…" stands for
// anything; on a line of its own, for any lines.
func TestTutorial(t *testing.T) {
	text, err := os.ReadFile("../../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	c := newCLI(t)
	blocks := strings.Split(string(text), "```console\n")[1:]
	if len(blocks) < 5 {
		t.Fatalf("%d console blocks in the tutorial", len(blocks))
	}
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "```")
		command, want, _ := strings.Cut(block, "\n")
		args := strings.Fields(strings.TrimPrefix(command, "$ octopus "))
		c.run(args...).want(0)
		if got := c.err + c.stdout; !matches(want, got) {
			t.Errorf("%s\nprinted\n%s\nthe tutorial says\n%s", command, got, want)
		}
	}
}

// matches reports whether got looks like want.
func matches(want, got string) bool {
	var pattern strings.Builder
	for line := range strings.Lines(want) {
		if line == "…\n" {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*"))
	}
	return regexp.MustCompile("^(?:.*\n)*?" + pattern.String() + "(?:.*\n?)*$").MatchString(got)
}

// TestWatchASite runs the blocks of the guide on a site of its own.
func TestWatchASite(t *testing.T) {
	text, err := os.ReadFile("../../docs/howto/watch-a-site.md")
	if err != nil {
		t.Fatal(err)
	}
	p, c := newPaper(t, 3), newCLI(t)
	there := func(s string) string { return strings.ReplaceAll(s, "https://example.com", p.URL) }
	_, config, _ := strings.Cut(string(text), "```toml\n")
	config, _, _ = strings.Cut(config, "```")
	c.file("octopus.toml", "fetcher.hostDelay = \"0s\"\nfetcher.allowNet = [\"127.0.0.0/8\"]\n"+there(config))
	blocks := strings.Split(string(text), "```console\n")[1:]
	if len(blocks) < 7 {
		t.Fatalf("%d console blocks in the guide", len(blocks))
	}
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "```")
		command, want, _ := strings.Cut(block, "\n")
		c.run(strings.Fields(there(strings.TrimPrefix(command, "$ octopus ")))...).want(0)
		if got := strings.ReplaceAll(c.err+c.stdout, p.URL, "https://example.com"); !matches(want, got) {
			t.Errorf("%s\nprinted\n%s\nthe guide says\n%s", command, got, want)
		}
	}
}
