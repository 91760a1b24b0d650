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
