package crawl

import (
	"context"

	"octopus"
)

// fetchLoop is one worker of the fetch loop: lease, request, hand-off. It ends
// when leases is closed.
func (e *Engine) fetchLoop(ctx context.Context, fail context.CancelCauseFunc, idle chan<- struct{}, leases <-chan octopus.Lease, handoff chan<- *octopus.Page) {
	for l := range leases {
		p := e.page(ctx, l)
		o := fetched(p)
		if ctx.Err() != nil && p.Err != nil {
			o.Deferred = true // the cut, not the site, ended the request
		}
		if r, ok := e.opt.Frontier.(octopus.Releaser); ok {
			r.Release(o)
		}
		if l.Purpose == octopus.FetchRobots || p.Err != nil || o.Deferred {
			e.done(ctx, fail, []octopus.Outcome{o}, p)
		} else {
			handoff <- p
		}
		idle <- struct{}{}
	}
}

// page brings the page of a lease: by a request, or for a Relink lease from the
// store where it is there.
func (e *Engine) page(ctx context.Context, l octopus.Lease) *octopus.Page {
	if l.Purpose == octopus.Relink && e.opt.Pages != nil {
		if p, err := e.opt.Pages.Get(ctx, l.Link.URL); err == nil && p != nil {
			p.Lease = l
			if f, ok := e.opt.Fetcher.(Finisher); ok {
				f.Finish(ctx, p)
			}
			return p
		}
	}
	return e.opt.Fetcher.Fetch(ctx, l)
}

// fetched is the outcome of a request as far as the fetcher knows it.
func fetched(p *octopus.Page) octopus.Outcome {
	o := octopus.Outcome{
		Lease: p.Lease, Stage: octopus.Fetched | octopus.Parsed,
		Start: p.Start, End: p.End, IP: p.IP, Status: p.Status, Wire: p.Wire, Err: p.Err, RetryAfter: p.RetryAfter,
		NoRequest: (p.Stored && p.Rendered == nil) || (p.Err != nil && p.Err.Kind == octopus.KindForbidden),
		Lane:      p.Lease.Link.Lane,
	}
	if p.Header != nil {
		o.ETag, o.LastModified = p.Header.Get("ETag"), p.Header.Get("Last-Modified")
	}
	if p.Lease.Purpose == octopus.FetchRobots && p.Err == nil {
		o.Robots, o.CacheFor = p.Body, maxAge(p.Header.Get("Cache-Control"))
	}
	if p.Err != nil {
		o.Record = failure(p)
	}
	return o
}

// failure is the record of a URL that could not be fetched; the frontier passes
// it on only if no attempt is left.
func failure(p *octopus.Page) *octopus.Record {
	l := p.Lease.Link
	return &octopus.Record{
		V: octopus.RecordVersion, URL: l.URL.Text, FinalURL: l.URL.Text, Status: p.Status,
		FetchedAt: p.Start, FetchMS: p.End.Sub(p.Start).Milliseconds(),
		Depth: l.Depth, Via: l.Via, Path: string(l.Kind), Board: l.Board, Visit: p.Lease.Visit,
		Links: []string{}, Error: p.Err.Error(),
	}
}
