package article

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"octopus/parse/scan"
)

// head is what the sources say about a page, beside its text.
type head struct {
	*opinion
	scan *scan.Page
	ld   linked
	page *page
	keep []bool
	site string // name of the site

	title int    // block that holds the title; 0 where none does
	time  string // day of the time element by the heading
}

// describe settles on title, author and so on, and names the source of each.
func (h *head) describe(res *Result) {
	res.Sources = map[string]string{}
	h.site = clean(h.scan.Content("og:site_name", "application-name"))
	if h.site == "" {
		h.site = h.meta.Sitename
	}
	res.Title = h.choose(res, "title", h.titles())
	res.Author = h.choose(res, "author", h.authors())
	res.Date = h.choose(res, "date", h.dates())
	res.Abstract = h.abstract()
	res.Description = h.choose(res, "description", h.descriptions(res.Abstract))
	res.Image = h.choose(res, "image", h.images())
	res.Tags = h.tags()
	res.Language = h.choose(res, "language", []candidate{{scriptLanguage(res.Text), "script"}, {h.meta.Language, "text"}})
}

// scriptLanguage returns the language of a text whose letters tell: Chinese,
// Japanese or Korean. What counts words is led astray by the Latin names and
// commands in such texts; a character says as much as a few Latin letters.
func scriptLanguage(text string) string {
	var latin, han, kana, hangul int
	for _, r := range text {
		switch {
		case r < 0x2E80:
			if unicode.IsLetter(r) {
				latin++
			}
		case unicode.Is(unicode.Han, r):
			han++
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			kana++
		case unicode.Is(unicode.Hangul, r):
			hangul++
		}
	}
	switch {
	case 3*(han+kana+hangul) <= latin:
		return ""
	case hangul > han+kana:
		return "ko"
	case 10*kana > han:
		return "ja"
	}
	return "zh"
}

// candidate is a value and where it comes from.
type candidate struct{ value, source string }

// choose takes the first that is not empty.
func (h *head) choose(res *Result, field string, all []candidate) string {
	for _, c := range all {
		if c.value != "" {
			res.Sources[field] = c.source
			return c.value
		}
	}
	return ""
}

// titles prefers the heading that the head of the page confirms: it has no name
// of the site in it. A heading that the head does not know is some other box's.
func (h *head) titles() []candidate {
	inHead := wordSet(h.scan.Title() + " " + h.scan.Content("og:title", "twitter:title") + " " + h.ld.headline)
	best, top := "", 0.0
	for i := range h.page.blocks {
		b := &h.page.blocks[i]
		if b.ctx.tag != "h1" && b.ctx.tag != "h2" || len(b.words) == 0 || b.ctx.within&inHidden != 0 {
			continue
		}
		known := 0
		for _, w := range b.words {
			if inHead[w] {
				known++
			}
		}
		share := float64(known) / float64(len(b.words))
		score := share * float64(min(len(b.words), 30)) / 30
		if b.ctx.tag == "h1" {
			score *= 1.5
		}
		if share >= 0.7 && score > top && len(b.words) >= 2 && !sameName(b.text, h.site) {
			best, top, h.title = b.text, score, i
		}
	}
	return []candidate{
		{best, "heading"}, {h.withoutSite(h.scan.Content("og:title")), "og:title"}, {h.read.Title, "readability"}, {h.meta.Title, "trafilatura"},
		{h.scan.Title(), "title"},
	}
}

// withoutSite cuts the name of the site off the end of a title.
func (h *head) withoutSite(title string) string {
	for _, sep := range [...]string{" | ", " - ", " – ", " — ", "_", "-", "|"} {
		if i := strings.LastIndex(title, sep); i > 0 && h.site != "" && sameName(title[i+len(sep):], h.site) {
			return strings.TrimSpace(title[:i])
		}
	}
	return title
}

func (h *head) authors() []candidate {
	persons, groups := strings.Join(distinct(h.ld.persons), "; "), strings.Join(distinct(h.ld.groups), "; ")
	var good, rest []candidate
	for _, c := range []candidate{
		{persons, "json-ld"}, {h.metaAuthors(), "meta"},
		{h.meta.Author, "trafilatura"}, {h.read.Byline, "readability"}, {h.byline(), "byline"}, {groups, "json-ld"},
	} {
		c.value = cleanName(c.value)
		switch {
		case !isName(c.value):
		case sameName(c.value, h.site) || looksLikeHost(c.value):
			rest = append(rest, c)
		default:
			good = append(good, c)
		}
	}
	return append(good, rest...)
}

