package parse

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"octopus"
	"octopus/parse/classify"
)

// Limits of judging, measured on the labelled pages: 93 of 100 navigation pages
// have a large block of topic links, and where a guess was this sure, its like
// never knew better. The text of a page knows better in doubt, or where it is
// most of what the page shows: shops explain their shelves at length, too.
const (
	sureScore   = 2   // log of the odds from which on a guess needs no help
	doubtScore  = 1   // … and up to which extraction may correct it
	articleText = 300 // bytes in sentences that make a text an article
	longLine    = 80  // bytes
)

// judgement is what a page is taken for, and why.
type judgement struct {
	kind, reason string
	score        float64 // log of the odds that it is a data page
	shown        int     // bytes of text on the page, links included
}

// judge decides before the text of a page was looked for.
func judge(known Expectation, guess *classify.Judgement) judgement {
	j := judgement{kind: known.Kind, reason: known.Reason, score: guess.Score}
	switch {
	case known.Certain:
	case known.Kind == "", known.Kind != guess.Kind && math.Abs(guess.Score) >= sureScore:
		j.kind, j.reason = guess.Kind, guess.Reason()
	case known.Kind == guess.Kind:
		j.reason += "; " + guess.Reason()
	}
	return j
}

// classified decides what a page of a board is, and takes the text of data
// pages. topics tells whether it has a large block of topic links: a navigation
// page without one may be an article that was misjudged, so its text is looked
// for, and decides. wanted tells that the text had to be looked for; where the
// same payload is stored under another URL, the looks of the page must do.
func (p *Parser) classified(page *octopus.Page, rec *octopus.Record, body []byte, known Expectation, j judgement, topics bool) (wanted bool) {
	data := octopus.Data.String()
	doubtful := j.kind != data && !topics && j.score > -2*sureScore
	wanted = j.kind == data || doubtful && !known.Certain
	if wanted && page.SameAs == "" {
		res := p.extract(rec, body, true)
		found := articleLike(res.Text)
		switch {
		case known.Certain:
		case j.kind == data && found < articleText && topics && j.score < doubtScore:
			j.kind, j.reason = octopus.Nav.String(), fmt.Sprintf("relabelled: it has a block of topic links, and no article was found in it; it looked like %s", j.reason)
		case j.kind != data && found >= articleText && (j.score > -doubtScore || found >= j.shown/2):
			j.kind, j.reason = data, fmt.Sprintf("relabelled: it has no large block of topic links, and an article of %d bytes was found in it; it looked like %s", found, j.reason)
		}
		if j.kind == data {
			rec.Abstract, rec.Image, rec.Tags = res.Abstract, res.Image, res.Tags
		}
		if j.kind != data || p.opt.Bare {
			rec.Text, rec.Markdown = "", ""
		}
	}
	rec.Kind, rec.KindReason = j.kind, j.reason
	if !known.Certain && page.SameAs == "" {
		p.opt.Classes.Learn(page.Lease, j.kind)
	}
	return wanted
}

// articleLike returns how many bytes of a text lie in long lines, or in lines
// that end like a sentence: an article has sentences, what was found of a list
// has headlines.
func articleLike(text string) (bytes int) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		last, _ := utf8.DecodeLastRuneInString(line)
		if len(line) >= longLine || len(line) >= longLine/2 && strings.ContainsRune(".!?。！？…”\"", last) {
			bytes += len(line)
		}
	}
	return bytes
}
