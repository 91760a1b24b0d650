package article

import (
	"strings"

	"golang.org/x/net/html"
)

// block is a stretch of text with no block-level tag inside: a paragraph, a
// heading, a cell, a line.
type block struct {
	text  string // white space collapsed
	words []uint64
	links int // words inside links
	parts []*html.Node
	elem  int // index of the element around it
	ctx   context
}

// elem is a block-level element that holds text, somewhere below.
type elem struct {
	node   *html.Node
	parent int // -1 for the root
	words  int
	links  int
	blocks int
	score  float64  // of the readability kind: paragraphs credit their ancestors
	names  []uint64 // words of its class, id, role and itemprop
	sig    uint64   // tag and class of the element and its two next ancestors
}

// context is what a block inherits from the elements around it.
type context struct {
	within uint32 // bits of the in… constants
	depth  int
	good   int // ancestors with a class or id that names content
	bad    int // ancestors with one that names clutter
	nearG  int // as good, but only the three nearest
	nearB  int
	tag    string // nearest block-level element
	inLink bool
}

const (
	inArticle = 1 << iota
	inMain
	inNav
	inFooter
	inHeader
	inAside
	inForm
	inTable
	inList
	inFigure
	inHidden
	inComments
	inQuote
	inPre
	inButton
	inSection
	inHeading
)

var withinTags = map[string]uint32{
	"article": inArticle, "main": inMain, "nav": inNav, "footer": inFooter, "header": inHeader, "aside": inAside, "form": inForm,
	"table": inTable, "ul": inList, "ol": inList, "dl": inList, "figure": inFigure, "blockquote": inQuote, "pre": inPre,
	"button": inButton, "section": inSection, "h1": inHeading, "h2": inHeading, "h3": inHeading, "h4": inHeading, "h5": inHeading, "h6": inHeading,
}

// page is a tree cut into blocks.
type page struct {
	blocks []block
	elems  []elem
	images []picture    // the first maxValues of them
	tagged []*html.Node // links with rel=tag, as many
	cur    block
	buf    strings.Builder
}

// picture is an image, and how many blocks stand before it.
type picture struct {
	node   *html.Node
	before int
}

// cut takes a tree apart. Its depth is bounded by the parser's limit of 512.
func cut(doc *html.Node) *page {
	p := &page{}
	p.walk(doc, -1, context{})
	p.flush(-1)
	for i := range p.blocks {
		b := &p.blocks[i]
		for e := b.elem; e >= 0; e = p.elems[e].parent {
			p.elems[e].words += len(b.words)
			p.elems[e].links += b.links
			p.elems[e].blocks++
		}
	}
	p.credit()
	return p
}

// credit gives every ancestor of a paragraph points for it, fewer with distance.
func (p *page) credit() {
	for i := range p.blocks {
		b := &p.blocks[i]
		if len(b.words) < 12 || b.links*3 > len(b.words) {
			continue
		}
		points := 1 + min(float64(len(b.words))/20, 5)
		e := p.elems[b.elem].parent
		for step := 1.0; e >= 0 && step < 6; step++ {
			p.elems[e].score += points / step
			e = p.elems[e].parent
		}
	}
}

