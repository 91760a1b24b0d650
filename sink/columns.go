package sink

import (
	"crypto/md5"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"octopus"
)

// ColumnKind is the type of a column.
type ColumnKind int

const (
	Text    ColumnKind = iota // string
	Integer                   // int64; booleans are 0 and 1
	Real                      // float64
	Time                      // time.Time
	JSON                      // string: lists and whatever else, as JSON
)

// Column is one field of a Record in sinks that are tables. A field that Record
// gains is a column by that.
type Column struct {
	Name     string // as in JSON
	Kind     ColumnKind
	Nullable bool // empty values are left out: NULL, or nothing

	index int // of the field
}

// Columns returns the columns of a Record in the order of its fields.
func Columns() []Column {
	var all []Column
	for f := range reflect.TypeFor[octopus.Record]().Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		all = append(all, Column{Name: name, Kind: kindOf(f.Type), Nullable: strings.Contains(options, "omit"), index: f.Index[0]})
	}
	return all
}

func kindOf(t reflect.Type) ColumnKind {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return Time
	case t.Kind() == reflect.String, t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return Text
	case t.Kind() >= reflect.Bool && t.Kind() <= reflect.Uint64:
		return Integer
	case t.Kind() == reflect.Float32, t.Kind() == reflect.Float64:
		return Real
	}
	return JSON
}

// List tells whether the values are lists of texts.
func (c Column) List() bool {
	return reflect.TypeFor[octopus.Record]().Field(c.index).Type == reflect.TypeFor[[]string]()
}

// Raw is Value, but for lists, which are returned as they are: empty where they
// are nil.
func (c Column) Raw(r *octopus.Record) any {
	v := reflect.ValueOf(r).Elem().Field(c.index)
	switch {
	case !c.List():
		return c.Value(r)
	case c.Nullable && v.IsZero():
		return nil
	case v.IsNil():
		return []string{}
	}
	return v.Interface()
}

// Value returns the column's value in r, in the type that its Kind names; nil
// where the column is nullable and the value empty. An unsigned number above
// the largest int64 keeps its bits and becomes negative.
func (c Column) Value(r *octopus.Record) any {
	v := reflect.ValueOf(r).Elem().Field(c.index)
	if c.Nullable && v.IsZero() {
		return nil
	}
	switch c.Kind {
	case Time:
		return v.Interface().(time.Time).UTC()
	case Text:
		return textOf(v)
	case Real:
		return v.Float()
	case Integer:
		return integer(v)
	}
	if c.List() && v.IsNil() {
		return "[]"
	}
	text, err := json.Marshal(v.Interface())
	if err != nil {
		return nil // a field of Record that JSON cannot say; Encode fails on it before
	}
	return string(text)
}

func textOf(v reflect.Value) string {
	m, ok := v.Interface().(encoding.TextMarshaler)
	if !ok {
		return v.String()
	}
	text, err := m.MarshalText()
	if err != nil {
		return "" // Encode fails on it before
	}
	return string(text)
}

func integer(v reflect.Value) int64 {
	switch {
	case v.Kind() == reflect.Bool && v.Bool():
		return 1
	case v.CanInt():
		return v.Int()
	case v.CanUint():
		return int64(v.Uint())
	}
	return 0
}

// URLKey is what database sinks know a URL by: the MD5 of its text as 32
// hexadecimal digits, as the functions md5() of SQL servers return it.
func URLKey(url string) string {
	sum := md5.Sum([]byte(url))
	return hex.EncodeToString(sum[:])
}

// Bounds of one text of a record in a database, in bytes, and of the main
// content and of each list: a whole record stays below the 16 MiB that a MongoDB
// document and a packet of MariaDB may have.
const (
	cellLimit    = 64 << 10
	contentLimit = 4 << 20
)

// Portable returns a copy of r that every database takes: texts are valid UTF-8
// without NUL, which becomes U+FFFD, and are cut at 64 KiB, but Text, Markdown
// and each list at 4 MiB; a record that was cut says "cell" in Truncated unless
// that says more.
func Portable(r *octopus.Record) octopus.Record {
	out, cut := *r, false
	v := reflect.ValueOf(&out).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case f.Kind() == reflect.String:
			limit := cellLimit
			if f.Addr().Interface() == &out.Text || f.Addr().Interface() == &out.Markdown {
				limit = contentLimit
			}
			text, short := portable(f.String(), limit)
			f.SetString(text)
			cut = cut || short
		case f.Type() == reflect.TypeFor[[]string]():
			list, short := portableList(f.Interface().([]string))
			f.Set(reflect.ValueOf(list))
			cut = cut || short
		}
	}
	if cut && out.Truncated == "" {
		out.Truncated = "cell"
	}
	return out
}

func portable(s string, limit int) (text string, cut bool) {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= limit {
		return s, false
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit], true
}

func portableList(list []string) (out []string, cut bool) {
	room := contentLimit
	for i, s := range list {
		if room -= len(s) + 3; room < 0 { // quotes and comma
			return out, true
		}
		if out == nil {
			out = make([]string, 0, len(list)-i)
		}
		s, _ = portable(s, contentLimit)
		out = append(out, s)
	}
	return out, false
}

// Latest returns the last record of each (URL, visit) in recs, in order: a
// statement may not touch a row twice.
func Latest(recs []octopus.Record) []octopus.Record {
	type id struct {
		url   string
		visit uint32
	}
	last := make(map[id]int, len(recs))
	for i, r := range recs {
		last[id{r.URL, r.Visit}] = i
	}
	if len(last) == len(recs) {
		return recs
	}
	var out []octopus.Record
	for i, r := range recs {
		if last[id{r.URL, r.Visit}] == i {
			out = append(out, r)
		}
	}
	return out
}
