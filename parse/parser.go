package parse

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"octopus"
	"octopus/canon"
	"octopus/internal/spare"
	"octopus/parse/scan"
	"octopus/parse/simhash"
)

// Parser turns pages into records and links. All methods may be called by many
// goroutines at once.
type Parser struct {
	opt     Options
	works   sync.Pool // of *work
	spare   *spare.Lists[octopus.Link]
	dropped atomic.Int64
	saved   atomic.Int64
}

// work is what one call of Parse needs; pooled, because its tables are large.
type work struct {
	page scan.Page
	text simhash.Sketch // of what the page shows outside links
	link simhash.Sketch // … and inside
	base canon.Base     // knows URLs and hosts of the pages before
	refs hashes         // references met on this page, without fragment
	urls hashes         // URLs met on this page
	seed maphash.Seed
}

// New returns a Parser, or an error that names the option that is out of range.
func New(opt Options) (*Parser, error) {
	if opt.MaxLinks < 0 || opt.MaxTree < 0 {
		return nil, fmt.Errorf("parse: MaxLinks %d, MaxTree %d: limits must not be negative", opt.MaxLinks, opt.MaxTree)
	}
	if opt.MaxLinks == 0 {
		opt.MaxLinks = DefaultMaxLinks
	}
	if opt.MaxTree == 0 {
		opt.MaxTree = DefaultMaxTree
	}
	if opt.Classes == nil {
		opt.Classes = noClasses{}
	}
	opt.Agent = productToken(opt.Agent)
	p := &Parser{opt: opt, spare: spare.New[octopus.Link](32, 256)} // 1.4 MB at most
	p.works.New = func() any {
		w := &work{seed: maphash.MakeSeed()}
		if !opt.NoFingerprint {
			w.page.Text = w.sketch
		}
		return w
	}
	return p, nil
}

// Dropped returns how many links went unoffered because their pages had more
// than Options.MaxLinks.
func (p *Parser) Dropped() int64 { return p.dropped.Load() }

// Saved returns of how many pages the text was not looked for because their
// payload was known: octopus.Page.SameAs.
func (p *Parser) Saved() int64 { return p.saved.Load() }

// Parse reads a fetched page and returns the record for the sinks and the links
// to offer, in the page's order:
//
//   - a redirect offers its target alone: same depth, one hop more;
//   - an HTML page offers its anchors, frames and link elements one level
//     deeper, or nothing where it says nofollow;
//   - a sitemap index offers sitemaps at its own depth, one hop more, so that
//     octopus.MaxHops ends chains of indexes;
//   - a sitemap or feed offers what it lists, one level deeper.
//
// Answers other than 2xx offer nothing. The error is that of ctx: no content is
// one. A page that is the SameAs
// another gets no text. Record.Digest, DuplicateOf and Skip are left to the caller.
func (p *Parser) Parse(ctx context.Context, page *octopus.Page) (*octopus.Record, []octopus.Link, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	rec := newRecord(page)
	switch {
	case page.Err != nil:
		rec.Error = page.Err.Kind.String() + ": " + page.Err.Error()
		return rec, nil, nil
	case page.Location != "":
		return rec, redirect(page, rec), nil
	case page.Status < 200 || page.Status > 299:
		return rec, nil, nil
	}
	rec.Robots = headerDirectives(page.Header.Values("X-Robots-Tag"), p.opt.Agent)
	links := p.content(page, rec)
	if links != nil {
		rec.Links = texts(links)
	}
	return rec, links, ctx.Err()
}

// content reads the body by its type.
func (p *Parser) content(page *octopus.Page, rec *octopus.Record) []octopus.Link {
	body := page.Body
	contentType := page.Header.Get("Content-Type")
	rec.MIME = mediaType(contentType, body)
	if page.Lease.Link.Kind == octopus.Jump { // whatever it says it is
		var utf8 []byte
		utf8, rec.Charset = toUTF8(body, contentType)
		return p.jump(page, rec, utf8)
	}
	form := formOf(rec.MIME, page, body)
	if form == binary {
		rec.Kind = kindOther
		return nil
	}
	if form == packedList {
		body, contentType = gunzip(body), ""
	}
	utf8, name := toUTF8(body, contentType)
	rec.Charset = name
	if form != html {
		return p.list(page, rec, utf8, form)
	}
	if page.Rendered != nil {
		utf8 = page.Rendered
	}
	return p.html(page, rec, utf8)
}

func redirect(page *octopus.Page, rec *octopus.Record) []octopus.Link {
	from := page.Lease.Link
	target, err := canon.Resolve(from.URL, page.Location)
	if err != nil {
		rec.Error = octopus.KindProtocol.String() + ": redirect: " + err.Error()
		return nil
	}
	return follow(page, rec, target)
}

// follow offers the one address that a page sends to.
func follow(page *octopus.Page, rec *octopus.Record, target octopus.URL) []octopus.Link {
	from := &page.Lease.Link
	rec.FinalURL = target.Text
	rec.Links = []string{target.Text}
	return []octopus.Link{{
		URL: target, Via: from.URL.Text, Kind: octopus.Redirect,
		Depth: from.Depth, Hop: from.Hop + 1,
	}}
}

func texts(links []octopus.Link) []string {
	out := make([]string, len(links))
	for i := range links {
		out[i] = links[i].URL.Text
	}
	return out
}
