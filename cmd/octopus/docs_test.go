package main

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"octopus/node"
)

var rewrite = flag.Bool("rewrite", false, "write generated parts of the documentation anew")

const reference = "../../docs/reference/"

// TestDocsSettings holds the table of settings to node.Config.
func TestDocsSettings(t *testing.T) {
	var table strings.Builder
	table.WriteString("| key | flag | variable | type | default | |\n|---|---|---|---|---|---|\n")
	def := node.DefaultConfig()
	for _, s := range settings() {
		f := "`--" + s.flag + "`"
		if s.short != "" {
			f = "`-" + s.short + "` " + f
		}
		fmt.Fprintf(&table, "| `%s` | %s | `%s` | %s | `%s` | %s |\n", s.key, f, s.env, s.kind(), s.toml(&def), s.help)
	}
	var boards strings.Builder
	boards.WriteString("| key | flag of `board add` | type | default | |\n|---|---|---|---|---|\n")
	b := node.DefaultBoard()
	for _, s := range boardSettings() {
		f := ""
		if s.flag != "" {
			f = "`--" + s.flag + "`"
		}
		fmt.Fprintf(&boards, "| `%s` | %s | %s | `%s` | %s |\n", s.key, f, s.kind(), s.toml(&b), s.help)
	}
	generated(t, "<!-- boards: generated from node.BoardConfig by `go test ./cmd/octopus -run TestDocs -rewrite` -->\n", boards.String())
	generated(t, "<!-- settings: generated from node.Config by `go test ./cmd/octopus -run TestDocs -rewrite` -->\n", table.String())
}

// generated holds the part of config.md between a mark and the next end mark to
// a text.
func generated(t *testing.T, mark, table string) {
	t.Helper()
	text, err := os.ReadFile(reference + "config.md")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), mark)
	_, tail, ok2 := strings.Cut(rest, "<!-- end -->")
	if !ok || !ok2 {
		t.Fatal("config.md lost its marks for the table")
	}
	want := head + mark + table + "<!-- end -->" + tail
	if *rewrite {
		if err := os.WriteFile(reference+"config.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Error("config.md is out of date: go test ./cmd/octopus -run TestDocs -rewrite")
	}
}

// TestDocsComplete looks for every verb, every own flag and every JSON field in
// the reference.
func TestDocsComplete(t *testing.T) {
	cli, err := os.ReadFile(reference + "cli.md")
	if err != nil {
		t.Fatal(err)
	}
	codes, err := os.ReadFile(reference + "exit-codes.md")
	if err != nil {
		t.Fatal(err)
	}
	has := func(text string) {
		t.Helper()
		if !strings.Contains(string(cli), text) {
			t.Errorf("cli.md does not mention %s", text)
		}
	}
	for line := range strings.Lines(exitCodesDoc) {
		if code := strings.Fields(line)[0]; !strings.Contains(string(codes), "| "+code+" |") {
			t.Errorf("exit-codes.md lacks %s", code)
		}
	}
	for _, v := range []any{summaryJSON{}, urlCounts{}, output{}, progressObject{}, outputState{}} {
		for f := range reflect.TypeOf(v).Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			has("`" + name + "`")
		}
	}
	settingFlags := map[string]bool{"help": true, "version": true}
	for _, s := range settings() {
		settingFlags[s.flag] = true
	}
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		has(cmd.Name())
		cmd.InitDefaultHelpFlag()
		for _, word := range strings.Fields(cmd.LocalFlags().FlagUsages()) {
			if name, ok := strings.CutPrefix(word, "--"); ok && !settingFlags[name] {
				has("--" + name)
			}
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(newApp(nil, nil, nil, nil).rootCmd())
}
