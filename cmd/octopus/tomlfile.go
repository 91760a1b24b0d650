package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"octopus/node"
)

// place is a position in a configuration file, from 1.
type place struct {
	file      string
	line, col int
}

func (p place) String() string { return fmt.Sprintf("%s:%d:%d", p.file, p.line, p.col) }

// errorf returns an error that begins with the place.
func (p place) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{p}, args...)...)
}

// readTOML sets in c what the file says, and returns where each key stands.
// The error lists everything that is wrong with the keys, one line each.
func readTOML(c *node.Config, file string) (map[string]place, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return parseTOML(c, file, data)
}

// parseTOML is readTOML for what was read already. Some editors begin a file
// with a byte order mark; TOML knows none.
func parseTOML(c *node.Config, file string, data []byte) (_ map[string]place, err error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, fmt.Errorf("%s: is UTF-16; save it as UTF-8", file)
	}
	scan := scanTOML(file, data)
	if scan.err != nil {
		return nil, scan.err
	}
	var tree map[string]any
	if err := toml.Unmarshal(data, &tree); err != nil {
		return nil, syntaxError(file, err)
	}
	if _, ok := tree["boards"]; ok {
		return nil, scan.place("boards[0]").errorf(`unknown key "boards"; did you mean "board"?`)
	}
	boards := tree["board"]
	delete(tree, "board")
	errs := setAll(c, settings(), "", tree, &scan)
	if c.Boards, err = boardsOf(boards, &scan); err != nil {
		errs = append(errs, err)
	}
	if c.Boards != nil {
		if c.BoardsFile, err = filepath.Abs(file); err != nil {
			errs = append(errs, err)
		}
	}
	return scan.at, errors.Join(errs...)
}

// setAll sets in c what a tree says, whose keys stand below prefix in the file.
func setAll(c any, all []setting, prefix string, tree map[string]any, scan *tomlScan) (errs []error) {
	values := map[string]any{}
	flatten(tree, "", values)
	order := func(a, b string) int { return scan.order(prefix+a, prefix+b) }
	for _, key := range slices.SortedFunc(maps.Keys(values), order) {
		if err := setTOML(c, all, key, values[key]); err != nil {
			errs = append(errs, scan.place(prefix+key).errorf("%w", err))
		}
	}
	return errs
}

// boardsOf reads the tables [[board]].
func boardsOf(value any, scan *tomlScan) (boards []node.BoardConfig, err error) {
	tables, ok := value.([]any)
	if value != nil && !ok {
		return nil, scan.place("board").errorf("board is written as [[board]], with two brackets: there may be many")
	}
	var errs []error
	for i, table := range tables {
		prefix := fmt.Sprintf("board[%d].", i)
		tree, ok := table.(map[string]any)
		if !ok {
			return nil, scan.place("board").errorf("board is a list of tables; write each as [[board]]")
		}
		b := node.DefaultBoard()
		errs = append(errs, setAll(&b, boardSettings(), prefix, tree, scan)...)
		boards = append(boards, b)
	}
	return boards, errors.Join(errs...)
}

func syntaxError(file string, err error) error {
	var d *toml.DecodeError
	if !errors.As(err, &d) {
		return fmt.Errorf("%s: %w", file, err)
	}
	line, col := d.Position()
	text := strings.TrimPrefix(d.Error(), "toml: ")
	if strings.Contains(text, "escape character") {
		text += `; write a pattern in single quotes: '\d+'`
	}
	return place{file, line, col}.errorf("%s", text)
}

// flatten writes the leaves of a TOML tree under their dotted keys.
func flatten(tree map[string]any, prefix string, out map[string]any) {
	for name, v := range tree {
		if sub, ok := v.(map[string]any); ok && len(sub) > 0 {
			flatten(sub, prefix+name+".", out)
			continue
		}
		out[prefix+name] = v
	}
}

