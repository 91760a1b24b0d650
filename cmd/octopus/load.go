package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"octopus"
	"octopus/node"
)

// noSyncVar is for crash tests only: their control run must lose data.
const noSyncVar = envPrefix + "TEST_NOSYNC"

// loaded is a configuration that knows where each value came from.
type loaded struct {
	node.Config
	file   string            // the file read; empty where there was none
	origin map[string]string // key -> "default", "FILE:LINE:COL", "OCTOPUS_X" or "--x"
}

// boards returns those of the file.
func (l *loaded) boards() []octopus.Board {
	var all []octopus.Board
	for i := range l.Boards {
		all = append(all, l.Boards[i].Board())
	}
	return all
}

// load overlays flag > environment > file > default.
func (a *app) load(flags *flagSet) (*loaded, error) {
	l, err := a.loadFile(a.configFile)
	if err != nil {
		return nil, err
	}
	if err := a.loadEnv(l); err != nil {
		return nil, &exitError{exitConfig, err}
	}
	if flags != nil {
		flags.overlay(l)
	}
	if err := l.check(); err != nil {
		return nil, err
	}
	return l, nil
}

// loadFile reads the defaults and the file, explicit or found.
func (a *app) loadFile(explicit string) (*loaded, error) {
	l := &loaded{Config: node.DefaultConfig(), origin: map[string]string{}}
	for _, s := range settings() {
		l.origin[s.key] = "default"
	}
	l.file = explicit
	if l.file == "" {
		l.file = a.findFile()
	}
	if l.file == "" {
		return l, nil
	}
	at, err := readTOML(&l.Config, l.file)
	if err != nil {
		return nil, &exitError{exitConfig, err}
	}
	l.place(at)
	return l, nil
}

// place notes where the keys of the file stand.
func (l *loaded) place(at map[string]place) {
	for key := range l.origin {
		if p, ok := at[key]; ok {
			l.origin[key] = p.String()
		}
	}
	for key, p := range at {
		if strings.HasSuffix(key, "]") || strings.HasPrefix(key, "board[") {
			l.origin[key] = p.String()
		}
	}
}

// findFile returns the first file of the search path that exists, or "".
func (a *app) findFile() string {
	for _, file := range a.searchPath() {
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			return file
		}
	}
	return ""
}

// searchPath lists where a configuration file may lie, best first.
func (a *app) searchPath() []string {
	path := []string{"octopus.toml", "my.conf"}
	base := a.env["XDG_CONFIG_HOME"]
	if base == "" && a.env["APPDATA"] != "" {
		base = a.env["APPDATA"]
	}
	if base == "" && a.env["HOME"] != "" {
		base = filepath.Join(a.env["HOME"], ".config")
	}
	if base == "" {
		return path
	}
	return append(path, filepath.Join(base, "octopus", "octopus.toml"))
}

// loadEnv applies OCTOPUS_ variables. A name that is no setting is an error:
// it is a slip, and ignoring it would hide that. OCTOPUS_TEST_ is for tests.
func (a *app) loadEnv(l *loaded) error {
	all := settings()
	var names []string
	for _, s := range all {
		names = append(names, s.env)
	}
	for _, name := range a.envNames() {
		if !strings.HasPrefix(name, envPrefix) || strings.HasPrefix(name, envPrefix+"TEST_") {
			continue
		}
		i := slices.Index(names, name)
		if i < 0 {
			return fmt.Errorf("unknown environment variable %s%s", name, suggest(name, names))
		}
		if err := setEnv(&l.Config, all[i], a.env[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		l.origin[all[i].key] = name
	}
	l.Store.NoSync = a.env[noSyncVar] == "1"
	return nil
}

// setEnv sets one variable; a list has one element a line.
func setEnv(c any, s setting, value string) error {
	if !s.isList() {
		return s.set(c, value)
	}
	s.clear(c)
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); line != "" {
			if err := s.set(c, line); err != nil {
				return err
			}
		}
	}
	return nil
}

// check validates the whole, and blames the source of the bad value.
func (l *loaded) check() error {
	if err := l.Config.Validate(); err != nil {
		return l.blame(err)
	}
	if err := checkPatterns("crawl.accept", l.Crawl.Accept); err != nil {
		return l.blame(err)
	}
	if err := checkPatterns("crawl.reject", l.Crawl.Reject); err != nil {
		return l.blame(err)
	}
	return nil
}

// checkPatterns returns a *node.ConfigError for the first text that is no
// regular expression.
func checkPatterns(key string, patterns []string) error {
	for _, p := range patterns {
		if _, err := regexp.Compile(p); err != nil {
			why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
			return &node.ConfigError{Key: key, Text: fmt.Sprintf("%q is no regular expression: %s%s", p, why, hintRE2(p))}
		}
	}
	return nil
}

// hintRE2 helps those who know Perl's expressions.
func hintRE2(pattern string) string {
	if strings.Contains(pattern, "(?!") || strings.Contains(pattern, "(?=") || strings.Contains(pattern, "(?<") {
		return "; there is no look-around (RE2): say what to leave out with crawl.reject, --reject"
	}
	return "; the syntax is RE2's"
}

// originOf tells where the value of a key came from, or that of the table or
// list it is in. A key of a list that a flag gave has that of the list.
func (l *loaded) originOf(key string) string {
	for {
		origin, ok := l.origin[key]
		i := strings.LastIndexAny(key, ".[")
		if ok || i < 0 {
			return origin
		}
		key = key[:i]
	}
}

// blame turns a *node.ConfigError into an error that begins with where the
// value came from. The code is that of a usage error if it came from a flag.
func (l *loaded) blame(err error) error {
	var bad *node.ConfigError
	if !errors.As(err, &bad) {
		return err
	}
	origin := l.originOf(bad.Key)
	if strings.HasPrefix(origin, "--") {
		return &exitError{exitUsage, fmt.Errorf("%s %s", origin, bad.Text)}
	}
	if origin == "" || origin == "default" {
		return &exitError{exitConfig, err}
	}
	return &exitError{exitConfig, fmt.Errorf("%s: %w", origin, err)}
}
