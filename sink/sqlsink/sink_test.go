package sqlsink_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"octopus"
	"octopus/internal/servers"
	"octopus/sink"
	"octopus/sink/sinktest"
	"octopus/sink/sqlsink"
)

// database is a database that tests use: its address, and the same opened
// without the sink.
type database struct {
	url   string
	db    *sql.DB
	quote string // around names
}

// TestDatabases runs every test of a database on each kind, with one server for
// all of them.
func TestDatabases(t *testing.T) {
	all := func(t *testing.T, d database) {
		for _, test := range []struct {
			name string
			run  func(*testing.T, database)
		}{{"Conformance", testConformance}, {"Content", testContent}, {"Migration", testMigration}, {"TwoWriters", testTwoWriters}} {
			t.Run(test.name, func(t *testing.T) { test.run(t, d) })
			d.exec(t, `DROP TABLE IF EXISTS pages`)
			d.exec(t, `DROP TABLE IF EXISTS octopus_schema`)
		}
	}
	t.Run("SQLite", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "a b%41#.sqlite")
		all(t, database{"sqlite:" + file, openDB(t, "sqlite", "file:"+(&url.URL{Path: file}).EscapedPath()+"?_pragma=busy_timeout(10000)"), `"`})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		all(t, serverDB(t, servers.Postgres(t)))
	})
	t.Run("MariaDB", func(t *testing.T) {
		t.Parallel()
		all(t, serverDB(t, servers.MariaDB(t)))
	})
}

// serverDB opens the database of a server.
func serverDB(t *testing.T, s *servers.SQLServer) database {
	if strings.HasPrefix(s.URL, "mysql") {
		return database{s.URL, openDB(t, "mysql", fmt.Sprintf("octopus:%s@tcp(%s)/octopus", servers.Password, s.Addr)), "`"}
	}
	return database{s.URL + "?sslmode=disable", openDB(t, "pgx", s.URL), `"`}
}

