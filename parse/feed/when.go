package feed

import (
	"strings"
	"time"
)

// layouts are the ways in which lists write a time, most frequent first.
var layouts = [...]string{time.RFC3339, "Mon, 2 Jan 2006 15:04:05 -0700", "Mon, 2 Jan 2006 15:04:05 MST", "2006-01-02T15:04Z07:00",
	"2006-01-02", "2 Jan 2006 15:04:05 -0700", "Mon, 2 Jan 06 15:04:05 -0700", "2006-01-02 15:04:05", "2006-01-02T15:04:05"}

// Time reads Entry.Modified; ok is false where it is no time. A time without a
// zone is taken as UTC.
func (e Entry) Time() (t time.Time, ok bool) {
	text := strings.TrimSpace(e.Modified)
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil && t.Year() > 1990 {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}
