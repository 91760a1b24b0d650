package main

import (
	"reflect"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"octopus/node"
)

// flagSet collects the settings given as flags until the weaker sources are
// known.
type flagSet struct {
	cfg any // *node.Config or *node.BoardConfig: holds the values given
	all []setting
	set []string // keys given, in order, each once
}

// commonFlags stand first in the help; the others follow in the order of
// node.Config.
var commonFlags = [...]string{"crawl.depth", "crawl.maxPages", "crawl.scope", "crawl.accept", "crawl.reject", "output",
	"dir", "fetcher.concurrency", "fetcher.hostDelay", "userAgent", "robots.policy", "store.noPages"}

// addFlags gives cmd the flags of the settings named by keys; of all that have
// one where there are none.
func addFlags(cmd *cobra.Command, keys ...string) *flagSet {
	def := node.DefaultConfig()
	f := &flagSet{cfg: &def, all: settings()}
	slices.SortStableFunc(f.all, func(a, b setting) int { return rank(a.key) - rank(b.key) })
	f.define(cmd, keys...)
	return f
}

// define gives cmd the flags of the settings named by keys, or all.
func (f *flagSet) define(cmd *cobra.Command, keys ...string) {
	for _, s := range f.all {
		if s.flag == "" || (len(keys) > 0 && !slices.Contains(keys, s.key)) {
			continue
		}
		v := &flagValue{s: s, f: f, def: s.text(f.cfg)}
		flag := cmd.Flags().VarPF(v, s.flag, s.short, s.help+v.defaultHelp())
		if s.typ.Kind() == reflect.Bool {
			flag.NoOptDefVal = "true"
		}
	}
	cmd.Flags().SortFlags = false
}

func rank(key string) int {
	if i := slices.Index(commonFlags[:], key); i >= 0 {
		return i
	}
	return len(commonFlags)
}

// overlay writes what was given over l.
func (f *flagSet) overlay(l *loaded) {
	for _, s := range f.all {
		if slices.Contains(f.set, s.key) {
			s.field(&l.Config).Set(s.field(f.cfg))
			l.origin[s.key] = "--" + s.flag
		}
	}
}

// flagValue is one setting as a flag. A list flag may be repeated; the first
// one replaces what file and environment say.
type flagValue struct {
	s   setting
	f   *flagSet
	def string
}

var _ pflag.Value = (*flagValue)(nil)

// String returns the default, for nobody: the help text has it already.
func (v *flagValue) String() string { return "" }

// Set takes one value given on the command line.
func (v *flagValue) Set(text string) error {
	if !slices.Contains(v.f.set, v.s.key) {
		if v.s.isList() {
			v.s.clear(v.f.cfg)
		}
		v.f.set = append(v.f.set, v.s.key)
	}
	return v.s.set(v.f.cfg, text)
}

// Type is the placeholder in the help.
func (v *flagValue) Type() string {
	switch kind := v.s.kind(); kind {
	case "true or false":
		return "bool" // a word pflag leaves out of the help
	case "list of strings", "string":
		return "string"
	case "whole number":
		return "int"
	case "number":
		return "float"
	default:
		return kind
	}
}

// defaultHelp says the default, whatever it is: an empty one too.
func (v *flagValue) defaultHelp() string {
	switch v.def {
	case "":
		return " (default none)"
	}
	return " (default " + v.def + ")"
}
