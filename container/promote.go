package container

import (
	"context"

	"octopus/warc"
)

// promote gives new originals to revisits whose original is about to go: of the
// revisits of a payload the first becomes a full record, the others refer to it.
// What it writes itself is behind the snapshot.
func (r *rewrite) promote(ctx context.Context) error {
	some, err := r.lost()
	if err != nil || !some {
		return err
	}
	all := r.snapshot()
	for _, s := range r.list() {
		err := s.each(func(e keyEntry) error {
			l, at := link{e, e.address(s.number)}, r.dyingAt(e.digest)
			if err := ctx.Err(); err != nil || at == 0 || e.end() > all[s] || e.kind != Same && e.kind != NotModified || !r.alive(l) {
				return err
			}
			return r.adopt(l, at)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// lost makes the payloads unknown that only dying records hold, for those who
// store pages; who reads them is led to where they lie until the rewrite ends. It
// reports whether there are any. Puts under way are waited for, so that no revisit
// comes after.
func (r *rewrite) lost() (some bool, err error) {
	r.structure.Lock()
	defer r.structure.Unlock()
	for _, s := range r.list() {
		if !r.victims[s.number] {
			continue
		}
		err := s.each(func(e keyEntry) error {
			l := link{e, e.address(s.number)}
			if e.hasPayload() && !r.alive(l) {
				r.setDying(e.digest, l.at)
				if err := r.payloads.remove(digestHash(e.digest, r.secret), l.at); err != nil {
					return err
				}
				if _, _, other := r.byDigest(e.digest); other {
					r.setDying(e.digest, 0)
				} else {
					some = true
				}
			}
			return nil
		})
		if err != nil {
			return some, err
		}
	}
	return some, nil
}

// dyingAt returns where a payload lies that is on its way, or was before it became
// known at its new place; 0 if it is none of them.
func (c *Container) dyingAt(digest [20]byte) address {
	c.dyingMu.RLock()
	defer c.dyingMu.RUnlock()
	return c.dying[digest]
}

// setDying tells where such a payload lies; 0 means that it is none.
func (c *Container) setDying(digest [20]byte, at address) {
	c.dyingMu.Lock()
	defer c.dyingMu.Unlock()
	if at == 0 {
		delete(c.dying, digest)
		return
	}
	if c.dying == nil {
		c.dying = map[[20]byte]address{}
	}
	c.dying[digest] = at
}

// adopt rewrites the revisit l of a payload that lies at an address. If that is
// a dying record, l becomes the payload's new home.
func (r *rewrite) adopt(l link, at address) error {
	v, key, err := r.read(l.at)
	if err != nil {
		return err
	}
	o, _, err := r.read(at)
	if err != nil {
		return err
	}
	first, err := r.head(at)
	if err != nil {
		return err
	}
	rec := &warc.Record{ID: warc.NewID(), Date: v.Time, TargetURI: v.URL, IP: v.IP, ContentType: warc.HTTPResponse, PayloadDigest: o.Digest}
	if key != "" {
		rec.Other = []warc.Field{{Name: keyField, Value: key}}
	}
	u := &unit{entry: l.keyEntry}
	status, header, body := v.Status, v.Header, []byte(nil)
	if _, found, known := r.byDigest(l.digest); known { // another revisit was promoted
		u.entry.target = found
		rec.Type, rec.RefersTo, rec.RefersToURI, rec.RefersToDate = warc.Revisit, first.ID, first.TargetURI, first.Date
		if rec.Profile = warc.NotModified; l.kind == Same {
			rec.Profile, rec.Truncated = warc.SamePayload, "length"
		}
	} else {
		if l.kind == NotModified {
			status, header = o.Status, o.Header
		}
		u.entry.kind, u.entry.target, body = Full, 0, o.Body
		rec.Type, rec.Truncated = warc.Response, o.Truncated
		r.sum.Promoted++
	}
	u.entry.flags = 0
	head := warc.HTTPBlock(status, header, int64(len(o.Body)))
	if err := r.encode(u, rec, head, body, v.Meta); err != nil {
		return err
	}
	if err := r.replace(l, u); err != nil {
		return err
	}
	if u.entry.kind == Full {
		r.setDying(l.digest, u.at)
	}
	return nil
}
