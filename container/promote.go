package container

import (
	"context"

	"octopus/warc"
)

// promote gives new originals to revisits whose original is about to go: of the
// revisits of a payload the first becomes a full record, the others refer to it.
func (r *rewrite) promote(ctx context.Context) error {
	lost, err := r.lost()
	if err != nil || len(lost) == 0 {
		return err
	}
	for _, s := range r.list() {
		err := s.each(func(e keyEntry) error {
			at, orphan := lost[e.digest]
			l := link{e, e.address(s.number)}
			if !orphan || e.kind != Same && e.kind != NotModified || !r.alive(l) {
				return ctx.Err()
			}
			return r.adopt(l, lost, at)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// lost makes the payloads unknown that only dying records hold, and returns
// where they lie. Puts under way are waited for, so that no revisit comes after.
func (r *rewrite) lost() (map[[20]byte]address, error) {
	r.structure.Lock()
	defer r.structure.Unlock()
	lost := map[[20]byte]address{}
	for _, s := range r.list() {
		if !r.victims[s.number] {
			continue
		}
		err := s.each(func(e keyEntry) error {
			l := link{e, e.address(s.number)}
			if e.hasPayload() && !r.alive(l) {
				if err := r.payloads.remove(digestHash(e.digest, r.secret), l.at); err != nil {
					return err
				}
				if _, _, other := r.byDigest(e.digest); !other {
					lost[e.digest] = l.at
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return lost, nil
}

// adopt rewrites the revisit l of a payload that lies at an address. If that is
// a dying record, l becomes the payload's new home.
func (r *rewrite) adopt(l link, lost map[[20]byte]address, at address) error {
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
		lost[l.digest] = u.at
	}
	return nil
}
