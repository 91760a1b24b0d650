package node

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"octopus"
	"octopus/canon"
	"octopus/crawl"
	"octopus/fetch"
	"octopus/fetch/render"
	"octopus/parse"
)

// RenderConfig sizes the browser that runs the scripts of pages; Crawl.Render
// says which.
type RenderConfig struct {
	Browser   string   `toml:"browser" flag:"browser" help:"the Chromium that renders pages; empty looks for one in PATH"`
	Tabs      int      `toml:"tabs" flag:"render-tabs" help:"pages rendered at once; each takes 50 to 200 MB"`
	Timeout   Duration `toml:"timeout" flag:"render-timeout" help:"longest time to render one page; without an end by then it counts as it was fetched"`
	MaxMemory Size     `toml:"maxMemory" flag:"render-max-memory" help:"memory over which the browser is killed and started again"`
}

// Values of Crawl.Render.
const (
	renderOff    = "off"
	renderAuto   = "auto"
	renderAlways = "always"
)

func (c *Config) defaultRender() {
	c.Crawl.Render = renderOff
	c.Render = RenderConfig{Tabs: 2, Timeout: Duration(20 * time.Second), MaxMemory: 1536 << 20}
}

func (c *Config) checkRender() error {
	switch {
	case !oneOf(c.Crawl.Render, renderOff, renderAuto, renderAlways):
		return &ConfigError{"crawl.render", fmt.Sprintf("is %q; use off, auto or always", c.Crawl.Render)}
	case c.Render.Tabs < 1 || c.Render.Tabs > 64:
		return &ConfigError{"render.tabs", "must be 1 to 64"}
	case c.Render.Timeout <= 0 || time.Duration(c.Render.Timeout) > maxRender:
		return &ConfigError{"render.timeout", "must be positive, and 1m at most: the page's lease runs meanwhile"}
	case c.Render.MaxMemory < 256<<20:
		return &ConfigError{"render.maxMemory", "must be at least 256MB: a browser needs that for one page"}
	}
	return nil
}

// maxRender bounds render.timeout: a lease lasts two minutes.
const maxRender = time.Minute

// renderer is what a page is rendered by; render.Renderer in a crawl.
type renderer interface {
	Render(context.Context, render.Request) (render.Result, error)
	Close() error
}

// renderedFetcher has a browser finish the pages that need one, under the lease
// that they were fetched under.
type renderedFetcher struct {
	closingFetcher
	renderer renderer
	mode     func(octopus.Link) string // off, auto or always
}

var (
	_ crawl.Recycler = (*renderedFetcher)(nil)
	_ crawl.Finisher = (*renderedFetcher)(nil)
)

// openRenderer puts a browser behind the fetcher, where a board wants one.
func (n *Node) openRenderer(direct *fetch.Fetcher) error {
	if n.cfg.Crawl.Render == renderOff {
		return nil
	}
	opt := render.Options{
		Browser: n.cfg.Render.Browser, UserAgent: n.cfg.UserAgent, Dial: direct.Dial, Allow: n.allowsPart,
		Tabs: n.cfg.Render.Tabs, Timeout: time.Duration(n.cfg.Render.Timeout), MaxMemory: int64(n.cfg.Render.MaxMemory), MaxHTML: int(n.cfg.Fetcher.MaxBody),
	}
	if !n.cfg.Store.Discard {
		opt.Dir = filepath.Join(n.cfg.Dir, "browser")
	}
	r, err := render.New(opt)
	if err != nil {
		return &ConfigError{"crawl.render", err.Error()}
	}
	n.renderer = &renderedFetcher{closingFetcher: n.fetcher, renderer: r, mode: n.renderMode}
	n.fetcher = n.renderer
	n.closeLast(r.Close)
	return nil
}

// renderMode says how the pages of a link are rendered.
func (n *Node) renderMode(octopus.Link) string { return n.cfg.Crawl.Render }

// allowsPart reports whether a page may load url: not where robots.txt is known
// to forbid it.
func (n *Node) allowsPart(url string) bool {
	u, err := canon.Parse(url)
	return err == nil && (n.frontier == nil || !n.frontier.Disallows(u))
}

// Fetch implements crawl.Fetcher.
func (f *renderedFetcher) Fetch(ctx context.Context, l octopus.Lease) *octopus.Page {
	p := f.closingFetcher.Fetch(ctx, l)
	f.Finish(ctx, p)
	return p
}

// Recycle implements crawl.Recycler.
func (f *renderedFetcher) Recycle(p *octopus.Page) {
	if r, ok := f.closingFetcher.(crawl.Recycler); ok {
		r.Recycle(p)
	}
}

// Finish implements crawl.Finisher: it has the page rendered where it needs it.
// The gap of its host begins afterwards: until then scripts were loaded from there.
func (f *renderedFetcher) Finish(ctx context.Context, p *octopus.Page) {
	if !f.wants(p) {
		return
	}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if until := p.Lease.Until; !until.IsZero() {
		limited, cancel = context.WithDeadline(ctx, until)
	}
	defer cancel()
	res, err := f.renderer.Render(limited, render.Request{URL: p.URL().Text, Status: p.Status, Header: p.Header, Body: p.Body})
	switch {
	case err == nil:
		p.Rendered = res.HTML
	case ctx.Err() != nil: // cut: the page is not done, and stays queued
		p.Err = &octopus.Error{Op: "render", URL: p.URL().Text, Kind: octopus.KindCanceled, Err: ctx.Err()}
	default:
		p.RenderErr = err
	}
	p.End = time.Now()
}

// wants reports whether the page is to be rendered: HTML, whole, asked for as a
// page, and with auto one that says little without its scripts.
func (f *renderedFetcher) wants(p *octopus.Page) bool {
	if p.Lease.Purpose == octopus.FetchRobots || p.Truncated != "" || p.Lease.Link.Kind == octopus.Sitemap || len(p.Lease.Link.Body) > 0 {
		return false
	}
	switch f.mode(p.Lease.Link) {
	case renderAlways:
		return parse.IsHTML(p)
	case renderAuto:
		return parse.IsHTML(p) && render.Needs(p.Body) != ""
	}
	return false
}
