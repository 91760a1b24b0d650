package main

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"octopus/node"
)

// A setting is one leaf of node.Config, or of node.BoardConfig. Its struct tags are the only place
// where a key of the file, a flag and an environment variable get their names.
type setting struct {
	key   string // as in the file: "fetcher.hostDelay"
	flag  string // long flag of `octopus crawl`: "host-delay"; empty where there is none
	short string // one letter, or empty
	env   string // "OCTOPUS_FETCHER_HOST_DELAY"
	help  string
	index []int // path of the field in node.Config, for reflection
	typ   reflect.Type
}

const envPrefix = "OCTOPUS_"

// settings returns every setting in the order of node.Config.
func settings() []setting { return walk(reflect.TypeFor[node.Config](), "", nil) }

// boardSettings returns those of a board, which have no environment variable.
func boardSettings() []setting { return walk(reflect.TypeFor[node.BoardConfig](), "", nil) }

func walk(t reflect.Type, prefix string, index []int) []setting {
	var all []setting
	for f := range t.Fields() {
		name := f.Tag.Get("toml")
		if name == "" || name == "-" {
			continue
		}
		path := append(append([]int(nil), index...), f.Index...)
		if f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct {
			continue // the tables [[board]]
		}
		if f.Type.Kind() == reflect.Struct && !reflect.PointerTo(f.Type).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
			all = append(all, walk(f.Type, prefix+name+".", path)...)
			continue
		}
		key := prefix + name
		all = append(all, setting{key: key, flag: f.Tag.Get("flag"), short: f.Tag.Get("short"),
			env: envName(key), help: f.Tag.Get("help"), index: path, typ: f.Type})
	}
	return all
}

// envName turns "fetcher.hostDelay" into "OCTOPUS_FETCHER_HOST_DELAY".
func envName(key string) string {
	var b strings.Builder
	b.WriteString(envPrefix)
	lower := false // the character before was a lower-case letter
	for _, r := range key {
		if r == '.' {
			r = '_'
		} else if unicode.IsUpper(r) && lower {
			b.WriteByte('_')
		}
		lower = unicode.IsLower(r)
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}

func (s setting) field(c any) reflect.Value {
	return reflect.ValueOf(c).Elem().FieldByIndex(s.index)
}

// isList tells whether the setting takes any number of values.
func (s setting) isList() bool { return s.typ.Kind() == reflect.Slice }

// isText tells whether the setting is read by its own UnmarshalText: a duration
// or a size.
func (s setting) isText() bool {
	return reflect.PointerTo(s.typ).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// kind names the setting's type for people, in help and errors.
func (s setting) kind() string {
	switch {
	case s.isList():
		return "list of strings"
	case s.isText():
		return strings.ToLower(s.typ.Name())
	case s.typ.Kind() == reflect.Bool:
		return "true or false"
	case s.typ.Kind() == reflect.String:
		return "string"
	case s.typ.Kind() == reflect.Float64:
		return "number"
	}
	return "whole number"
}

// set gives the setting a value written as text, as in a flag or an environment
// variable. A list takes text as one further element.
func (s setting) set(c any, text string) error {
	v := s.field(c)
	switch {
	case s.isText():
		return v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text))
	case s.isList():
		v.Set(reflect.Append(v, reflect.ValueOf(text)))
	case s.typ.Kind() == reflect.String:
		v.SetString(text)
	case s.typ.Kind() == reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		v.SetBool(b)
	case s.typ.Kind() == reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%q is no number; write it like 0.0001 or 1e-4", text)
		}
		v.SetFloat(x)
	default:
		n, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, s.typ.Bits())
		if err != nil {
			return fmt.Errorf("%q is no whole number", text)
		}
		v.SetInt(n)
	}
	return nil
}

// clear empties a list, so that a stronger source replaces it and does not
// append to it.
func (s setting) clear(c any) { s.field(c).SetZero() }

// text writes the value so that set reads it; a list one element a line.
func (s setting) text(c any) string {
	v := s.field(c)
	if s.isList() {
		return strings.Join(v.Interface().([]string), "\n")
	}
	if s.typ.Kind() == reflect.Float64 {
		return floatText(v.Float())
	}
	return fmt.Sprint(v.Interface())
}

// floatText writes a number as TOML reads it again as a float.
func floatText(x float64) string {
	text := strconv.FormatFloat(x, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

// toml writes the value as TOML, without passwords.
func (s setting) toml(c any) string {
	v := s.field(c)
	switch {
	case s.isList():
		quoted := make([]string, v.Len())
		for i := range quoted {
			quoted[i] = quoteTOML(node.Redact(v.Index(i).String()))
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	case s.isText() || s.typ.Kind() == reflect.String:
		return quoteTOML(node.Redact(s.text(c)))
	}
	return s.text(c)
}

// quoteTOML writes a string as a TOML literal where it can be one, so that
// regular expressions stay readable, else as a basic string.
func quoteTOML(s string) string {
	if strings.Contains(s, `\`) && !strings.ContainsAny(s, "'\n\r") && strings.IndexFunc(s, unicode.IsControl) < 0 {
		return "'" + s + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case unicode.IsControl(r):
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
