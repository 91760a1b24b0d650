package sqlsink

import (
	"fmt"
	"strings"
	"time"

	"octopus/sink"
)

// dialect is what databases do not agree on.
type dialect struct {
	quote    string                     // around identifiers
	types    map[sink.ColumnKind]string // of columns
	keyType  string                     // of url_md5
	numbered bool                       // placeholders are $1, $2 … and not ?
	suffix   string                     // of CREATE TABLE
	inline   bool                       // an index is made inside CREATE TABLE
	conflict string                     // between the values and the assignments of an upsert
	fresh    string                     // format of the value that came with the statement
	textTime bool                       // times are texts
}

var sqlite = &dialect{
	quote: `"`, keyType: "TEXT",
	types:    map[sink.ColumnKind]string{sink.Text: "TEXT", sink.Integer: "INTEGER", sink.Real: "REAL", sink.Time: "TEXT", sink.JSON: "TEXT"},
	conflict: `ON CONFLICT (url_md5, visit) DO UPDATE SET `, fresh: "excluded.%s", textTime: true,
}

var postgres = &dialect{
	quote: `"`, keyType: "text", numbered: true,
	types:    map[sink.ColumnKind]string{sink.Text: "text", sink.Integer: "bigint", sink.Real: "double precision", sink.Time: "timestamptz", sink.JSON: "jsonb"},
	conflict: `ON CONFLICT (url_md5, visit) DO UPDATE SET `, fresh: "excluded.%s",
}

var mysql = &dialect{
	quote: "`", keyType: "CHAR(32) CHARACTER SET ascii COLLATE ascii_bin", inline: true,
	types:    map[sink.ColumnKind]string{sink.Text: "LONGTEXT", sink.Integer: "BIGINT", sink.Real: "DOUBLE", sink.Time: "DATETIME(6)", sink.JSON: "JSON"},
	suffix:   " ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
	conflict: `ON DUPLICATE KEY UPDATE `, fresh: "VALUES(%s)",
}

// name quotes an identifier; a table may be SCHEMA.TABLE.
func (d *dialect) name(s string) string {
	return d.quote + strings.ReplaceAll(s, ".", d.quote+"."+d.quote) + d.quote
}

// param returns the placeholder of the n-th argument, from 1.
func (d *dialect) param(n int) string {
	if d.numbered {
		return fmt.Sprintf("$%d", n)
	}
	return "?"
}

// timeText is RFC 3339 with a fixed number of digits, so that texts sort as
// times do; SQLite's date functions read it.
const timeText = "2006-01-02T15:04:05.000Z"

// arg returns a column's value as an argument.
func (d *dialect) arg(v any) any {
	if t, ok := v.(time.Time); ok && d.textTime {
		return t.Format(timeText)
	}
	return v
}

// column declares a column.
func (d *dialect) column(c sink.Column) string {
	null := ""
	if !c.Nullable {
		null = " NOT NULL"
	}
	return d.name(c.Name) + " " + d.types[c.Kind] + null
}

// create makes the table and its indexes where they are missing.
func (d *dialect) create(table string) []string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE IF NOT EXISTS %s (url_md5 %s NOT NULL", d.name(table), d.keyType)
	for _, c := range sink.Columns() {
		b.WriteString(", " + d.column(c))
	}
	b.WriteString(", PRIMARY KEY (url_md5, visit)")
	index := strings.ReplaceAll(table, ".", "_") + "_fetched_at"
	if d.inline {
		return []string{b.String() + ", INDEX " + d.name(index) + " (fetched_at))" + d.suffix}
	}
	return []string{b.String() + ")" + d.suffix,
		fmt.Sprintf("CREATE INDEX IF NOT EXISTS %s ON %s (fetched_at)", d.name(index), d.name(table))}
}

// add adds a column to a table that has rows: they have no value in it.
func (d *dialect) add(table string, c sink.Column) string {
	c.Nullable = true
	return fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s", d.name(table), d.column(c))
}

// upsert returns the statement that stores so many rows, with the values of
// url_md5 and all columns of each as arguments.
func (d *dialect) upsert(table string, columns []sink.Column, rows int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "INSERT INTO %s (url_md5", d.name(table))
	for _, c := range columns {
		b.WriteString(", " + d.name(c.Name))
	}
	b.WriteString(") VALUES ")
	n := 0
	for row := range rows {
		b.WriteString(comma(row) + "(")
		for i := range len(columns) + 1 {
			n++
			b.WriteString(comma(i) + d.param(n))
		}
		b.WriteString(")")
	}
	b.WriteString(" " + d.conflict)
	for i, c := range columns {
		name := d.name(c.Name)
		b.WriteString(comma(i) + name + " = " + fmt.Sprintf(d.fresh, name))
	}
	return b.String()
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ", "
}
