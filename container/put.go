package container

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"octopus"
	"octopus/warc"
)

// keyField is the WARC field that carries the key of a request that is more
// than GET of its URL.
const keyField = "Octopus-Key"

// unit is a version on its way to disk.
type unit struct {
	entry keyEntry // offset, prev and late are filled in by the commit
	data  []byte   // gzip members
	at    address  // where it was written
	known bool     // the same visit was there already
}

// Put stores a page as the newest version of its URL (of its request, where the
// link has a method or body) and returns when it is as durable as Options.Sync
// says. Storing the same visit again writes nothing. The page must have a
// status. The context is looked at before the work begins; what is begun is
// done.
func (c *Container) Put(ctx context.Context, e Entry) (Result, error) {
	r, err := c.PutAll(ctx, []Entry{e})
	if err != nil {
		return Result{}, err
	}
	return r[0], nil
}

// PutAll stores pages in order, with one sync for all of them, and one more for
// each 304 whose payload may be among them. After an error none, some or all of
// them are stored.
func (c *Container) PutAll(ctx context.Context, entries []Entry) ([]Result, error) {
	results := make([]Result, 0, len(entries))
	for len(entries) > 0 {
		n := independent(entries)
		done, err := c.putBatch(ctx, entries[:n])
		if err != nil {
			return nil, err
		}
		results, entries = append(results, done...), entries[n:]
	}
	return results, nil
}

// independent counts the entries before the first 304 to a request that is among
// them: what it refers to must be stored before it is prepared.
func independent(entries []Entry) int {
	for i, e := range entries {
		before := func(o Entry) bool { return o.Page != nil && o.Page.URL().Key == e.Page.URL().Key }
		if e.Page != nil && e.Page.Status == http.StatusNotModified && slices.ContainsFunc(entries[:i], before) {
			return i
		}
	}
	return len(entries)
}

// putBatch stores pages that do not depend on each other, in one commit.
func (c *Container) putBatch(ctx context.Context, entries []Entry) ([]Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b := &batch{wake: make(chan bool, 1), units: make([]unit, len(entries))}
	results := make([]Result, len(entries))
	c.structure.RLock()
	defer c.structure.RUnlock()
	defer c.release(b)
	for i, e := range entries {
		if err := c.prepare(&b.units[i], &results[i], e); err != nil {
			url := ""
			if e.Page != nil {
				url = e.Page.URL().Text
			}
			return nil, &octopus.Error{Op: "store", URL: url, Kind: octopus.KindOther, Err: err}
		}
	}
	if err := c.submit(b); err != nil {
		return nil, err
	}
	for i := range b.units {
		u := &b.units[i]
		results[i].Known = u.known
		results[i].Ref = Ref{u.at.segment(), u.at.offset(), u.entry.length}
	}
	return results, nil
}

// release keeps the buffers of written units for the next ones.
func (c *Container) release(b *batch) {
	for i := range b.units {
		if data := &b.units[i].data; cap(*data) > 0 && cap(*data) <= maxJoined {
			c.members.Put(data)
		}
	}
}

// buffer returns an empty buffer.
func (c *Container) buffer() []byte {
	if b, ok := c.members.Get().(*[]byte); ok {
		return (*b)[:0]
	}
	return nil
}