// setTOML sets one key. The type must be the setting's: a number in quotes is
// an error, because a slip there usually hides another one.
func setTOML(c any, all []setting, key string, value any) error {
	i := slices.IndexFunc(all, func(s setting) bool { return s.key == key })
	if i < 0 {
		return unknownKey(key, value, all)
	}
	s := all[i]
	texts, ok := textsOf(s, value)
	if !ok {
		want := s.kind()
		if want == "period" || want == "duration" {
			want += ` like "30m"`
		}
		return fmt.Errorf("%s: want a %s, got %s", key, want, describe(value))
	}
	if s.isList() {
		s.clear(c)
	}
	for _, text := range texts {
		if err := s.set(c, text); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

func unknownKey(key string, value any, all []setting) error {
	for _, s := range all {
		if strings.HasPrefix(s.key, key+".") {
			if table, ok := value.(map[string]any); ok && len(table) == 0 {
				return nil // an empty table of ours
			}
			return fmt.Errorf("%s: is a table, write it as [%s]", key, key)
		}
	}
	hint := suggest(key, keysOf(all))
	if hint == "" {
		hint = "; `octopus config show` lists all keys"
		if len(all) < 20 { // those of a board
			hint = "; there are " + strings.Join(keysOf(all), ", ")
		}
	}
	return fmt.Errorf("unknown key %q%s", key, hint)
}

func keysOf(all []setting) []string {
	keys := make([]string, len(all))
	for i, s := range all {
		keys[i] = s.key
	}
	return keys
}

// textsOf returns a TOML value as the texts that setting.set reads, or false
// where the type is not the setting's.
func textsOf(s setting, value any) ([]string, bool) {
	switch v := value.(type) {
	case string:
		return []string{v}, s.isText() || s.kind() == "string"
	case bool:
		return []string{fmt.Sprint(v)}, s.kind() == "true or false"
	case int64:
		return []string{fmt.Sprint(v)}, s.kind() == "whole number" || s.kind() == "number" || s.kind() == "size" || s.kind() == "rate"
	case float64:
		return []string{fmt.Sprint(v)}, s.kind() == "number"
	case []any:
		var texts []string
		for _, e := range v {
			text, ok := e.(string)
			if !ok {
				return nil, false
			}
			texts = append(texts, text)
		}
		return texts, s.isList()
	}
	return nil, false
}

// describe names a TOML value's type for an error message.
func describe(value any) string {
	switch v := value.(type) {
	case string:
		return fmt.Sprintf("the string %q", v)
	case bool, int64, float64:
		return fmt.Sprint(v)
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return fmt.Sprintf("%v", value)
}

// tomlScan knows where each key stands.
type tomlScan struct {
	file string
	at   map[string]place
	err  error // a mistake with a better explanation than the decoder's
}

// scanTOML walks the syntax tree. It stops silently at a syntax error, which
// the decoder reports.
func scanTOML(file string, data []byte) tomlScan {
	s := tomlScan{file: file, at: map[string]place{}}
	var p unstable.Parser
	p.Reset(data)
	table, count := "", map[string]int{} // of the tables [[name]] met
	dotted := map[string]place{}         // tables made by dotted keys of the top level
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			name, at := s.key(&p, e.Key())
			if first, ok := dotted[name]; ok && s.err == nil {
				s.err = at.errorf("table [%s] was opened already by the dotted line %d; move that line below [%s] and write it without %q", name, first.line, name, name+".")
			}
			if e.Kind == unstable.ArrayTable {
				n := count[name]
				count[name] = n + 1
				name = fmt.Sprintf("%s[%d]", name, n)
			}
			table = name + "."
			s.at[name] = at
		case unstable.KeyValue:
			name, at := s.keyValue(&p, e, table)
			for i := range name {
				if name[i] == '.' && table == "" {
					dotted[name[:i]] = at
				}
			}
		}
	}
	return s
}

// keyValue notes the key of one line and those of an inline table in it.
func (s *tomlScan) keyValue(p *unstable.Parser, e *unstable.Node, prefix string) (string, place) {
	name, at := s.key(p, e.Key())
	s.at[prefix+name] = at
	switch v := e.Value(); v.Kind {
	case unstable.InlineTable:
		for it := v.Children(); it.Next(); {
			s.keyValue(p, it.Node(), prefix+name+".")
		}
	case unstable.Array:
		i := 0
		for it := v.Children(); it.Next(); {
			if n := it.Node(); n.Kind == unstable.String {
				start := p.Shape(n.Raw).Start
				s.at[fmt.Sprintf("%s%s[%d]", prefix, name, i)] = place{s.file, start.Line, start.Column}
				i++
			}
		}
	}
	return name, at
}

func (s *tomlScan) key(p *unstable.Parser, it unstable.Iterator) (string, place) {
	var parts []string
	at := place{file: s.file}
	for it.Next() {
		if len(parts) == 0 {
			start := p.Shape(it.Node().Raw).Start
			at.line, at.col = start.Line, start.Column
		}
		parts = append(parts, string(it.Node().Data))
	}
	return strings.Join(parts, "."), at
}

// place finds a key, or the table that holds it.
func (s *tomlScan) place(key string) place {
	for {
		if at, ok := s.at[key]; ok {
			return at
		}
		i := strings.LastIndexAny(key, ".[")
		if i < 0 {
			return place{s.file, 1, 1}
		}
		key = key[:i]
	}
}

// order sorts keys as they stand in the file.
func (s *tomlScan) order(a, b string) int {
	p, q := s.place(a), s.place(b)
	if p.line != q.line {
		return p.line - q.line
	}
	return p.col - q.col
}
