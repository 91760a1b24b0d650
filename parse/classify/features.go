package classify

import (
	"bytes"
	"math"
	"strings"

	"octopus/parse/scan"
)

// feature names one number of the vector a page is judged by.
type feature int

const (
	prose      feature = iota // log of the bytes of prose: long blocks with no links between
	linkText                  // log of the bytes of text in links
	longest                   // log of the bytes of the longest block
	linkShare                 // share of the text that lies in links
	links                     // log of the number of links
	linkProse                 // share of the text that lies in links with a long text
	textLinks                 // log of the number of links with a long text
	headLinks                 // log of the number of headings that are links
	imgLinks                  // log of the number of images that are links
	headings                  // log of the number of headings
	paragraphs                // log of the number of p elements
	items                     // log of the number of li elements
	commas                    // commas and full stops per KB of long blocks
	oneH1                     // exactly one h1
	prices                    // log of the number of prices
	titleLen                  // log of the bytes of the longest part of the title
	saysData                  // metadata call it an article
	saysNav                   // metadata call it a collection or a site
	bodyData                  // the class of body calls it a single page
	bodyNav                   // the class of body calls it a list
	paged                     // it links to its second page
	proseShare                // share of the text that is prose
	authored                  // metadata name an author
	amp                       // it names an AMP version
	dated                     // metadata have a date of publication
	urlRoot                   // the URL is that of a site or a directory
	urlSlug                   // words in the last segment of the URL
	urlDigits                 // an identifier or a date in the URL
	urlList                   // the URL has a word for a list, or a page number
	urlPage                   // the last segment ends like a file
	urlDepth                  // segments in the path
	urlPlural                 // the last segment is short and ends in a plural
	noURL                     // the URL is not known
	features                  // their number
)

// names are the features in words, for reasons.
var names = [features]string{
	prose:      "prose",
	linkText:   "link text",
	longest:    "longest block",
	linkShare:  "share of link text",
	links:      "links",
	linkProse:  "share of long links",
	textLinks:  "long links",
	headLinks:  "linked headings",
	imgLinks:   "linked images",
	headings:   "headings",
	paragraphs: "paragraphs",
	items:      "list items",
	commas:     "commas",
	oneH1:      "one h1",
	prices:     "prices",
	titleLen:   "length of title",
	saysData:   "metadata say article",
	saysNav:    "metadata say site or list",
	bodyData:   "body class of an article",
	bodyNav:    "body class of a list",
	paged:      "link to page 2",
	proseShare: "share of prose",
	authored:   "author",
	amp:        "AMP version",
	dated:      "date of publication",
	urlRoot:    "URL of a directory",
	urlSlug:    "words in the URL",
	urlDigits:  "number in the URL",
	urlList:    "list word in the URL",
	urlPage:    "URL of a file",
	urlDepth:   "depth of the URL",
	urlPlural:  "plural in the URL",
	noURL:      "no URL",
}

// vector returns the features of a page.
func vector(p *scan.Page, url string) (v [features]float64) {
	c := p.Counts
	text := float64(max(c.Text, 1))
	v[prose] = logn(c.Prose)
	v[linkText] = logn(c.LinkText)
	v[longest] = logn(c.Longest)
	v[linkShare] = float64(c.LinkText) / text
	v[links] = logn(c.Links)
	v[linkProse] = float64(c.LinkProse) / text
	v[textLinks] = logn(c.TextLinks)
	v[headLinks] = logn(c.HeadLinks)
	v[imgLinks] = logn(c.ImgLinks)
	v[headings] = logn(c.Headings)
	v[paragraphs] = logn(c.Paras)
	v[items] = logn(c.Items)
	v[commas] = math.Min(float64(c.Commas)*1000/float64(c.LongText+200), 40)
	v[oneH1] = truth(c.H1 == 1)
	v[prices] = logn(c.Prices)
	v[titleLen] = logn(longestPart(p.Title()))
	v[saysData], v[saysNav] = claims(p)
	v[bodyData], v[bodyNav] = bodyClass(p.BodyClass())
	v[paged], v[amp] = reference(p)
	v[proseShare] = float64(c.Prose) / text
	v[authored] = truth(p.Content("author", "article:author", "dc.creator", "twitter:label1", "parsely-author") != "")
	v[dated] = truth(p.Content("article:published_time", "datePublished", "og:published_time", "publishdate", "pubdate",
		"parsely-pub-date", "sailthru.date", "dc.date.issued") != "")
	urlFeatures(&v, url)
	return v
}

