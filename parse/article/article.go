package article

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/net/html"

	"octopus/parse/classify"
	"octopus/parse/scan"
)

// Options of one extraction. The zero value takes the text of a page whose URL
// is not known.
type Options struct {
	// URL of the page; it resolves relative links and may hold a date. May be
	// empty.
	URL string

	// Markdown asks for Result.Markdown.
	Markdown bool

	// MaxTree is the size of a page in bytes over which no tree is built. 0
	// means 5 MiB.
	MaxTree int
}

// Result is the content of a page. Fields that were not found are empty.
type Result struct {
	Title       string
	Author      string
	Date        string // of publication, YYYY-MM-DD
	Description string // the page's own summary, else the abstract
	Abstract    string // first sentences of the text
	Image       string // as the page names it
	Tags        []string
	Language    string // ISO 639-1
	Text        string // paragraphs, one to a line
	Markdown    string

	// Sources says where title, author, date, description and language come
	// from: "json-ld", "meta", "heading" and so on.
	Sources map[string]string
}

const defaultMaxTree = 5 << 20

// Bounds of a tree, well above the largest of real pages (12,854 nodes, 213,312
// in sum of their depths). The library's time grows with the second: 160,000
// paragraphs below 490 unclosed elements cost it minutes.
const (
	maxMarkup = 200_000   // "<" in the page, before a tree is built
	maxNodes  = 50_000    // nodes of the tree
	maxDepths = 2_000_000 // sum of the depths of all nodes
)

// Extract reads a page in UTF-8. It always has an answer: where no article can
// be told apart, the text is all that a reader would see.
func Extract(page []byte, opt Options) Result {
	if opt.MaxTree == 0 {
		opt.MaxTree = defaultMaxTree
	}
	doc, err := parse(page, opt.MaxTree)
	if err != nil {
		res := Result{Text: Plain(page), Sources: map[string]string{}}
		if opt.Markdown {
			res.Markdown = res.Text
		}
		return res
	}
	res := extract(doc, page, opt)
	if res.Text == "" {
		res.Text = Plain(page)
	}
	if res.Markdown == "" && opt.Markdown {
		res.Markdown = res.Text
	}
	return res
}

// parse builds the tree, within the limits.
func parse(page []byte, limit int) (*html.Node, error) {
	if len(page) > limit {
		return nil, fmt.Errorf("article: page of %d bytes is over the limit of %d", len(page), limit)
	}
	if n := bytes.Count(page, []byte("<")); n > maxMarkup {
		return nil, fmt.Errorf("article: page with %d tags is over the limit of %d", n, maxMarkup)
	}
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return nil, err // nested deeper than the library allows
	}
	shortenTitle(doc)
	if nodes, depths := measure(doc); nodes > maxNodes || depths > maxDepths {
		return nil, fmt.Errorf("article: tree of %d nodes, depths %d in sum, is over the limits", nodes, depths)
	}
	return doc, nil
}

// shortenTitle cuts a title of absurd length, which the libraries would search
// with one expression after the other.
func shortenTitle(doc *html.Node) {
	for n := range doc.Descendants() {
		if n.Data == "title" && n.FirstChild != nil && len(n.FirstChild.Data) > scan.MaxValue {
			n.FirstChild.Data = strings.ToValidUTF8(n.FirstChild.Data[:scan.MaxValue], "")
		}
	}
}

// measure counts the nodes below n, and their depths in sum.
func measure(n *html.Node) (nodes, depths int) {
	depth := 0
	for c := n; c != nil; {
		nodes++
		depths += depth
		if c.FirstChild != nil {
			c = c.FirstChild
			depth++
			continue
		}
		for c != n && c.NextSibling == nil {
			c = c.Parent
			depth--
		}
		if c == n {
			return nodes, depths
		}
		c = c.NextSibling
	}
	return nodes, depths
}

// extract reads a tree: it asks the two libraries, cuts the tree into blocks,
// and keeps those that the model thinks are content.
func extract(doc *html.Node, page []byte, opt Options) Result {
	u := base(opt.URL)
	var s scan.Page
	s.Scan(page)
	h := head{scan: &s, ld: readLD(s.LD)}
	h.time = timeElement(doc)
	ask := consult(doc, u, h.dated()+h.time != "")
	kind := classify.Page(&s, opt.URL)

	p := cut(doc)
	keep := p.judge(trained, newHints(ask, kind.Score, typesOf(&s, opt.URL)))
	res := Result{Text: p.text(keep)}
	h.opinion, h.page, h.keep = ask, p, keep
	h.describe(&res)
	if opt.Markdown {
		res.Markdown = p.markdown(doc, keep, u)
	}
	return res
}

// Plain returns all text of a page that a reader would see, without a tree: the
// time is linear however the page is nested.
func Plain(page []byte) string {
	z := html.NewTokenizer(bytes.NewReader(page))
	var w writer
	skip := ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			return w.String()
		case html.TextToken:
			if skip == "" {
				w.text(string(z.Text()))
			}
		case html.StartTagToken:
			name, _ := z.TagName()
			if n := string(name); invisible(n) && skip == "" {
				skip = n
			} else if !isInline(n) {
				w.line()
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if n := string(name); n == skip {
				skip = ""
			} else if !isInline(n) {
				w.line()
			}
		}
	}
}

func invisible(name string) bool {
	switch name {
	case "script", "style", "noscript", "template", "head", "svg", "textarea", "select", "iframe":
		return true
	}
	return false
}

func isInline(name string) bool {
	switch name {
	case "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img", "ins",
		"kbd", "mark", "q", "rp", "rt", "ruby", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time",
		"tt", "u", "var", "wbr", "hi", "ref", "graphic":
		return true
	}
	return false
}

// writer collects text: white space within a line collapsed, no empty lines.
type writer struct {
	b     strings.Builder
	space bool // white space stands before the next text
	open  bool // the line has text
	done  bool // a line was ended
}

func (w *writer) text(s string) {
	for _, r := range s {
		switch r {
		case ' ', '\t', '\n', '\r', '\f', '\u00A0':
			w.space = true
			continue
		case '\u200B', '\uFEFF', '\u00AD':
			continue // zero width: breaks words for whoever searches
		}
		if w.done && !w.open {
			w.b.WriteByte('\n')
		} else if w.space && w.open {
			w.b.WriteByte(' ')
		}
		w.space, w.open, w.done = false, true, false
		w.b.WriteRune(r)
	}
}

func (w *writer) line() {
	w.done = w.done || w.open
	w.open, w.space = false, false
}

// String returns the text collected so far.
func (w *writer) String() string { return w.b.String() }
