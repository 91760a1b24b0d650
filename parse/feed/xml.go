package feed

import (
	"encoding/xml"
	"io"
	"strings"
)

// reader walks through the XML of one list.
type reader struct {
	list *List
	d    *xml.Decoder

	path  []string // local names of the open elements
	entry Entry    // of the item being read
	guid  string   // RSS: used where an item has no link
	text  []byte   // of the element being read
	take  bool     // whether text is wanted
	perma bool     // the guid being read may be a link
}

// maxText bounds the text of one element that is kept.
const maxText = 16 << 10

func (r *reader) run() {
	r.d.Strict = false
	r.d.Entity = xml.HTMLEntity
	// The text is UTF-8 already, whatever the prolog says.
	r.d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	for {
		// RawToken keeps no stack of its own and looks up no name spaces.
		tok, err := r.d.RawToken()
		if err != nil {
			r.list.Cut = r.list.Cut || err != io.EOF || len(r.path) > 0
			return
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if len(r.path) >= MaxDepth {
				r.list.Cut = true
				return
			}
			r.start(t)
		case xml.EndElement:
			if !r.end() {
				return
			}
		case xml.CharData:
			if r.take && len(r.text)+len(t) <= maxText {
				r.text = append(r.text, t...)
			}
		}
	}
}

// isItem reports whether an element is one entry of the list.
func (r *reader) isItem(name string) bool {
	switch r.list.Kind {
	case Sitemap:
		return name == "url"
	case Index:
		return name == "sitemap"
	case Atom:
		return name == "entry"
	}
	return name == "item"
}

// inItem reports whether the innermost open element is an entry.
func (r *reader) inItem() bool { return len(r.path) > 0 && r.isItem(r.path[len(r.path)-1]) }

func (r *reader) start(t xml.StartElement) {
	name := t.Name.Local
	switch {
	case r.isItem(name):
		r.entry, r.guid = Entry{}, ""
	case r.inItem() && foreignPrefix(t.Name.Space):
		r.entry.News = r.entry.News || t.Name.Space == "news" && name == "news"
		name = "" // image:loc, media:link and the like
	case t.Name.Space == "news" && name == newsDate:
		r.take, r.text = true, r.text[:0]
	case r.inItem():
		r.take, r.text = wanted(name), r.text[:0]
		if r.list.Kind == Atom && name == "link" {
			r.atomLink(t.Attr)
		}
		if name == "guid" {
			r.perma = !strings.EqualFold(attr(t.Attr, "isPermaLink"), "false")
		}
	}
	r.path = append(r.path, name)
}

// foreignPrefix tells the extensions' elements from the list's own, which some
// generators prefix too.
func foreignPrefix(prefix string) bool {
	switch prefix {
	case "image", "video", "news", "media", "xhtml", "atom", "atom10", "itunes", "feedburner", "thr", "wfw", "slash":
		return true
	}
	return false
}

// newsDate is the element of a news sitemap that dates an article; it lies one
// element deeper than the rest of an entry.
const newsDate = "publication_date"

func wanted(name string) bool {
	switch name {
	case "loc", "lastmod", "link", "guid", "pubDate", "date", "updated", "published":
		return true
	}
	return false
}

func (r *reader) atomLink(attrs []xml.Attr) {
	rel := attr(attrs, "rel")
	if r.entry.URL == "" && (rel == "" || rel == "alternate") {
		r.entry.URL = attr(attrs, "href")
	}
}

func attr(attrs []xml.Attr, name string) string {
	for _, a := range attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// end closes an element; it returns false when the list is full.
func (r *reader) end() bool {
	if len(r.path) == 0 {
		return true // a stray end tag
	}
	name := r.path[len(r.path)-1]
	r.path = r.path[:len(r.path)-1]
	if r.isItem(name) {
		if r.entry.URL == "" {
			r.entry.URL = r.guid
		}
		return r.list.add(r.entry)
	}
	if r.take && (r.inItem() || name == newsDate) {
		r.field(name, strings.TrimSpace(string(r.text)))
		r.take = false
	}
	return true
}

func (r *reader) field(name, value string) {
	switch name {
	case "loc", "link":
		if r.entry.URL == "" {
			r.entry.URL = value
		}
	case "guid":
		if r.perma && (strings.HasPrefix(value, "http://") || strings.HasPrefix(value, "https://")) {
			r.guid = value
		}
	case "updated", "lastmod", "pubDate", "date":
		r.entry.Modified = value
	case "published", newsDate:
		if r.entry.Modified == "" {
			r.entry.Modified = value
		}
	}
}
