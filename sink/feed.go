package sink

import (
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"octopus"
	"octopus/internal/durable"
)

// FeedItems is the number of articles a feed holds: the newest ones.
const FeedItems = 100

// Feed is a Sink that keeps a feed of the newest articles of each board in a
// folder: BOARD.atom.xml (RFC 4287) and BOARD.feed.json (JSON Feed 1.1). An
// article is there once, by its URL. Each file is replaced as a whole, the JSON
// last: it is what a later run begins with.
type Feed struct {
	dir    string
	fs     durable.FS
	boards map[string]*feed // by name; at most FeedItems short items each
}

// NewFeed returns the sink of a folder, which is made where it is missing.
func NewFeed(dir string) *Feed {
	return &Feed{dir: dir, fs: durable.Disk(), boards: map[string]*feed{}}
}

// feed is a JSON Feed.
type feed struct {
	Version     string     `json:"version"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Items       []feedItem `json:"items"` // newest first

	file string // without suffix
}

// feedItem is an article in a feed.
type feedItem struct {
	ID       string       `json:"id"` // the URL
	URL      string       `json:"url"`
	Title    string       `json:"title"`
	Content  string       `json:"content_text"`
	Time     time.Time    `json:"date_published"`
	Authors  []feedAuthor `json:"authors,omitempty"`
	Language string       `json:"language,omitempty"`
	Image    string       `json:"image,omitempty"`
	Tags     []string     `json:"tags,omitempty"`
}

type feedAuthor struct {
	Name string `json:"name" xml:"name"`
}

// Resume implements Resumer. It makes the folder, so that one that cannot be made
// is told before anything is fetched.
func (s *Feed) Resume(json.RawMessage) error { return durable.MkdirAll(s.fs, s.dir) }

// State implements Resumer: there is nothing to remember.
func (s *Feed) State() json.RawMessage { return nil }

// Write implements Sink.
func (s *Feed) Write(_ context.Context, recs []octopus.Record) error {
	changed := map[*feed]bool{}
	for i := range recs {
		r := &recs[i]
		if r.Kind != "data" || r.Status/100 != 2 || r.Error != "" || r.Skip != "" || r.DuplicateOf != "" {
			continue
		}
		f, err := s.board(r.Board)
		if err != nil {
			return err
		}
		if f.add(r) {
			changed[f] = true
		}
	}
	for f := range changed {
		if err := s.save(f); err != nil {
			clear(s.boards) // what was added comes again
			return err
		}
	}
	return nil
}

// Close implements Sink.
func (s *Feed) Close() error { return nil }

// board returns the feed of a board, read from its file at first.
func (s *Feed) board(name string) (*feed, error) {
	if f := s.boards[name]; f != nil {
		return f, nil
	}
	file, same := fileName(name)
	if !same {
		file += "-" + URLKey(name)[:10]
	}
	f := &feed{Version: "https://jsonfeed.org/version/1.1", Title: name, Description: "The newest articles of " + name + ", as octopus found them"}
	path := filepath.Join(s.dir, file)
	text, err := os.ReadFile(path + ".feed.json")
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		if err := json.Unmarshal(text, f); err != nil {
			return nil, fmt.Errorf("%s.feed.json is no feed: %w; move it away", path, err)
		}
	}
	f.file = path
	s.boards[name] = f
	return f, nil
}

// add puts an article into its place; it tells whether the feed changed.
func (f *feed) add(r *octopus.Record) bool {
	at := slices.IndexFunc(f.Items, func(i feedItem) bool { return i.ID == r.URL })
	published, known := published(r)
	if at < 0 && !known && r.Visit > 1 {
		return false // an old article without a date, met again
	}
	item := newItem(r, published)
	if at >= 0 {
		if !known {
			item.Time = f.Items[at].Time
		}
		f.Items = slices.Delete(f.Items, at, at+1)
	}
	f.Items = append(f.Items, item)
	slices.SortStableFunc(f.Items, func(a, b feedItem) int {
		return cmp.Or(b.Time.Compare(a.Time), strings.Compare(a.ID, b.ID))
	})
	f.Items = f.Items[:min(len(f.Items), FeedItems)]
	return slices.ContainsFunc(f.Items, func(i feedItem) bool { return i.ID == r.URL })
}

// summaryBytes bounds the text of an item.
const summaryBytes = 500

func newItem(r *octopus.Record, at time.Time) feedItem {
	item := feedItem{ID: r.URL, URL: r.URL, Title: cmp.Or(r.Title, r.URL), Time: at, Language: r.Language, Image: r.Image, Tags: r.Tags}
	var cut bool
	if item.Content, cut = portable(cmp.Or(r.Abstract, r.Description, r.Text, r.Title), summaryBytes); cut {
		item.Content += "…"
	}
	if r.Author != "" {
		item.Authors = []feedAuthor{{r.Author}}
	}
	return item
}

// published is when an article appeared: what the page says, but not after it
// was fetched; without that, when it was fetched, and known is false.
func published(r *octopus.Record) (at time.Time, known bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02"} {
		if t, err := time.Parse(layout, r.Published); err == nil && t.Before(r.FetchedAt) {
			return t.UTC(), true
		}
	}
	return r.FetchedAt.UTC(), false
}

// save writes both files.
func (s *Feed) save(f *feed) error {
	if err := durable.MkdirAll(s.fs, s.dir); err != nil {
		return err
	}
	if err := durable.WriteFile(s.fs, f.file+".atom.xml", f.atom); err != nil {
		return err
	}
	return durable.WriteFile(s.fs, f.file+".feed.json", func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		return enc.Encode(f)
	})
}

// atom writes the feed as Atom.
func (f *feed) atom(w io.Writer) error {
	type link struct {
		Href string `xml:"href,attr"`
	}
	type entry struct {
		ID        string       `xml:"id"`
		Title     string       `xml:"title"`
		Link      link         `xml:"link"`
		Published string       `xml:"published"`
		Updated   string       `xml:"updated"`
		Authors   []feedAuthor `xml:"author"`
		Summary   string       `xml:"summary"`
	}
	doc := struct {
		XMLName xml.Name   `xml:"http://www.w3.org/2005/Atom feed"`
		ID      string     `xml:"id"`
		Title   string     `xml:"title"`
		Updated string     `xml:"updated"`
		Author  feedAuthor `xml:"author"`
		Entries []entry    `xml:"entry"`
	}{ID: "urn:octopus:board:" + URLKey(f.Title), Title: f.Title, Author: feedAuthor{"octopus"}}
	for _, i := range f.Items {
		at := i.Time.Format(time.RFC3339)
		doc.Updated = cmp.Or(doc.Updated, at)
		doc.Entries = append(doc.Entries, entry{i.ID, i.Title, link{i.URL}, at, at, i.Authors, i.Content})
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", " ")
	return enc.Encode(doc)
}
