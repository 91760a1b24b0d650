package crawl

import (
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"octopus"
)

// parseLoop is one worker of the parse loop: page, links, store, outcome. It
// ends when handoff is closed.
func (e *Engine) parseLoop(ctx context.Context, fail context.CancelCauseFunc, handoff <-chan *octopus.Page) {
	report := make([]octopus.Outcome, 1) // used again for each page
	o := &report[0]
	for p := range handoff {
		*o = fetched(p)
		if err := e.parse(ctx, p, o); err != nil {
			if ctx.Err() == nil {
				fail(err)
			}
			*o = fetched(p)
			o.Deferred = true
		}
		e.done(ctx, fail, report, p)
		if r, ok := e.opt.Fetcher.(Recycler); ok && !p.Stored {
			r.Recycle(p)
		}
		if r, ok := e.opt.Parser.(LinkRecycler); ok {
			r.Recycle(o.Links)
		}
	}
}

// parse fills in what the outcome's Parsed stage reports, and stores the page.
// Its error is the store's, or that of ctx: no content of a page is one.
func (e *Engine) parse(ctx context.Context, p *octopus.Page, o *octopus.Outcome) error {
	digest := ""
	if len(p.Body) > 0 && !e.opt.NoDigest {
		digest = Digest(p.Body)
		p.SameAs = e.sameAs(p, digest)
	}
	rec, links, err := e.opt.Parser.Parse(ctx, p)
	if err != nil {
		return err
	}
	rec.Digest, rec.DuplicateOf = digest, cmp.Or(p.SameAs, rec.DuplicateOf)
	if e.opt.Pages != nil && keeps(p, rec) {
		if err := e.opt.Pages.Put(ctx, p, rec); err != nil {
			return err
		}
	}
	o.Record, o.Links, o.Digest = rec, links, rec.Digest
	if p.Status == http.StatusNotModified {
		o.Record = nil // the sinks have the page: this visit brought nothing
	}
	o.Changed = p.Status != 304
	if p.Lease.Link.Kind == octopus.Jump && len(links) == 0 && p.Status < 500 && p.RetryAfter == 0 {
		o.Err = &octopus.Error{Op: "jump", URL: p.URL().Text, Kind: octopus.KindGone, Err: fmt.Errorf("the jumping link leads nowhere, status %d", p.Status)}
		rec.Error = o.Err.Error()
	}
	if rec.Kind == octopus.Data.String() {
		o.Lane = octopus.Data
	} else if rec.Kind == octopus.Nav.String() {
		o.Lane = octopus.Nav
	}
	return nil
}

// sameAs returns another URL under which the payload of a page is stored, or "".
// What a browser made of the same bytes may be different at every address.
func (e *Engine) sameAs(p *octopus.Page, digest string) string {
	k, ok := e.opt.Pages.(Knower)
	if !ok || p.Stored || p.Rendered != nil || p.Truncated != "" {
		return ""
	}
	if url, ok := k.Known(digest); ok && url != p.URL().Text {
		return url
	}
	return ""
}

// Digest returns the digest of a payload as WARC and CDX tools write it:
// "sha1:" and the SHA-1 in base 32.
func Digest(body []byte) string {
	sum := sha1.Sum(body)
	return "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
}

// keeps reports whether the page goes into the container: not what came from
// there, not an answer that says "try again", nothing the site asks not to be
// archived.
func keeps(p *octopus.Page, rec *octopus.Record) bool {
	switch {
	case p.Stored, p.Status == 0, p.Status >= 500, p.Status == 408, p.Status == 425, p.Status == 429:
		return false
	}
	return !slices.Contains(rec.Robots, "noarchive")
}

// done reports one outcome and settles the page budget. After a cut it still
// reports: what was fetched and stored need not be repeated.
func (e *Engine) done(ctx context.Context, fail context.CancelCauseFunc, report []octopus.Outcome, p *octopus.Page) {
	o := &report[0]
	verdicts, err := e.opt.Frontier.Done(context.WithoutCancel(ctx), report)
	if err != nil {
		fail(err)
		e.budget.giveBack(1)
		return
	}
	if isPage(o) && verdicts[0].Code == octopus.Accepted {
		e.budget.spend()
	} else {
		e.budget.giveBack(1)
	}
	if e.opt.Observe != nil {
		e.opt.Observe(*o, p, verdicts[0])
	}
	e.finished()
}

// isPage reports whether the outcome counts against MaxPages.
func isPage(o *octopus.Outcome) bool {
	return o.Lease.Purpose == octopus.FetchPage && !o.Deferred && o.Err == nil && o.Status/100 == 2
}

// maxAge reads max-age of a Cache-Control header; 0 where there is none.
func maxAge(cacheControl string) time.Duration {
	for part := range strings.SplitSeq(cacheControl, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if strings.EqualFold(name, "max-age") {
			if s, err := strconv.Atoi(strings.Trim(value, `"`)); err == nil && s > 0 {
				return time.Duration(s) * time.Second
			}
		}
	}
	return 0
}
