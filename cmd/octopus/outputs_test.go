package main

import (
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/parquet-go/parquet-go"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	_ "modernc.org/sqlite"

	"octopus/internal/servers"
	"octopus/sink"
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
		"mongodb://me:geheim@127.0.0.1:1/db?serverSelectionTimeoutMS=50", "mongodb://me:gehe%im@127.0.0.1:1/db", "postgres://me:geheim%zz@127.0.0.1:1/db", "postgres://me:geheim@127.0.0.1:1/db?sslmode=maybe", "oracle://me:geheim@127.0.0.1:1/db",
	} {
		for _, run := range []func(){func() { c.run("config", "show", "-o", output) }, func() { s.crawl(c, "-o", output) }} {
			run()
			if all := c.stdout + c.err; strings.Contains(all, "gehe") {
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

// TestOutputForms crawls into files and folders of every form at once.
func TestOutputForms(t *testing.T) {
	s, c := newSite(t), newCLI(t)
	s.crawl(c, "-o", "a.jsonl", "-o", "a.csv", "-o", "a.parquet", "-o", "md:pages", "-o", "feed:feeds", "-o", "csv:b").want(exitOK)
	if sum := summaryOf(t, c.stdout); len(sum.Out) != 6 || sum.Out[1].Bytes == 0 || sum.Out[5].Bytes != sum.Out[1].Bytes {
		t.Errorf("the summary tells of %+v", sum.Out)
	}
	n := len(records(t, "a.jsonl"))
	f, err := os.Open("a.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if rows, err := csv.NewReader(f).ReadAll(); err != nil || len(rows) != n+1 {
		t.Errorf("a.csv: %d lines, %v, want %d", len(rows), err, n+1)
	}
	rows, err := parquet.ReadFile[struct {
		Text *string `parquet:"text,optional"`
	}]("a.parquet/part-00000001.parquet")
	texts := 0
	for _, r := range rows {
		if r.Text != nil {
			texts++
		}
	}
	if err != nil || len(rows) != n || texts == 0 {
		t.Errorf("a.parquet: %d rows, %d with text, %v, want %d rows", len(rows), texts, err, n)
	}
	pages := 0
	err = filepath.WalkDir("pages", func(_ string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(d.Name(), ".md") {
			pages++
		}
		return err
	})
	if err != nil || pages == 0 {
		t.Errorf("md:pages has %d files, %v", pages, err)
	}
	// Whoever does not want the text of pages need not wait for it.
	s.crawl(c, "--fresh", "--extract", "none", "-o", "none.sqlite").want(exitOK)
	s.crawl(c, "--fresh", "-o", "some.sqlite").want(exitOK)
	for file, want := range map[string]bool{"none.sqlite": false, "some.sqlite": true} {
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var got int
		if err := db.QueryRow("SELECT COUNT(text) FROM pages").Scan(&got); err != nil || got > 0 != want {
			t.Errorf("%s: %d texts, %v", file, got, err)
		}
	}
	c.run("crawl", s.URL, "-o", "crawl.wacz").want(exitUsage, "octopus export")
	c.run("crawl", s.URL, "--extract", "all").want(exitUsage, "use auto, none, text, markdown or both")
}

// TestFeedOfBoard crawls a board with article patterns into a feed.
func TestFeedOfBoard(t *testing.T) {
	s, c := newSite(t), newCLI(t)
	c.file("octopus.toml", fmt.Sprintf("output = [\"feed:feeds\"]\n[fetcher]\nhostDelay = \"0s\"\nallowNet = [\"127.0.0.0/8\"]\n[[board]]\nname = \"News\"\ndepth = 9\nentry = [\"%s/\"]\narticle = ['/1[0-9]$']\n", s.URL))
	c.run("crawl", "-q").want(exitOK)
	text, err := os.ReadFile("feeds/news-" + sink.URLKey("News")[:10] + ".feed.json")
	if err != nil {
		t.Fatal(err)
	}
	var feed struct {
		Title string
		Items []struct{ URL, Title string }
	}
	if err := json.Unmarshal(text, &feed); err != nil || feed.Title != "News" || len(feed.Items) != 10 || feed.Items[0].Title == "" {
		t.Errorf("%v: %s", err, text)
	}
}

// TestOutputMongoDB crawls into MongoDB beside a file of lines, twice.
func TestOutputMongoDB(t *testing.T) {
	s, c, server := newSite(t), newCLI(t), servers.MongoDB(t)
	client, err := mongo.Connect(options.Client().ApplyURI(server.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(t.Context())
	for range 2 {
		s.crawl(c, "--fresh", "-o", server.URL+"?table=news", "-o", "a.jsonl").want(exitOK)
	}
	n, err := client.Database("octopus").Collection("news").CountDocuments(t.Context(), bson.D{})
	if lines := len(records(t, "a.jsonl")); err != nil || n != int64(lines/2) {
		t.Errorf("%d documents, %v, want %d", n, err, lines/2)
	}
}
