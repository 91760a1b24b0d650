package cdxserver

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"octopus"
	"octopus/container"
)

// serveWeb answers /web/{timestamp}id_/{url}: the version nearest to the time,
// not rewritten. Header fields of the stored answer that would act on the
// client (cookies, policies) come as X-Archive-Orig-NAME; Location leads back
// into the archive.
func (s *Server) serveWeb(w http.ResponseWriter, r *http.Request, rest string) {
	stamp, target, _ := strings.Cut(rest, "/")
	digits, raw := strings.CutSuffix(stamp, "id_")
	if !raw {
		http.Error(w, "want /web/{timestamp}id_/{url}, or no timestamp for the newest", http.StatusBadRequest)
		return
	}
	at := period{last: time.Unix(1<<40, 0)} // in all of time the newest is nearest
	if digits != "" {
		var err error
		if at, err = parsePeriod(digits); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	u, bare, err := parseURL(target)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	urls := []octopus.URL{u}
	if bare { // else the scheme counts: a redirect of http to https must not lead to itself
		urls = spellings(u)
	}
	page, err := s.nearest(r.Context(), urls, at)
	switch {
	case errors.Is(err, container.ErrNotFound):
		http.Error(w, target+": not in the archive", http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		replay(w, page)
	}
}

// nearest returns the version of one of the URLs whose time is nearest to at, the
// newest of those that are equally near. It looks again where a rewrite moved that
// meanwhile.
func (s *Server) nearest(ctx context.Context, urls []octopus.URL, at period) (page *container.Stored, err error) {
	for range 8 {
		if page, err = s.nearestNow(ctx, urls, at); !errors.Is(err, container.ErrGone) {
			break
		}
	}
	return page, err
}

func (s *Server) nearestNow(ctx context.Context, urls []octopus.URL, at period) (*container.Stored, error) {
	var url string
	var best container.Version
	for _, u := range urls {
		all, err := s.store.Versions(ctx, u)
		if err != nil && !errors.Is(err, container.ErrNotFound) {
			return nil, err
		}
		for _, v := range all {
			d := cmp.Compare(at.distance(v.Time), at.distance(best.Time))
			if url == "" || d < 0 || d == 0 && v.Time.After(best.Time) {
				url, best = u.Text, v
			}
		}
	}
	if url == "" {
		return nil, container.ErrNotFound
	}
	page, err := s.store.Read(ctx, best.Ref)
	if err == nil && page.URL != url { // another URL with the same hash
		err = container.ErrNotFound
	}
	return page, err
}

// kept are the header fields that describe the body and act on nothing else.
var kept = map[string]bool{"Content-Type": true, "Content-Language": true, "Content-Disposition": true}

func replay(w http.ResponseWriter, page *container.Stored) {
	h := w.Header()
	for name, values := range page.Header {
		if !kept[name] {
			name = "X-Archive-Orig-" + name
		}
		h[name] = values
	}
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/octet-stream") // no sniffing
	}
	stamp := page.Time.UTC().Format(stampLayout)
	h.Set("Memento-Datetime", page.Time.UTC().Format(http.TimeFormat))
	h.Set("Link", "<"+page.URL+`>; rel="original"`)
	h.Set("Content-Security-Policy", "sandbox") // scripts of one site must not read pages of another
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(page.Body)))
	if to := page.Header.Get("Location"); to != "" {
		if base, err := url.Parse(page.URL); err == nil {
			if ref, err := base.Parse(to); err == nil {
				h.Set("Location", "/web/"+stamp+"id_/"+ref.String())
			}
		}
	}
	status := page.Status
	if status < 200 || status > 599 || status == http.StatusNoContent || status == http.StatusNotModified {
		status = http.StatusOK // these have no body, the stored answer may
	}
	w.WriteHeader(status)
	w.Write(page.Body) // an error means that the client went away
}