// prepare encodes one page.
func (c *Container) prepare(u *unit, res *Result, e Entry) error {
	p := e.Page
	switch {
	case p == nil || p.URL().IsZero():
		return errors.New("a page without URL")
	case p.Status < 100 || p.Status > 999:
		return fmt.Errorf("status %d: only answers of a server are kept", p.Status)
	}
	u.entry = keyEntry{key: p.URL().Key, time: p.Start.UnixMilli(), kind: Full}
	rec := &warc.Record{
		Type: warc.Response, ID: warc.NewID(), Date: time.UnixMilli(u.entry.time),
		TargetURI: p.URL().Text, IP: p.IP, ContentType: warc.HTTPResponse, Truncated: p.Truncated,
	}
	if l := p.Lease.Link; l.Method != "" && l.Method != "GET" || len(l.Body) > 0 {
		rec.Other = append(rec.Other, warc.Field{Name: keyField, Value: u.entry.key.String()})
	}
	if p.Proto == "HTTP/2.0" {
		rec.Other = append(rec.Other, warc.Field{Name: "WARC-Protocol", Value: "h2"})
	}
	sum, err := payloadDigest(e)
	if err != nil {
		return err
	}
	head := warc.HTTPBlock(p.Status, p.Header, int64(len(p.Body)))
	body := p.Body
	if c.revisit(&u.entry, rec, e, sum, res) {
		if u.entry.kind == NotModified {
			head = warc.HTTPBlock(p.Status, p.Header, -1)
		}
		body = nil
	} else if u.entry.digest = sum; len(p.Body) == 0 {
		u.entry.digest = [20]byte{}
	}
	rec.PayloadDigest = warc.FormatDigest(sum)
	if u.entry.kind == NotModified {
		rec.PayloadDigest = warc.FormatDigest(u.entry.digest)
	}
	res.Kind = u.entry.kind
	return c.encode(u, rec, head, body, e.Meta)
}

// payloadDigest returns the SHA-1 of the page's body, the caller's if given.
func payloadDigest(e Entry) ([20]byte, error) {
	if e.Digest == "" || e.Page.Status == http.StatusNotModified {
		return sha1.Sum(e.Page.Body), nil
	}
	sum, ok := warc.ParseDigest(e.Digest)
	if !ok {
		return sum, fmt.Errorf("digest %q is not a SHA-1 as warc.Digest writes it", e.Digest)
	}
	return sum, nil
}

// revisit turns rec into a revisit record where the payload is stored already,
// and reports whether it did.
func (c *Container) revisit(e *keyEntry, rec *warc.Record, given Entry, sum [20]byte, res *Result) bool {
	p := given.Page
	var original keyEntry
	var at address
	var ok bool
	profile, kind := warc.SamePayload, Same
	switch {
	case p.Status == http.StatusNotModified:
		original, at, ok = c.unchanged(given)
		profile, kind = warc.NotModified, NotModified
	case len(p.Body) > 0 && p.Truncated == "":
		original, at, ok = c.byDigest(sum)
	}
	if !ok {
		return false
	}
	first, err := c.head(at)
	if err != nil {
		return false // it can't be read: keep the whole page
	}
	if kind == Same && first.TargetURI != p.URL().Text {
		res.DuplicateOf = first.TargetURI
	}
	e.kind, e.target, e.digest = kind, at, original.digest
	rec.Type, rec.Profile = warc.Revisit, profile
	rec.RefersTo, rec.RefersToURI, rec.RefersToDate = first.ID, first.TargetURI, first.Date
	if kind == Same {
		rec.Truncated = "length"
	}
	return true
}

// unchanged finds the record that holds the payload of which an answer 304 says
// that it has not changed: the one it names, or that of the version before it.
func (c *Container) unchanged(e Entry) (keyEntry, address, bool) {
	if sum, ok := warc.ParseDigest(e.Digest); ok {
		if original, at, ok := c.byDigest(sum); ok {
			return original, at, true
		}
	}
	return c.payloadOf(e.Page.URL(), e.Page.Start.UnixMilli())
}

// encode makes the gzip members of a unit.
func (c *Container) encode(u *unit, rec *warc.Record, head, body []byte, meta []warc.Field) error {
	if c.opt.BlockDigest {
		rec.BlockDigest = warc.Digest(append(head[:len(head):len(head)], body...))
	}
	var err error
	if u.data, err = c.enc.Append(c.buffer(), rec, head, body); err != nil {
		return err
	}
	if len(meta) > 0 {
		u.entry.flags |= flagMeta
		u.data, err = c.enc.Append(u.data, &warc.Record{
			Type: warc.Metadata, ID: warc.NewID(), Date: rec.Date, TargetURI: rec.TargetURI,
			ConcurrentTo: []string{rec.ID}, ContentType: warc.WARCFields,
		}, warc.Fields(meta...))
	}
	if u.entry.length = int64(len(u.data)); u.entry.length > maxSegment {
		return fmt.Errorf("%d bytes compressed: a page may have %d", u.entry.length, maxSegment)
	}
	return err
}
