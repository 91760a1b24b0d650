package node

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
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

// dirBrowser is where the browser's profiles lie below Config.Dir.
const dirBrowser = "browser"

// renderedFetcher has a browser finish the pages that need one, under the lease
// that they were fetched under.
type renderedFetcher struct {
	closingFetcher
	mode func(octopus.Link) string // off, auto or always

	make func() (*render.Renderer, error)
	log  *fetchLog // of what pages load; nil without one

	mu       sync.Mutex
	renderer *render.Renderer // guarded by mu; nil until a page needs it
}

var (
	_ crawl.Recycler = (*renderedFetcher)(nil)
	_ crawl.Finisher = (*renderedFetcher)(nil)
)

// openRenderer puts a browser behind the fetcher. Where a board wants one that
// is missing, the crawl does not start. Boards may be added while it runs, so the
// renderer is there in any case; it costs nothing before it is asked.
func (n *Node) openRenderer(direct *fetch.Fetcher) error {
	f := &renderedFetcher{closingFetcher: n.fetcher, mode: n.renderMode, make: func() (*render.Renderer, error) { return n.newRenderer(direct) }}
	f.log, _ = n.fetcher.(*fetchLog)
	n.fetcher = f
	if !n.wantsRenderer() {
		return nil
	}
	if _, err := f.ready(); err != nil {
		return &ConfigError{"render.browser", err.Error()}
	}
	return nil
}

// wantsRenderer tells whether a board has pages rendered.
func (n *Node) wantsRenderer() bool {
	return n.cfg.Crawl.Render != renderOff || slices.ContainsFunc(n.boards.all(), func(b octopus.Board) bool {
		return b.Render == renderAuto || b.Render == renderAlways
	})
}

// newRenderer makes the renderer; Close closes it before the fetcher that it
// dials with.
func (n *Node) newRenderer(direct *fetch.Fetcher) (*render.Renderer, error) {
	c := n.cfg.Render
	opt := render.Options{
		Browser: c.Browser, UserAgent: n.cfg.UserAgent, Dial: direct.Dial, Allow: n.allowsPart,
		Tabs: c.Tabs, Timeout: time.Duration(c.Timeout), MaxMemory: int64(c.MaxMemory), MaxHTML: int(n.cfg.Fetcher.MaxBody),
	}
	if !n.cfg.Store.Discard {
		opt.Dir = filepath.Join(n.cfg.Dir, dirBrowser)
	}
	return render.New(opt)
}

// renderMode says how the pages of a link are rendered: as its board says.
func (n *Node) renderMode(l octopus.Link) string {
	b, _ := n.boards.find(l.Board)
	return b.Render
}

// Close closes the browser, then the connections.
func (f *renderedFetcher) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var err error
	if f.renderer != nil {
		err = f.renderer.Close()
	}
	return errors.Join(err, f.closingFetcher.Close())
}

// ready returns the renderer, made now where none is. An error is not kept: a
// browser may be installed while the crawl runs.
func (f *renderedFetcher) ready() (*render.Renderer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.renderer != nil {
		return f.renderer, nil
	}
	r, err := f.make()
	if err == nil {
		f.renderer = r
	}
	return r, err
}

// allowsPart reports whether a page may load url: not where robots.txt is known
// to forbid it, and nothing in a shared crawl, whose verdicts are not at hand.
func (n *Node) allowsPart(url string) bool {
	u, err := canon.Parse(url)
	return err == nil && n.frontier != nil && !n.frontier.Disallows(u)
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
	res, err := f.render(limited, p)
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

func (f *renderedFetcher) render(ctx context.Context, p *octopus.Page) (render.Result, error) {
	r, err := f.ready()
	if err != nil {
		return render.Result{}, err
	}
	res, err := r.Render(ctx, render.Request{URL: p.URL().Text, Status: p.Status, Header: p.Header, Body: p.Body})
	if f.log != nil {
		f.log.noteParts(p, res.Parts)
	}
	return res, err
}
