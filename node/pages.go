package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"octopus"
	"octopus/container"
	"octopus/fetch"
	"octopus/warc"
)

// pages makes a container the crawl.Pages of the engine.
type pages struct{ c *container.Container }

// openPages opens the container, unless no bodies are kept.
func (n *Node) openPages() error {
	if n.cfg.Store.NoPages || n.cfg.Store.Discard {
		return nil
	}
	sync := container.Always
	if n.cfg.Store.NoSync {
		sync = container.Never
	}
	compression, err := container.ParseCompression(n.cfg.Store.Compression)
	if err != nil {
		return err
	}
	c, err := container.Open(container.Options{
		Dir: pagesDir(n.cfg), Sync: sync, Compression: compression, Software: DefaultUserAgent, UserAgent: n.cfg.UserAgent,
		SegmentBytes: n.cfg.segmentBytes(), IndexMemory: int64(n.cfg.Store.IndexMemory),
	})
	if errors.Is(err, container.ErrLocked) {
		return fmt.Errorf("%s is %w; stop it, or choose another directory with --dir", n.cfg.Dir, ErrLocked)
	}
	if err != nil {
		return err
	}
	for _, damage := range c.Damage() {
		n.log.Error("a part of the page store cannot be read; see octopus store verify", "err", damage)
	}
	n.pages = &pages{c}
	n.closeLast(c.Close)
	return nil
}

// segmentBytes is the size of a WARC file: where the oldest are given up, so
// small that each is a small share of the disk. 0 is the container's default.
func (c *Config) segmentBytes() int64 {
	if c.Store.WhenFull != "oldest" || c.Store.MaxDisk == 0 {
		return 0
	}
	return min(max(int64(c.Store.MaxDisk)/32, 1<<20), 1<<30)
}

func pagesDir(cfg Config) string { return filepath.Join(cfg.Dir, "pages") }

// Known implements crawl.Knower.
func (p *pages) Known(digest string) (url string, ok bool) { return p.c.Digest(digest) }

// Put implements crawl.Pages.
func (p *pages) Put(ctx context.Context, page *octopus.Page, rec *octopus.Record) error {
	res, err := p.c.Put(ctx, container.Entry{Page: page, Digest: rec.Digest, Meta: metadata(page, rec)})
	if err != nil {
		return err
	}
	if page.Rendered == nil { // the same bytes show something else at every address
		rec.DuplicateOf = cmp.Or(res.DuplicateOf, rec.DuplicateOf) // the page may name its original itself
	}
	return nil
}

// metadata is the WARC metadata record of a page, in the field names of the
// standard, with its out-links as Heritrix writes them.
func metadata(page *octopus.Page, rec *octopus.Record) []warc.Field {
	fields := make([]warc.Field, 0, 4+len(rec.Links))
	if rec.Via != "" {
		fields = append(fields, warc.Field{Name: "via", Value: rec.Via})
	}
	fields = append(fields, warc.Field{Name: "fetchTimeMs", Value: strconv.FormatInt(rec.FetchMS, 10)})
	if page.Lease.Link.Depth > 0 {
		fields = append(fields, warc.Field{Name: "depth", Value: strconv.Itoa(page.Lease.Link.Depth)})
	}
	if page.Rendered != nil {
		fields = append(fields, warc.Field{Name: "rendered", Value: "links and text are those a browser showed"})
	}
	for _, l := range rec.Links {
		fields = append(fields, warc.Field{Name: "outlink", Value: l})
	}
	return fields
}

// Get implements crawl.Pages.
func (p *pages) Get(ctx context.Context, u octopus.URL) (*octopus.Page, error) {
	s, err := p.c.Get(ctx, u)
	if errors.Is(err, container.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	page := &octopus.Page{
		Start: s.Time, End: s.Time, IP: s.IP, Status: s.Status, Header: s.Header, Body: s.Body,
		Truncated: s.Truncated, Stored: true,
	}
	if fetch.Redirects(s.Status) {
		page.Location = s.Header.Get("Location")
	}
	return page, nil
}