func openDB(t *testing.T, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// exec runs a statement; "x" around names becomes the database's quotes.
func (d database) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := d.db.Exec(strings.ReplaceAll(statement, `"`, d.quote)); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// strings returns the first column of a query as texts.
func (d database) strings(t *testing.T, query string) (list []string) {
	t.Helper()
	rows, err := d.db.Query(strings.ReplaceAll(query, `"`, d.quote))
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var s sql.NullString
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		list = append(list, s.String)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// names returns what is in a table as sinktest wants it.
func (d database) names(t *testing.T, table string) []string {
	t.Helper()
	got := d.strings(t, `SELECT url FROM "`+table+`" ORDER BY LENGTH(url), url`)
	for i, visit := range d.strings(t, `SELECT visit FROM "`+table+`" ORDER BY LENGTH(url), url`) {
		got[i] += " " + visit
	}
	return got
}

// with adds a parameter to an address.
func with(address, param string) string {
	if strings.Contains(address, "?") {
		return address + "&" + param
	}
	return address + "?" + param
}

func newSink(t *testing.T, address string) *sqlsink.Sink {
	t.Helper()
	s, err := sqlsink.New(address, sqlsink.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func write(t *testing.T, s sink.Sink, recs ...octopus.Record) {
	t.Helper()
	if err := s.Write(t.Context(), recs); err != nil {
		t.Fatal(err)
	}
}

func testConformance(t *testing.T, d database) {
	n := 0
	sinktest.Run(t, true, func(t *testing.T) (sink.Sink, func() []string) {
		n++
		table := fmt.Sprint("t", n)
		return newSink(t, with(d.url, "table="+table)), func() []string { return d.names(t, table) }
	})
}

// testContent stores a record with all its fields, and reads them with SQL.
func testContent(t *testing.T, d database) {
	s := newSink(t, d.url)
	if err := s.Resume(nil); err != nil {
		t.Fatal(err)
	}
	first := octopus.Record{V: 1, URL: "http://h.example/a", FinalURL: "http://h.example/a", Visit: 1, Status: 500,
		FetchedAt: time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.FixedZone("", 3600)), Title: "old", Links: []string{"http://x.example/", "http://y.example/?a=\"b\""}}
	second := first
	second.Status, second.Title, second.Author, second.Size = 200, "多腕 🐙 \x00", "O'Neil \\ \"x\"", 1<<40
	third := second
	third.Visit, third.Links = 2, nil
	write(t, s, first)
	write(t, s, second, third)
	for query, want := range map[string]string{
		`SELECT COUNT(*) FROM pages`:                                                   "2",
		`SELECT title FROM pages WHERE visit = 1`:                                      "多腕 🐙 \uFFFD",
		`SELECT status FROM pages WHERE visit = 1`:                                     "200",
		`SELECT author FROM pages WHERE visit = 2`:                                     "O'Neil \\ \"x\"",
		`SELECT size FROM pages WHERE visit = 2`:                                       fmt.Sprint(1 << 40),
		`SELECT COUNT(*) FROM pages WHERE "text" IS NULL AND ip IS NULL`:               "2",
		`SELECT COUNT(*) FROM pages WHERE fetched_at > '2026-01-02T02:04:05.600Z'`:     "2",
		`SELECT COUNT(*) FROM pages WHERE fetched_at > '2026-01-02T02:04:05.700Z'`:     "0",
		`SELECT COUNT(*) FROM pages WHERE url_md5 = '` + sink.URLKey(first.URL) + `'`:  "2",
		`SELECT version FROM octopus_schema WHERE name = 'pages'`:                      "1",
		`SELECT REPLACE(CAST(links AS CHAR(99)), ' ', '') FROM pages WHERE visit = 2`:  "[]",
		`SELECT COUNT(*) FROM pages WHERE CAST(links AS CHAR(99)) LIKE '%x.example/%'`: "1",
	} {
		if d.quote == "`" { // MariaDB knows no time zones
			query = mariaTime.ReplaceAllString(query, "'$1 $2'")
		}
		if got := d.strings(t, query); len(got) != 1 || strings.TrimSpace(got[0]) != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

var mariaTime = regexp.MustCompile(`'([0-9-]+)T([0-9:.]+)Z'`)

// testMigration opens a table that an older octopus made: rows stay, columns
// come. A newer table, and a stranger's, are refused.
func testMigration(t *testing.T, d database) {
	write(t, newSink(t, d.url), sinktest.Records(0, 3)...)
	d.exec(t, `ALTER TABLE pages DROP COLUMN "text"`)
	d.exec(t, `ALTER TABLE pages DROP COLUMN links`)
	s := newSink(t, d.url)
	write(t, s, sinktest.Records(2, 5)...)
	if got := strings.Join(d.strings(t, `SELECT CASE WHEN links IS NULL THEN 'old' ELSE 'new' END FROM pages ORDER BY url`), " "); got != "old old new new new" {
		t.Errorf("rows after the migration: %s", got)
	}
	// A server that comes back with an empty database gets the table again,
	// after the write that failed.
	d.exec(t, `DROP TABLE IF EXISTS pages`)
	d.exec(t, `DELETE FROM octopus_schema`)
	if err := s.Write(t.Context(), sinktest.Records(0, 1)); err == nil {
		t.Error("a write to a table that is gone succeeded")
	}
	write(t, s, sinktest.Records(0, 1)...)

	d.exec(t, `UPDATE octopus_schema SET version = 99`)
	d.exec(t, `CREATE TABLE theirs (id INTEGER)`)
	for address, want := range map[string]string{
		d.url:                       "version 99, from a newer octopus",
		with(d.url, "table=theirs"): "octopus did not make it",
	} {
		if err := newSink(t, address).Resume(nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q, want %q", err, want)
		}
	}
}

// testTwoWriters lets two processes make the table and write the same records.
func testTwoWriters(t *testing.T, d database) {
	done := make(chan error, 2)
	for range 2 {
		s := newSink(t, d.url)
		go func() {
			var err error
			for range 20 { // as the outbox does
				if err = s.Write(context.Background(), sinktest.Records(0, 300)); err == nil {
					break
				}
			}
			done <- err
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := len(d.names(t, "pages")); n != 300 {
		t.Errorf("%d rows, want 300", n)
	}
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"sqlite:":                            "names no file",
		"sqlite:a?tabel=x":                   "tabel",
		"sqlite:a?table=x;y":                 "names no file",
		"sqlite:a?table=x-y":                 `table "x-y"`,
		"postgres://u:geheim@h":              "names no database",
		"postgres://u:geheim%zz@h/d":         "is no URL",
		"postgres://u:geheim@h:x/d":          "is no URL",
		"postgres://u:geheim@h/d?sslmode=no": "sslmode",
		"mysql://u:geheim@h/d?loc=Mars":      "Mars",
		"oracle://u:geheim@h/d":              `"oracle" is not known`,
	} {
		s, err := sqlsink.New(address, sqlsink.Options{})
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
	for address, want := range map[string]string{
		"postgres://u:geheim@h:5432/d?sslmode=disable":    "postgres://u@h:5432/d",
		"mysql://u:geheim@h/d?table=a.b&tls=true":         "mysql://u@h/d?table=a.b",
		"mariadb://u@h/d?socket=/run/mysqld/mysqld.sock":  "mariadb://u@h/d",
		"postgresql:///d?host=/run/postgresql&user=crawl": "postgresql:///d",
	} {
		if got := newSink(t, address).Name(); got != want {
			t.Errorf("%s is named %s, want %s", address, got, want)
		}
	}
}

// TestHungServer writes to a server that keeps its connections and answers
// nothing: the write ends, and succeeds once the server goes on.
func TestHungServer(t *testing.T) {
	s := servers.Postgres(t)
	out, err := sqlsink.New(s.URL, sqlsink.Options{Timeout: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	s.Pause() // new connections are not taken
	if err := out.Write(t.Context(), sinktest.Records(0, 5)); err == nil || !strings.Contains(err.Error(), "no answer within 300ms") {
		t.Errorf("a server that hangs: %v", err)
	}
	s.Resume()
	servers.Await(t, func() error { return out.Write(t.Context(), sinktest.Records(0, 5)) })
}
