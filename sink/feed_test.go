package sink_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"octopus"
	"octopus/sink"
)

// article returns the n-th article of a board, published in the n-th minute.
func article(board string, n int) octopus.Record {
	at := time.Date(2026, 1, 2, 0, n, 0, 0, time.UTC)
	return octopus.Record{URL: fmt.Sprintf("https://%s.example/%d", board, n), Visit: 1, Status: 200, Kind: "data", Board: board,
		Title: fmt.Sprintf("Article <%d> & \x01", n), Author: "A. Uthor", Published: at.Format(time.RFC3339), FetchedAt: at.Add(time.Hour)}
}

type jsonFeed struct {
	Version, Title string
	Items          []struct {
		ID      string    `json:"id"`
		Title   string    `json:"title"`
		Content string    `json:"content_text"`
		Time    time.Time `json:"date_published"`
	}
}

type atomFeed struct {
	XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string   `xml:"id"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"`
	Entries []struct {
		ID      string `xml:"id"`
		Title   string `xml:"title"`
		Updated string `xml:"updated"`
		Link    struct {
			Href string `xml:"href,attr"`
		} `xml:"link"`
	} `xml:"entry"`
}

func readFeeds(t *testing.T, path string) (j jsonFeed, a atomFeed) {
	t.Helper()
	text, err := os.ReadFile(path + ".feed.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &j); err != nil {
		t.Fatal(err)
	}
	if text, err = os.ReadFile(path + ".atom.xml"); err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(text, &a); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return j, a
}

// TestFeed finds the newest articles of each board in its feeds, once, also
// when a new process goes on and records come again.
func TestFeed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "feeds")
	write := func(recs ...octopus.Record) {
		t.Helper()
		if err := sink.NewFeed(dir).Write(t.Context(), recs); err != nil {
			t.Fatal(err)
		}
	}
	var all []octopus.Record
	for n := range 2 * sink.FeedItems {
		all = append(all, article("news", n))
	}
	write(all[50:150]...)
	write(all[100:]...)
	write(all[:120]...)
	nav, gone, copied, other := article("news", 990), article("news", 991), article("news", 992), article("../x y", 3)
	nav.Kind, gone.Status, copied.DuplicateOf = "nav", 404, "https://news.example/1"
	write(nav, gone, copied, other)

	j, a := readFeeds(t, filepath.Join(dir, "news"))
	if j.Version != "https://jsonfeed.org/version/1.1" || j.Title != "news" || a.Title != "news" || len(j.Items) != sink.FeedItems || len(a.Entries) != sink.FeedItems {
		t.Fatalf("%s: %d items, %d entries", j.Title, len(j.Items), len(a.Entries))
	}
	for i := range sink.FeedItems {
		want := all[len(all)-1-i]
		if it, e := j.Items[i], a.Entries[i]; it.ID != want.URL || e.ID != want.URL || e.Link.Href != want.URL || it.Time.Format(time.RFC3339) != want.Published || e.Updated != want.Published {
			t.Fatalf("item %d: %+v, %+v, want %s", i, it, e, want.URL)
		}
	}
	if a.Updated != all[len(all)-1].Published || a.Entries[0].Title != "Article <199> & \uFFFD" {
		t.Errorf("feed of %s: %+v", a.Updated, a.Entries[0])
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) != 4 {
		t.Errorf("files: %q", files)
	}
}

// TestFeedDates knows when an article appeared.
func TestFeedDates(t *testing.T) {
	dir := t.TempDir()
	undated, future, again, second := article("b", 1), article("b", 2), article("b", 3), article("b", 4)
	undated.Published, again.Published, second.Published = "", "yesterday", ""
	future.Published = "2099-01-01"
	second.Visit = 2
	s := sink.NewFeed(dir)
	if err := s.Write(t.Context(), []octopus.Record{undated, future, again, second}); err != nil {
		t.Fatal(err)
	}
	again.Visit, again.FetchedAt, again.Title = 2, again.FetchedAt.Add(24*time.Hour), "corrected"
	if err := s.Write(t.Context(), []octopus.Record{again}); err != nil {
		t.Fatal(err)
	}
	j, _ := readFeeds(t, filepath.Join(dir, "b"))
	var got string
	for _, i := range j.Items {
		got += fmt.Sprintln(i.ID, i.Time.Format("02 15:04"), i.Title[:7])
	}
	if want := "https://b.example/3 02 01:03 correct\nhttps://b.example/2 02 01:02 Article\nhttps://b.example/1 02 01:01 Article\n"; got != want {
		t.Errorf("feed:\n%swant:\n%s", got, want)
	}
	if err := os.WriteFile(filepath.Join(dir, "b.feed.json"), []byte("<html>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sink.NewFeed(dir).Write(t.Context(), []octopus.Record{undated}); err == nil {
		t.Error("a file that is no feed was overwritten")
	}
}
