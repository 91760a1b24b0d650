package container

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"net/http"

	"octopus"
	"octopus/canon"
	"octopus/warc"
)

// maxImport bounds a body that Import takes, decoded, in bytes.
const maxImport = 256 << 20

// importBatch bounds the bodies that Import stores with one sync, in bytes.
const importBatch = 8 << 20

// Imported tells what Import did with the records of a file.
type Imported struct {
	Pages   int64            // stored, revisits included
	Known   int64            // of these, stored before
	Other   int64            // records that are no pages: warcinfo, request, metadata and so on
	Skipped map[string]int64 // pages that were not taken, by reason
}

// Import stores the pages of a WARC file (1.0 or 1.1, compressed or not, of any
// program) as if they had been put in at their own times. Bodies are decoded.
// Revisits are resolved against what this file or an earlier one brought. An
// error of the file names the offset; what came before it is stored, and
// importing the file again stores nothing twice.
func (c *Container) Import(ctx context.Context, r io.Reader) (Imported, error) {
	im := &importer{c: c, rep: Imported{Skipped: map[string]int64{}}, payloads: map[[20]byte][20]byte{}}
	err := im.run(ctx, warc.NewReader(r, 0))
	return im.rep, err
}

type importer struct {
	c     *Container
	rep   Imported
	batch []Entry
	bytes int
	// payloads leads from the digests in the file, which are of bodies as they
	// came over the wire, to those of the decoded bodies, where they differ.
	payloads map[[20]byte][20]byte
}

func (im *importer) run(ctx context.Context, r *warc.Reader) error {
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return im.flush(ctx)
		}
		if err == nil {
			err = im.add(ctx, r, rec)
		}
		if err != nil {
			return errors.Join(err, im.flush(ctx))
		}
	}
}

// add takes one record. What is wrong with a page alone is counted; an error is
// about the file or the container.
func (im *importer) add(ctx context.Context, r *warc.Reader, rec *warc.Record) error {
	switch rec.Type {
	case warc.Response, warc.Revisit, warc.Resource:
	default:
		im.rep.Other++
		return nil
	}
	if rec.ContentLength > maxImport {
		im.rep.Skipped["too large"]++
		return nil
	}
	block, err := rec.ReadBlock()
	if err == nil {
		err = r.Finish()
	}
	if err != nil {
		return err
	}
	p, reason := im.page(ctx, rec, block)
	if reason != "" {
		im.rep.Skipped[reason]++
		return nil
	}
	e := Entry{Page: p}
	if sum, ok := im.decoded(rec); ok && rec.Type == warc.Revisit && p.Status == http.StatusNotModified {
		e.Digest = warc.FormatDigest(sum)
	}
	im.batch = append(im.batch, e)
	if im.bytes += len(p.Body); im.bytes < importBatch && len(im.batch) < 256 && rec.Type != warc.Revisit {
		return nil
	}
	return im.flush(ctx)
}

// page makes a page of a record, or says why not.
func (im *importer) page(ctx context.Context, rec *warc.Record, block []byte) (p *octopus.Page, reason string) {
	u, err := canon.Parse(rec.TargetURI)
	switch {
	case err != nil:
		return nil, "not a web address"
	case rec.Date.IsZero():
		return nil, "no date"
	}
	p = &octopus.Page{Lease: octopus.Lease{Link: octopus.Link{URL: u}}, Start: rec.Date, End: rec.Date, IP: rec.IP, Truncated: rec.Truncated}
	if rec.Type == warc.Resource {
		p.Status, p.Header, p.Body = 200, http.Header{"Content-Type": {rec.ContentType}}, block
		return p, ""
	}
	if rec.Type == warc.Revisit && len(block) == 0 { // WARC 1.1 lets it be absent
		return im.revisit(ctx, p, rec)
	}
	var body []byte
	if p.Status, p.Header, body, err = warc.ParseHTTP(block); err != nil {
		return nil, "not HTTP"
	}
	if rec.Type == warc.Revisit {
		return im.revisit(ctx, p, rec)
	}
	if p.Body, err = warc.DecodeBody(p.Header, body, maxImport); err != nil {
		if errors.Is(err, warc.ErrCoding) {
			return nil, "content coding not known"
		}
		return nil, "body does not decode"
	}
	if sum, ok := warc.ParseDigest(rec.PayloadDigest); ok {
		if plain := sha1.Sum(p.Body); plain != sum {
			im.payloads[sum] = plain
		}
	}
	return p, ""
}

// revisit gives a page the payload that its record refers to, which a 304 only
// names. Put makes a revisit of it again.
func (im *importer) revisit(ctx context.Context, p *octopus.Page, rec *warc.Record) (*octopus.Page, string) {
	if im.flush(ctx) != nil { // the error comes again at the end
		return nil, "not stored"
	}
	p.Truncated = ""
	if p.Status == http.StatusNotModified {
		return p, ""
	}
	sum, ok := im.decoded(rec)
	if !ok {
		return nil, "revisit without SHA-1"
	}
	original, ok := im.c.payload(sum)
	if !ok {
		return nil, "revisit of a payload that is not stored"
	}
	if p.Body = original.Body; p.Status == 0 {
		p.Status, p.Header = original.Status, original.Header
	}
	if p.Status == 0 {
		return nil, "revisit without block, of an empty payload"
	}
	return p, ""
}

// decoded returns the digest of a record's payload, as it is stored: decoded.
func (im *importer) decoded(rec *warc.Record) (sum [20]byte, ok bool) {
	sum, ok = warc.ParseDigest(rec.PayloadDigest)
	if plain, coded := im.payloads[sum]; coded {
		sum = plain
	}
	return sum, ok
}

// payload returns what holds the payload with a digest: a record, but for the
// empty payload.
func (c *Container) payload(sum [20]byte) (*Stored, bool) {
	if sum == sha1.Sum(nil) {
		return &Stored{}, true
	}
	_, at, ok := c.byDigest(sum)
	if !ok {
		return nil, false
	}
	s, _, err := c.read(at)
	return s, err == nil
}

// flush stores the batch.
func (im *importer) flush(ctx context.Context) error {
	batch := im.batch
	im.batch, im.bytes = nil, 0
	if len(batch) == 0 {
		return nil
	}
	results, err := im.c.PutAll(ctx, batch)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	for _, r := range results {
		im.rep.Pages++
		if r.Known {
			im.rep.Known++
		}
	}
	return nil
}
