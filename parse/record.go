package parse

import (
	"octopus"
)

// newRecord fills in what a page tells before its body is read.
func newRecord(page *octopus.Page) *octopus.Record {
	link := &page.Lease.Link
	rec := &octopus.Record{
		V:         octopus.RecordVersion,
		URL:       link.URL.Text,
		FinalURL:  link.URL.Text,
		Status:    page.Status,
		FetchedAt: page.Start,
		FetchMS:   page.End.Sub(page.Start).Milliseconds(),
		Depth:     link.Depth,
		Via:       link.Via,
		Board:     link.Board,
		Visit:     page.Lease.Visit,
		Links:     []string{},
		Size:      int64(len(page.Body)),
		Truncated: page.Truncated,
		Rendered:  page.Rendered != nil,
	}
	if page.RenderErr != nil {
		rec.RenderError = page.RenderErr.Error()
	}
	if page.IP.IsValid() {
		rec.IP = page.IP.String()
	}
	if link.Kind != 0 {
		rec.Path = string(rune(link.Kind))
	}
	return rec
}
