package parse

import (
	"strings"
	"unicode"

	"octopus"
	"octopus/parse/article"
)

// extract adds the text of the page, and what the extraction knows better than
// the head of the page, to rec.
func (p *Parser) extract(rec *octopus.Record, body []byte, markdown bool) article.Result {
	res := article.Extract(body, article.Options{URL: rec.URL, Markdown: markdown, MaxTree: p.opt.MaxTree})
	rec.Text, rec.Markdown = printable(res.Text), printable(res.Markdown)
	prefer(&rec.Title, res.Title)
	prefer(&rec.Author, res.Author)
	if !strings.HasPrefix(rec.Published, res.Date) { // the head may know the hour too
		rec.Published = res.Date
	}
	if rec.Language == "" || len(res.Text) >= longEnough {
		prefer(&rec.Language, res.Language)
	}
	if rec.Description == "" {
		rec.Description = res.Description
	}
	return res
}

// longEnough is the length of a text in bytes from which on its language is
// told with more certainty by its words than by its label: templates are copied
// with lang="en" into every country.
const longEnough = 300

func prefer(field *string, better string) {
	if better != "" {
		*field = better
	}
}

// printable drops control characters but line ends and tabs: a page may hold
// sequences that move the cursor of whoever prints its text, or worse.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}