func (p *page) walk(n *html.Node, parent int, ctx context) {
	if n.Type == html.TextNode {
		p.addText(n, ctx)
		return
	}
	if n.Type == html.ElementNode {
		if invisible(n.Data) {
			return
		}
		ctx.depth++
		ctx.within |= withinTags[n.Data]
		ctx.classes(n)
		switch {
		case n.Data == "a":
			ctx.inLink = true
			if hasWord(attr(n, "rel"), "tag") && len(p.tagged) < maxValues {
				p.tagged = append(p.tagged, n)
			}
		case n.Data == "img":
			if len(p.images) < maxValues {
				p.images = append(p.images, picture{n, len(p.blocks)})
			}
		case n.Data == "br":
			p.flush(parent)
			return
		case !isInline(n.Data):
			p.flush(parent)
			ctx.tag = n.Data
			p.elems = append(p.elems, elem{node: n, parent: parent, sig: p.signature(n, parent), names: nameTokens(n)})
			parent = len(p.elems) - 1
			defer p.flush(parent)
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		p.walk(c, parent, ctx)
	}
}

func (p *page) addText(n *html.Node, ctx context) {
	if strings.TrimSpace(n.Data) == "" {
		p.buf.WriteByte(' ')
		return
	}
	if len(p.cur.parts) == 0 {
		p.cur.ctx = ctx
	}
	p.cur.parts = append(p.cur.parts, n)
	p.buf.WriteString(n.Data)
	if ctx.inLink {
		p.cur.links += len(tokens(n.Data, nil))
	}
}

// flush ends the block being collected.
func (p *page) flush(e int) {
	if len(p.cur.parts) > 0 && e >= 0 {
		b := p.cur
		b.text = strings.Join(strings.Fields(p.buf.String()), " ")
		b.words = tokens(b.text, nil)
		b.links = min(b.links, len(b.words))
		b.elem = e
		if len(b.words) > 0 {
			p.blocks = append(p.blocks, b)
		}
	}
	p.cur = block{}
	p.buf.Reset()
}

// signature is equal for elements that a template repeats.
func (p *page) signature(n *html.Node, parent int) uint64 {
	h := uint64(fnvOffset)
	add := func(s string) {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * fnvPrime
		}
		h = (h ^ 0xFF) * fnvPrime
	}
	add(n.Data)
	add(attr(n, "class"))
	for range 2 {
		if parent < 0 {
			break
		}
		add(p.elems[parent].node.Data)
		add(attr(p.elems[parent].node, "class"))
		parent = p.elems[parent].parent
	}
	return h
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// Words in class and id attributes, as found in templates all over the web.
var (
	goodNames = []string{"article", "content", "post", "entry", "body", "text", "story", "main", "detail", "description", "paragraph", "blog", "topic", "message", "answer", "question", "product", "summary", "正文"}
	badNames  = []string{"nav", "menu", "sidebar", "footer", "share", "social", "related", "recommend", "promo", "widget", "cookie", "banner", "breadcrumb", "crumb", "tags",
		"newsletter", "subscribe", "login", "popup", "modal", "pagination", "pager", "copyright", "sponsor", "advert", "ad-", "-ad", "outbrain", "taboola", "hidden", "button", "btn", "toolbar", "search", "filter", "rating", "meta", "byline", "author", "date", "caption", "credit", "disclaimer", "consent", "gdpr", "hot", "rank", "links", "more", "next", "prev", "header"}
	commentNames = []string{"comment", "disqus", "reply", "replies", "respond", "discussion"}
)

// classes reads the class, id and role of an element into the context.
func (c *context) classes(n *html.Node) {
	c.nearG, c.nearB = c.nearG*2/3, c.nearB*2/3
	var s string
	for _, a := range n.Attr {
		switch a.Key {
		case "class", "id", "role", "itemprop":
			s += " " + a.Val
		case "hidden":
			c.within |= inHidden
		case "aria-hidden":
			if a.Val == "true" {
				c.within |= inHidden
			}
		case "style":
			if v := strings.ReplaceAll(strings.ToLower(a.Val), " ", ""); strings.Contains(v, "display:none") || strings.Contains(v, "visibility:hidden") {
				c.within |= inHidden
			}
		}
	}
	if s == "" || n.Data == "body" || n.Data == "html" {
		return
	}
	s = strings.ToLower(s[:min(len(s), 200)])
	if containsAny(s, goodNames) {
		c.good++
		c.nearG += 9
	}
	if containsAny(s, badNames) {
		c.bad++
		c.nearB += 9
	}
	if containsAny(s, commentNames) {
		c.within |= inComments
	}
}

// hasWord reports whether word is among those of a list separated by white space.
func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}

func containsAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
