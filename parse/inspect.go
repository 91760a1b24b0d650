package parse

import (
	"fmt"

	"octopus"
	"octopus/canon"
	"octopus/parse/charset"
	"octopus/parse/classify"
)

// Inspection is everything the package can tell about one HTML page.
type Inspection struct {
	Charset     string   `json:"charset"`
	Kind        string   `json:"kind"`
	Reason      string   `json:"reason"` // why it is of that kind
	Title       string   `json:"title"`
	Author      string   `json:"author"`
	Date        string   `json:"date"` // YYYY-MM-DD, empty where unknown
	Description string   `json:"description"`
	Abstract    string   `json:"abstract"` // first sentences of the text
	Image       string   `json:"image"`
	Tags        []string `json:"tags"`
	Language    string   `json:"language"`
	Text        string   `json:"text"`
	Markdown    string   `json:"markdown"`
	Canonical   string   `json:"canonical"`
	Links       []string `json:"links"`
	Robots      []string `json:"robots"`

	// Sources says where title, author, date and so on come from.
	Sources map[string]string `json:"sources"`

	// Fingerprint is that of all text the page shows, as in Record.
	Fingerprint octopus.Fingerprint `json:"fingerprint"`
}

// Inspect tells everything about an HTML page given as raw bytes, its URL (may
// be empty: relative links are then left out) and its Content-Type header (may
// be empty). The error says what is wrong with the URL; the inspection is
// usable all the same.
func (p *Parser) Inspect(body []byte, url, contentType string) (*Inspection, error) {
	var u octopus.URL
	var err error
	if url != "" {
		if u, err = canon.Parse(url); err != nil {
			err = fmt.Errorf("inspect: %w", err)
		}
	}
	text, name := charset.ToUTF8(body, contentType)
	w := p.works.Get().(*work)
	defer p.release(w)
	w.page.Scan(text)

	rec := &octopus.Record{URL: u.Text}
	in := &Inspection{Charset: name, Robots: []string{}, Tags: []string{}}
	kind := classify.Page(&w.page, u.Text)
	in.Kind, in.Reason = kind.Kind, kind.Reason()
	w.locate(u)
	p.metadata(w, rec)
	in.Links = texts(p.links(w, &octopus.Link{URL: u}, nil))
	res := p.extract(rec, text, true)
	in.Title, in.Author, in.Date, in.Description = rec.Title, rec.Author, res.Date, rec.Description
	in.Language, in.Text, in.Markdown, in.Canonical = rec.Language, rec.Text, rec.Markdown, rec.Canonical
	in.Abstract, in.Image, in.Sources = res.Abstract, res.Image, res.Sources
	in.Tags = append(in.Tags, res.Tags...)
	in.Fingerprint = w.fingerprint()
	if rec.Robots != nil {
		in.Robots = rec.Robots
	}
	return in, err
}
