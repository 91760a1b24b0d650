package feed

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"io"
	"strings"
	"unicode/utf8"
)

// Limits of one list. 50,000 URLs and 50 MiB are the sitemap protocol's own.
const (
	MaxEntries = 50_000
	MaxBytes   = 50 << 20
	MaxDepth   = 32 // of nested elements
	maxURL     = 8192
)

// Kind tells what a list is.
type Kind uint8

const (
	None    Kind = iota // no list
	Sitemap             // urlset, or lines of URLs
	Index               // sitemapindex: its entries are sitemaps
	RSS
	Atom
	JSON
)

var kindNames = [...]string{"none", "sitemap", "sitemap-index", "rss", "atom", "json-feed"}

// String returns the kind's name in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "none"
}

// Entry is one URL of a list.
type Entry struct {
	URL      string // as written, may be relative
	Modified string // lastmod, pubDate, updated or a news sitemap's date, as written; empty where absent
	News     bool   // a sitemap calls it news
}

// List is what Read found.
type List struct {
	Kind    Kind
	Entries []Entry
	Cut     bool // a limit was reached or the list is faulty: there may be more
}

// Look tells from the first bytes whether body, in UTF-8, is a list. It costs
// next to nothing, so that every page can be asked.
func Look(body []byte) Kind {
	body = bytes.TrimLeft(body[:min(len(body), 4096)], "\uFEFF \t\r\n")
	if bytes.HasPrefix(body, []byte("{")) && bytes.Contains(body, []byte("jsonfeed.org/version/")) {
		return JSON
	}
	switch root(body) {
	case "urlset":
		return Sitemap
	case "sitemapindex":
		return Index
	case "rss", "RDF":
		return RSS
	case "feed":
		return Atom
	}
	return None
}

// root returns the local name of the first element of an XML text, or "".
func root(p []byte) string {
	for {
		p = bytes.TrimLeft(p, " \t\r\n")
		if len(p) < 2 || p[0] != '<' {
			return ""
		}
		end := ">"
		switch {
		case bytes.HasPrefix(p, []byte("<!--")):
			end = "-->"
		case p[1] == '?', p[1] == '!':
		default:
			n := bytes.IndexAny(p, " \t\r\n/>")
			if n < 0 {
				return ""
			}
			name := string(p[1:n])
			return name[strings.IndexByte(name, ':')+1:]
		}
		_, rest, ok := bytes.Cut(p, []byte(end))
		if !ok {
			return ""
		}
		p = rest
	}
}

// Read reads the list in body, which is in UTF-8. Where it is none, the Kind is
// None.
func Read(body []byte) List {
	l := List{Kind: Look(body)}
	if len(body) > MaxBytes {
		body, l.Cut = body[:MaxBytes], true
	}
	switch l.Kind {
	case None:
	case JSON:
		l.readJSON(body)
	default:
		r := reader{list: &l, d: xml.NewDecoder(bytes.NewReader(body))}
		r.run()
	}
	return l
}

// Lines reads a plain-text sitemap: one absolute URL per line.
func Lines(body []byte) List {
	l := List{Kind: Sitemap}
	for line := range bytes.Lines(body[:min(len(body), MaxBytes)]) {
		line = bytes.TrimSpace(line)
		if bytes.HasPrefix(line, []byte("http://")) || bytes.HasPrefix(line, []byte("https://")) {
			l.add(Entry{URL: string(line[:min(len(line), maxURL+1)])})
		}
	}
	return l
}

// Gunzip unpacks a compressed sitemap: body itself where it is not gzip, and
// at most MaxBytes; what a fault cuts off is lost.
func Gunzip(body []byte) []byte {
	if !bytes.HasPrefix(body, []byte("\x1F\x8B\x08")) {
		return body
	}
	zr, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return body
	}
	out, _ := io.ReadAll(io.LimitReader(zr, MaxBytes)) // what came before a fault is of use
	return out
}

// add appends an entry within the limits and reports whether there is room for
// another.
func (l *List) add(e Entry) bool {
	e.URL = strings.TrimSpace(e.URL)
	if e.URL == "" || len(e.URL) > maxURL || !utf8.ValidString(e.URL) {
		return true
	}
	if len(l.Entries) >= MaxEntries {
		l.Cut = true
		return false
	}
	e.Modified = strings.TrimSpace(e.Modified)
	l.Entries = append(l.Entries, e)
	return true
}

func (l *List) readJSON(body []byte) {
	var doc struct {
		Items []struct {
			URL       string `json:"url"`
			Published string `json:"date_published"`
			Modified  string `json:"date_modified"`
		} `json:"items"`
	}
	if json.Unmarshal(body, &doc) != nil {
		l.Cut = true
		return
	}
	for _, it := range doc.Items {
		e := Entry{URL: it.URL, Modified: it.Modified}
		if e.Modified == "" {
			e.Modified = it.Published
		}
		if !l.add(e) {
			return
		}
	}
}
