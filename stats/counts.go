package stats

import (
	"strings"
	"time"

	"octopus"
)

// Counter names one thing that is counted. The numbers are stored: they never
// change their meaning.
type Counter int

// The counters.
const (
	Requests   Counter = iota // requests that ended: every attempt, robots.txt and redirects too
	Bytes                     // body bytes received on the wire
	Pages                     // visits that brought a page: New + Changed + Unchanged
	New                       // pages of URLs that had none before
	Changed                   // pages with other content than the visit before
	Unchanged                 // pages with the same content, 304 included
	Articles                  // New pages of class data
	Duplicates                // new or changed pages whose content is stored under another URL
	Near                      // new pages that are nearly the same as others of their URL pattern
	Redirects                 // visits that a redirect ended
	Missing                   // visits that another final answer ended: 404, 410, 403 …
	Failed                    // visits that failed for good, after the last attempt
	Retries                   // attempts that failed and are made again
	Links                     // new URLs that were queued
	Parked                    // URLs that were put aside: robots.txt, quota, trap, dead host

	firstError   Counter = 32 // + octopus.Kind: answers and failures, by kind
	firstCapture Counter = 64 // + bucket: new articles by the time from publication to storage
	counters     Counter = 96
)

var names = [...]string{"requests", "bytes", "pages", "new", "changed", "unchanged", "articles", "duplicates", "near_duplicates",
	"redirects", "missing", "failed", "retries", "links", "parked"}

// Names returns the names of the plain counters, in their order.
func Names() []string { return names[:] }

// Error returns the counter of requests that ended with an error of the kind.
// An answer that is one counts too: 404 is gone, 503 unavailable, 500 server.
func Error(k octopus.Kind) Counter { return min(firstError+Counter(k), firstCapture-1) }

// Counts are the counters of one row. The zero value counts nothing.
type Counts [counters]int64

// Add adds the counters of other.
func (c *Counts) Add(other *Counts) {
	for i, n := range other {
		c[i] += n
	}
}

// Errors returns the errors by the name of their kind, without those that did
// not happen.
func (c *Counts) Errors() map[string]int64 {
	out := map[string]int64{}
	for i, n := range c[firstError:firstCapture] {
		if n > 0 {
			out[octopus.Kind(i).String()] += n
		}
	}
	return out
}

// captureLimits are the upper ends of the buckets of the capture histogram; the
// last bucket has none.
var captureLimits = [...]time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour,
	4 * time.Hour, 8 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour, 7 * 24 * time.Hour}

// Bucket is one bar of a histogram.
type Bucket struct {
	UpTo  time.Duration // 0 for the last one, which has no end
	Count int64
}

// Capture returns the histogram of the time from publication to storage of new
// articles that say when they were published, to the minute at least.
func (c *Counts) Capture() []Bucket {
	out := make([]Bucket, len(captureLimits)+1)
	for i := range out {
		if i < len(captureLimits) {
			out[i].UpTo = captureLimits[i]
		}
		out[i].Count = c[firstCapture+Counter(i)]
	}
	return out
}

// MedianCapture returns the upper end of the bucket that holds the median, and
// the number of articles in all. It is 0 where there are none, and where the
// median is in the last bucket.
func (c *Counts) MedianCapture() (upTo time.Duration, articles int64) {
	bars := c.Capture()
	for _, b := range bars {
		articles += b.Count
	}
	half := (articles + 1) / 2
	for _, b := range bars {
		if half -= b.Count; half <= 0 && articles > 0 {
			return b.UpTo, articles
		}
	}
	return 0, articles
}

// captureOf returns the counter for an article that was published and fetched at
// these times; false where the text tells no time of day, or one to come.
func captureOf(published string, fetched time.Time) (Counter, bool) {
	at, ok := clockTime(published)
	if !ok || at.After(fetched) {
		return 0, false
	}
	took := fetched.Sub(at)
	for i, limit := range captureLimits {
		if took <= limit {
			return firstCapture + Counter(i), true
		}
	}
	return firstCapture + Counter(len(captureLimits)), true
}

// clockTime reads a date with a time of day and a zone: a day alone says too
// little, a time without zone may be half a day off.
func clockTime(text string) (time.Time, bool) {
	text = strings.TrimSpace(text)
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05Z07:00", time.RFC1123Z, time.RFC1123} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
