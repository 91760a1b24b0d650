package main

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"octopus/internal/servers"
)

// rowsOf returns "url visit status" of all rows of the table pages.
func rowsOf(t *testing.T, driver, dsn string) []string {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT url, visit, status FROM pages ORDER BY url, visit")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var url string
		var visit, status int
		if err := rows.Scan(&url, &visit, &status); err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprint(url, " ", visit, " ", status))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestOutputSQLite crawls into a database in a file, beside a file of lines:
// both have the same visits, also after a second crawl from the start.
func TestOutputSQLite(t *testing.T) {
	s, c := newSite(t), newCLI(t)
	for range 2 {
		s.crawl(c, "--fresh", "-o", "sqlite:a.db", "-o", "b.sqlite?table=pages", "-o", "c.jsonl").want(exitOK)
	}
	a, b := rowsOf(t, "sqlite", "a.db"), rowsOf(t, "sqlite", "b.sqlite")
	lines := records(t, "c.jsonl")
	if len(a) != len(lines)/2 || strings.Join(a, "\n") != strings.Join(b, "\n") {
		t.Errorf("%d and %d rows, want %d", len(a), len(b), len(lines)/2)
	}
}

// TestOutputsShowNoPassword looks for a password in all that is printed.
func TestOutputsShowNoPassword(t *testing.T) {
	s, c := newSite(t), newCLI(t)
	for _, output := range []string{
		"postgres://me:geheim@127.0.0.1:1/db", "mysql://me:geheim@127.0.0.1:1/db", "mariadb://me:geheim/x@127.0.0.1:1/db",
		"postgres://me:geheim%zz@127.0.0.1:1/db", "postgres://me:geheim@127.0.0.1:1/db?sslmode=maybe", "oracle://me:geheim@127.0.0.1:1/db",
	} {
		for _, run := range []func(){func() { c.run("config", "show", "-o", output) }, func() { s.crawl(c, "-o", output) }} {
			run()
			if all := c.stdout + c.err; strings.Contains(all, "geheim") {
				t.Errorf("-o %s: %s", output, all)
			}
		}
	}
	s.crawl(c, "-o", "postgres://me:geheim@127.0.0.1:1/db").want(exitBackend, "postgres://me@127.0.0.1:1/db: the database cannot be used")
}

// TestPasswordFile takes the password from a file, and meets a wrong one.
func TestPasswordFile(t *testing.T) {
	s, c, server := newSite(t), newCLI(t), servers.Postgres(t)
	address := "postgres://octopus@" + server.Addr + "/postgres?passwordFile=secret"
	c.file("secret", "wrong\n")
	s.crawl(c, "-o", address).want(exitBackend, "password authentication failed")
	c.file("secret", servers.Password+"\n")
	s.crawl(c, "-o", address).want(exitOK)
	if rows := rowsOf(t, "pgx", server.URL); len(rows) < sitePages {
		t.Errorf("%d rows", len(rows))
	}
}

// TestKillDatabase kills the database server twice during a crawl and starts it
// again: the table has each visit once, the same as a file beside it.
func TestKillDatabase(t *testing.T) {
	for name, start := range map[string]func(testing.TB) *servers.SQLServer{"PostgreSQL": servers.Postgres, "MariaDB": servers.MariaDB} {
		t.Run(name, func(t *testing.T) {
			s, c, server := newSite(t), newCLI(t), start(t)
			var mu sync.Mutex // one request at a time works on the server
			s.hook = func(path string) {
				mu.Lock()
				defer mu.Unlock()
				switch path {
				case "/2", "/10":
					server.Kill()
				case "/7", "/15":
					server.Start()
				}
			}
			s.crawl(c, "-c", "1", "-o", server.URL, "-o", "beside.jsonl").want(exitOK)
			driver, dsn := "pgx", server.URL
			if name == "MariaDB" {
				driver, dsn = "mysql", fmt.Sprintf("octopus:%s@tcp(%s)/octopus", servers.Password, server.Addr)
			}
			var want []string
			for _, r := range records(t, "beside.jsonl") {
				want = append(want, fmt.Sprint(r.URL, " ", r.Visit, " ", r.Status))
			}
			got := rowsOf(t, driver, dsn)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("table:\n%s\nfile:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if !strings.Contains(c.err, "output failed, trying again") {
				t.Errorf("nothing is said about the database:\n%s", c.err)
			}
		})
	}
}
