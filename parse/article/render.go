package article

import (
	nurl "net/url"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	baseplugin "github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// nodeText returns the text below n, one block to a line.
func nodeText(n *html.Node) string {
	var w writer
	walkText(n, &w, false)
	return w.String()
}

func walkText(n *html.Node, w *writer, pre bool) {
	if n == nil {
		return
	}
	switch n.Type {
	case html.TextNode:
		if !pre {
			w.text(n.Data)
			return
		}
		for line := range strings.Lines(n.Data) {
			w.text(line)
			if strings.HasSuffix(line, "\n") {
				w.line()
			}
		}
		return
	case html.ElementNode:
		if invisible(n.Data) {
			return
		}
	}
	block := n.Type == html.ElementNode && !isInline(n.Data)
	if block {
		w.line()
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		walkText(c, w, pre || n.Data == "pre")
		if c.Type == html.ElementNode && (c.Data == "td" || c.Data == "th") {
			w.space = true
		}
	}
	if block {
		w.line()
	}
}

// text returns the kept blocks, one to a line.
func (p *page) text(keep []bool) string {
	var w writer
	for i := range p.blocks {
		if keep[i] {
			w.text(p.blocks[i].text)
			w.line()
		}
	}
	return w.String()
}

// markdown renders the kept blocks of doc as CommonMark with tables. It takes
// everything else out of doc, which is of no use afterwards.
func (p *page) markdown(doc *html.Node, keep []bool, base *nurl.URL) string {
	wanted := map[*html.Node]bool{}
	for i := range p.blocks {
		if keep[i] {
			for _, n := range p.blocks[i].parts {
				wanted[n] = true
			}
		}
	}
	prune(doc, wanted)
	sanitize(doc, base)
	out, err := newConverter().ConvertNode(doc)
	if err != nil {
		return p.text(keep)
	}
	return strings.TrimSpace(string(out))
}

// prune removes what holds no wanted text, and reports whether n does. Images
// stay where text beside them stays.
func prune(n *html.Node, wanted map[*html.Node]bool) bool {
	has := wanted[n]
	var images []*html.Node
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		switch {
		case c.Type == html.ElementNode && (c.Data == "br" || c.Data == "hr"):
		case c.Type == html.TextNode && strings.TrimSpace(c.Data) == "":
		case c.Type == html.ElementNode && (c.Data == "img" || c.Data == "figure" || c.Data == "picture"):
			if !prune(c, wanted) {
				images = append(images, c)
			} else {
				has = true
			}
		case prune(c, wanted):
			has = true
		default:
			n.RemoveChild(c)
		}
		c = next
	}
	if !has {
		for _, img := range images {
			n.RemoveChild(img)
		}
	}
	return has
}

func newConverter() *converter.Converter {
	return converter.NewConverter(converter.WithPlugins(
		baseplugin.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
}

// sanitize makes the links below n absolute where base is known. Those that are
// not http, https or mailto lose their target, so that no script travels with
// the Markdown.
func sanitize(n *html.Node, base *nurl.URL) {
	for d := range n.Descendants() {
		if d.Type != html.ElementNode {
			continue
		}
		kept := d.Attr[:0]
		for _, a := range d.Attr {
			if a.Key == "href" || a.Key == "src" {
				if a.Val = safeURL(a.Val, base); a.Val == "" {
					continue
				}
			}
			kept = append(kept, a)
		}
		d.Attr = kept
		if d.DataAtom == atom.A && attr(d, "href") == "" {
			d.Data, d.DataAtom = "span", atom.Span // a target of links is none itself
		}
	}
}

// safeURL returns ref, absolute where base is known, or "" where it is not to
// be kept.
func safeURL(ref string, base *nurl.URL) string {
	u, err := nurl.Parse(strings.TrimSpace(ref))
	if err != nil {
		return ""
	}
	if base != nil {
		u = base.ResolveReference(u)
	}
	switch u.Scheme {
	case "", "http", "https", "mailto":
		return u.String()
	}
	return ""
}
