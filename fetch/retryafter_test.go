package fetch_test

import (
	"net/http"
	"testing"
	"time"

	"octopus/fetch"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, c := range []struct {
		value, date string
		want        time.Duration
	}{
		{"", "", 0},
		{"120", "", 2 * time.Minute},
		{" 120 ", "", 2 * time.Minute},
		{"0", "", time.Second},
		{"86401", "", 24 * time.Hour},
		{"99999999999999999999", "", 24 * time.Hour},
		{"-5", "", 0},
		{"1.5", "", 0},
		{"soon", "", 0},
		{at(time.Minute), "", time.Minute},
		{at(-time.Minute), "", time.Second},
		{at(100 * time.Hour), "", 24 * time.Hour},
		{at(time.Hour + time.Minute), at(time.Hour), time.Minute}, // its clock is an hour ahead
		{at(time.Minute), "yesterday", time.Minute},
		{"Friday, 02-Jan-26 03:05:05 GMT", "", time.Minute},
		{"Fri Jan  2 03:05:05 2026", "", time.Minute},
	} {
		h := http.Header{}
		h.Set("Retry-After", c.value)
		h.Set("Date", c.date)
		if got := fetch.RetryAfter(h, now); got != c.want {
			t.Errorf("Retry-After %q, Date %q: got %v, want %v", c.value, c.date, got, c.want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	f.Add("120", "")
	f.Add("Fri, 02 Jan 2026 03:04:05 GMT", "Fri, 02 Jan 2026 03:04:00 GMT")
	f.Fuzz(func(t *testing.T, value, date string) {
		h := http.Header{"Retry-After": {value}, "Date": {date}}
		if got := fetch.RetryAfter(h, time.Unix(1_800_000_000, 0)); got != 0 && (got < time.Second || got > 24*time.Hour) {
			t.Errorf("%v is out of range", got)
		}
	})
}