// longestPart returns the bytes of the longest part of a title, of those that
// the name of the site and the like are set apart by.
func longestPart(title string) int {
	best := 0
	for _, sep := range [...]string{" | ", " - ", " – ", " — ", " :: ", " » ", "_", "-"} {
		if sep == "-" && !strings.ContainsAny(title, "。，：、") {
			break // only Chinese titles have a bare dash between the parts
		}
		title = strings.ReplaceAll(title, sep, "\x00")
	}
	for part := range strings.SplitSeq(title, "\x00") {
		best = max(best, len(strings.TrimSpace(part)))
	}
	return best
}

func logn(n int) float64 { return math.Log1p(float64(n)) }

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

var (
	dataTypes = [...]string{"NewsArticle", "BlogPosting", "Article", "TechArticle", "ReportageNewsArticle", "ScholarlyArticle", "Recipe", "Report"}
	navTypes  = [...]string{"CollectionPage", "ItemList", "SearchResultsPage", "Blog"}
)

// claims tells what the page's own metadata call it: og:type and JSON-LD.
func claims(p *scan.Page) (data, nav float64) {
	switch strings.ToLower(p.Content("og:type")) {
	case "article", "news", "newsarticle", "blogpost":
		data = 1
	case "website", "blog", "object":
		nav = 1
	}
	for _, ld := range p.LD {
		if hasType(ld, dataTypes[:]) {
			data++
		}
		if hasType(ld, navTypes[:]) {
			nav++
		}
	}
	return math.Min(data, 2), math.Min(nav, 2)
}

// hasType reports whether a JSON-LD text names one of the types as "@type".
// Items of a list have types too, but then the list's own is there as well.
func hasType(ld []byte, types []string) bool {
	for {
		_, rest, ok := bytes.Cut(ld, []byte(`"@type"`))
		if !ok {
			return false
		}
		ld = rest
		rest = bytes.TrimLeft(rest[:min(len(rest), 64)], " \t\r\n:[")
		for _, t := range types {
			if len(rest) > len(t)+1 && rest[0] == '"' && string(rest[1:1+len(t)]) == t && rest[1+len(t)] == '"' {
				return true
			}
		}
	}
}

// bodyClass looks for the words by which WordPress and its kin tell kinds of
// pages apart.
func bodyClass(class string) (data, nav float64) {
	for _, w := range strings.FieldsFunc(strings.ToLower(class), func(r rune) bool { return r == ' ' || r == '-' || r == '_' }) {
		switch w {
		case "single", "article", "post", "detail", "story", "postid":
			data = 1
		case "archive", "category", "listing", "list", "search", "home", "blog", "collection", "tag", "taxonomy", "tax", "catalog", "section", "frontpage", "shop":
			nav = 1
		}
	}
	return data, nav
}

// reference looks for a link to a second page, and for an AMP version.
func reference(p *scan.Page) (paged, amp float64) {
	for _, r := range p.Refs {
		switch {
		case r.HasRel("next"):
			if r.Tag == scan.A {
				paged = 1
			}
		case r.HasRel("amphtml"):
			amp = 1
		case secondPage(r.URL):
			paged = 1
		}
	}
	return paged, amp
}

// secondPage reports whether a reference is one to the second page of a list.
func secondPage(url []byte) bool {
	for i := 1; i < len(url); i++ {
		if url[i] != '2' || i+1 < len(url) && url[i+1] >= '0' && url[i+1] <= '9' {
			continue
		}
		for _, before := range [...]string{"page=", "page/", "page-", "?p=", "&p=", "pg=", "/p", "index_", "list_", "pn="} {
			if bytes.HasSuffix(url[:i], []byte(before)) {
				return true
			}
		}
	}
	return false
}
