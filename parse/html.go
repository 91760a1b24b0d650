package parse

import (
	"strings"

	"octopus"
	"octopus/parse/classify"
	"octopus/parse/scan"
)

// html reads a page in UTF-8: metadata into rec, links out.
func (p *Parser) html(page *octopus.Page, rec *octopus.Record, body []byte) []octopus.Link {
	w := p.works.Get().(*work)
	defer p.release(w)
	w.page.Scan(body)

	rec.Fingerprint = w.fingerprint()
	known := p.opt.Classes.Expect(page.Lease)
	rec.Kind, rec.KindReason = known.Kind, known.Reason
	var topics map[string]bool
	text := p.opt.Text || p.opt.Markdown // wanted
	w.locate(page.URL())
	p.metadata(w, rec)
	switch {
	case known.Extract:
		guess := classify.Page(&w.page, rec.URL)
		topics = topicRefs(w.page.Refs)
		j := judge(known, &guess)
		j.shown = w.page.Counts.Text
		text = p.classified(page, rec, body, known, j, topics != nil) || text
	case !known.Certain:
		rec.Kind = classify.Page(&w.page, rec.URL).Kind
	}
	if rec.Kind == classify.Data {
		topics = nil // those below an article are related ones, not news
	}
	p.variant(page, rec, known)
	var links []octopus.Link
	if !nofollow(rec.Robots) || p.opt.IgnoreRobots {
		links = p.links(w, &page.Lease.Link, topics)
	}
	if rec.DuplicateOf != "" {
		toOriginal(links, page, rec)
	}
	switch {
	case page.SameAs != "":
		if text {
			p.saved.Add(1)
		}
	case (p.opt.Text || p.opt.Markdown) && rec.Text == "":
		p.extract(rec, body, p.opt.Markdown)
		if !p.opt.Text {
			rec.Text = ""
		}
	}
	return links
}

// release gives the work back, but for tables that one huge page made huge.
func (p *Parser) release(w *work) {
	if max(len(w.refs.slots)/2, len(w.page.Refs)) > 4*DefaultMaxLinks {
		return
	}
	w.page.Reset()
	w.refs.reset()
	w.urls.reset()
	w.text.Reset()
	w.link.Reset()
	p.works.Put(w)
}

// sketch adds a run of text to the fingerprint of the page.
func (w *work) sketch(run []byte, link bool) {
	if link {
		w.link.Add(run)
	} else {
		w.text.Add(run)
	}
}

// minWords is the number of words from which on a page has a fingerprint: pages
// of a few words are alike, or not, by chance.
const minWords = 20

// fingerprint returns that of the page that was scanned.
func (w *work) fingerprint() octopus.Fingerprint {
	if w.text.Words()+w.link.Words() < minWords {
		return octopus.Fingerprint{}
	}
	return octopus.Fingerprint{Text: w.text.Sum(), Links: w.link.Sum()}
}

// locate says what references are resolved against: the base element's href,
// itself resolved, or the page.
func (w *work) locate(page octopus.URL) {
	w.base.Reset(page)
	if href := w.page.Base(); href != "" {
		if u, err := w.base.Resolve(href); err == nil {
			w.base.Reset(u)
		}
	}
}

// metadata fills in what the head of the page says about it.
func (p *Parser) metadata(w *work, rec *octopus.Record) {
	s := &w.page
	rec.Title = s.Title()
	if rec.Title == "" {
		rec.Title = s.Content("og:title", "twitter:title", "dc.title")
	}
	rec.Description = s.Content("description", "og:description", "twitter:description", "dc.description")
	rec.Author = personName(s.Content("author", "article:author", "dc.creator", "parsely-author", "sailthru.author"))
	rec.Published = s.Content("article:published_time", "datePublished", "og:published_time", "parsely-pub-date",
		"dc.date.issued", "dcterms.created", "publishdate", "pubdate", "sailthru.date", "date")
	rec.Language = language(s.Lang(), s.Content("content-language", "og:locale"))
	rec.Assets = s.Assets
	for _, m := range s.Meta {
		if n := string(m.Name); strings.EqualFold(n, "robots") || strings.EqualFold(n, p.opt.Agent) {
			rec.Robots = addMeta(rec.Robots, string(scan.Unescape(m.Content)))
		}
	}
	for _, r := range s.Refs {
		if r.Tag == scan.Link && r.HasRel("canonical") {
			if u, ok := w.base.ResolveBytes(r.Target()); ok {
				rec.Canonical = u.Text
			}
			break
		}
	}
}

// personName drops author values that are no name: sites put profile URLs there.
func personName(s string) string {
	if strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") {
		return ""
	}
	return s
}

// language returns the primary subtag in lower case of the first value that
// looks like a language tag: "zh" of "zh-CN" or "zh_CN".
func language(tags ...string) string {
	for _, t := range tags {
		if i := strings.IndexAny(t, "-_, ;"); i >= 0 {
			t = t[:i]
		}
		if len(t) == 2 || len(t) == 3 {
			return strings.ToLower(t)
		}
	}
	return ""
}
