package cdxserver

import (
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
	at, err := parseStamp(digits)
	if !raw || err != nil {
		http.Error(w, "want /web/{timestamp}id_/{url} with a timestamp of 4 to 14 digits, or none for the newest", http.StatusBadRequest)
		return
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

// parseStamp reads the first digits of a timestamp; none mean the far future.
func parseStamp(digits string) (time.Time, error) {
	if digits == "" {
		return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), nil
	}
	if len(digits) < 4 || len(digits) > len(stampLayout) {
		return time.Time{}, errors.New("length")
	}
	return time.Parse(stampLayout, fill(digits, "00000101000000"))
}

// nearest returns the version of one of the URLs whose time is nearest to at.
func (s *Server) nearest(ctx context.Context, urls []octopus.URL, at time.Time) (*container.Stored, error) {
	var url string
	var best container.Version
	for _, u := range urls {
		all, err := s.store.Versions(ctx, u)
		if err != nil && !errors.Is(err, container.ErrNotFound) {
			return nil, err
		}
		for _, v := range all {
			if url == "" || v.Time.Sub(at).Abs() < best.Time.Sub(at).Abs() {
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