// metaAuthors returns the authors that the meta elements of one name give: some
// pages have an element for each.
func (h *head) metaAuthors() string {
	for _, name := range [...]string{"author", "article:author", "citation_author", "parsely-author", "dc.creator", "sailthru.author"} {
		if all := h.contents(name); len(all) > 0 {
			return strings.Join(all, "; ")
		}
	}
	return ""
}

// contents returns the different contents of all meta elements of a name.
func (h *head) contents(name string) []string {
	var all []string
	for _, m := range h.scan.Meta {
		if strings.EqualFold(string(m.Name), name) && len(all) < maxValues {
			all = append(all, clean(string(scan.Unescape(m.Content[:min(len(m.Content), scan.MaxValue)]))))
		}
	}
	return distinct(all)
}

func looksLikeHost(s string) bool {
	i := strings.LastIndexByte(s, '.')
	return i > 0 && !strings.Contains(s, " ") && len(s)-i <= 5
}

// sameName compares names by their letters.
func sameName(a, b string) bool {
	x, y := tokens(a, nil), tokens(b, nil)
	if len(x) != len(y) || len(x) == 0 {
		return false
	}
	for i := range x {
		if x[i] != y[i] {
			return false
		}
	}
	return true
}

// dates reads what the page says as it is written: the day where it was
// published, not the one of UTC.
func (h *head) dates() []candidate {
	found := ""
	if !h.meta.Date.IsZero() {
		found = h.meta.Date.Format("2006-01-02")
	}
	read := ""
	if h.read.PublishedTime != nil {
		read = h.read.PublishedTime.Format("2006-01-02")
	}
	return []candidate{{h.dated(), "metadata"}, {h.time, "time"}, {found, "trafilatura"}, {read, "readability"}}
}

// dated returns the day that the head of the page gives.
func (h *head) dated() string {
	if d := day(h.ld.date); d != "" {
		return d
	}
	return day(h.scan.Content("article:published_time", "datePublished", "og:published_time", "parsely-pub-date", "sailthru.date", "dc.date.issued"))
}

// day cuts a date in ISO form to its day, and drops any other.
func day(s string) string {
	if len(s) < 10 || s[4] != '-' || s[7] != '-' {
		return ""
	}
	for i, c := range s[:10] {
		if i != 4 && i != 7 && (c < '0' || c > '9') {
			return ""
		}
	}
	return s[:10]
}

func (h *head) descriptions(abstract string) []candidate {
	return []candidate{
		{clean(h.scan.Content("description", "og:description", "twitter:description", "dc.description")), "meta"},
		{h.ld.description, "json-ld"}, {abstract, "text"},
	}
}

// Length of an abstract, in characters: enough to tell what it is about.
const (
	abstractMin = 60
	abstractMax = 300
)

// abstract returns the first sentences of the article.
func (h *head) abstract() string {
	for i := range h.page.blocks {
		b := &h.page.blocks[i]
		if !h.keep[i] || b.ctx.within&(inHeading|inList|inTable|inFigure|inButton) != 0 || 2*b.links > len(b.words) {
			continue
		}
		if n := utf8.RuneCountInString(b.text); n >= abstractMin || n >= abstractMin/3 && isCJK(firstRune(b.text)) {
			return firstSentences(b.text)
		}
	}
	return ""
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// firstSentences cuts s behind the last sentence that ends within the limit.
func firstSentences(s string) string {
	n, end := 0, 0
	for i, r := range s {
		if n++; n > abstractMax {
			if end == 0 {
				return strings.TrimSpace(s[:i]) + "…"
			}
			return s[:end]
		}
		next := i + utf8.RuneLen(r)
		switch r {
		case '。', '！', '？':
			end = next
		case '.', '!', '?':
			if next == len(s) || s[next] == ' ' {
				end = next
			}
		}
	}
	return s
}

// clean resolves the entities that some sites escape twice, and collapses white
// space.
func clean(s string) string {
	if strings.Contains(s, "&") {
		s = html.UnescapeString(s)
	}
	return strings.Join(strings.Fields(s), " ")
}

func distinct(names []string) []string {
	var out []string
	met := map[string]bool{"": true}
	for _, n := range names {
		if !met[n] {
			out = append(out, n)
		}
		met[n] = true
	}
	return out
}

// wordSet is the set of the words of a text.
func wordSet(s string) map[uint64]bool {
	set := map[uint64]bool{}
	for _, w := range tokens(s, nil) {
		set[w] = true
	}
	return set
}
