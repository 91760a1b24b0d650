package article

import (
	"fmt"
	nurl "net/url"

	readability "codeberg.org/readeck/go-readability"
	distiller "github.com/markusmobius/go-domdistiller"
	"github.com/markusmobius/go-trafilatura"
	"golang.org/x/net/html"
)

// base returns the URL of a page, or nil where it is not known.
func base(text string) *nurl.URL {
	u, err := nurl.Parse(text)
	if err != nil || u.Host == "" {
		return nil
	}
	return u
}

// caught turns a panic into an error. The libraries are large and work with
// regular expressions on text from anywhere: should a page make one panic, it
// has no opinion on that page, and the crawl goes on.
func caught(name string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("article: %s failed: %v", name, r)
	}
}

// runTrafilatura asks trafilatura, in its fast mode: its fallbacks are the
// other library here. Where the head of the page is dated it need not search
// the text, which takes it long. It leaves doc as it is.
func runTrafilatura(doc *html.Node, u *nurl.URL, dated bool) (res *trafilatura.ExtractResult, err error) {
	defer caught("trafilatura", &err)
	search := trafilatura.Extensive
	if dated {
		search = trafilatura.Disabled
	}
	return trafilatura.ExtractDocument(doc, trafilatura.Options{OriginalURL: u, ExcludeComments: true, HtmlDateMode: search})
}

// runReadability asks readability. It leaves doc as it is.
func runReadability(doc *html.Node, u *nurl.URL) (res readability.Article, err error) {
	defer caught("readability", &err)
	p := readability.NewParser()
	return p.ParseDocument(doc, u)
}

// runDistiller asks the port of Chromium's DOM distiller, which changes the
// tree it is given.
func runDistiller(doc *html.Node, u *nurl.URL) (n *html.Node, err error) {
	defer caught("domdistiller", &err)
	res, err := distiller.Apply(clone(doc), &distiller.Options{OriginalURL: u, SkipPagination: true})
	if err != nil {
		return nil, err
	}
	return res.Node, nil
}

// clone copies the tree below n.
func clone(n *html.Node) *html.Node {
	c := &html.Node{Type: n.Type, DataAtom: n.DataAtom, Data: n.Data, Namespace: n.Namespace, Attr: append([]html.Attribute(nil), n.Attr...)}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		c.AppendChild(clone(child))
	}
	return c
}

// libraries is how many are asked.
const libraries = 3

// opinion is what the libraries make of a page.
type opinion struct {
	texts [libraries]string // the article's text: trafilatura, readability, distiller
	meta  trafilatura.Metadata
	read  readability.Article
}

// consult asks them all. One that fails has no opinion.
func consult(doc *html.Node, u *nurl.URL, dated bool) *opinion {
	o := &opinion{}
	if tr, err := runTrafilatura(doc, u, dated); err == nil {
		o.texts[0], o.meta = nodeText(tr.ContentNode), tr.Metadata
	}
	if ar, err := runReadability(doc, u); err == nil {
		o.read = ar
		o.texts[1] = nodeText(ar.Node)
	}
	if n, err := runDistiller(doc, u); err == nil {
		o.texts[2] = nodeText(n)
	}
	return o
}
