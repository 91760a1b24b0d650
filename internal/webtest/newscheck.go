package webtest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// NewsReport tells how well a crawler kept up with a news site, by the server's
// log alone.
type NewsReport struct {
	Articles int           // that were there long enough to be captured
	Captured int           // of them, once
	Missed   []string      // of them, never
	Repeated []string      // fetched more than once
	Median   time.Duration // from publication to capture, of articles published since the start
	Slowest  time.Duration // the same, the longest
	Oldest   time.Duration // longest time that a list was there and not asked for
	Requests int
	Needed   int // the fewest that would do: each article once, each list once a period, robots.txt once a day
}

// Check judges the crawl from the start of the days until end. period is the
// refresh period that it was given. An article that is there for less than 1.2
// periods, or that appears less than that before the end, need not be captured.
func (n *News) Check(end time.Time, period time.Duration) *NewsReport {
	n.mu.Lock()
	log := slices.Clone(n.log)
	n.mu.Unlock()
	v := &NewsReport{Requests: len(log)}
	asked := map[string][]time.Time{}
	for _, r := range log {
		if n.byPath[r.Path] == nil || r.Status == 200 {
			asked[r.Path] = append(asked[r.Path], r.Start)
		}
	}
	patience := period + period/5
	v.articles(n, asked, end, patience)
	for path, last := range n.lists(end) {
		v.Needed += int((end.Sub(last)-1)/period) + 1
		for _, at := range append(asked[path], end) {
			v.Oldest = max(v.Oldest, at.Sub(last))
			last = at
		}
	}
	v.Needed += n.opt.Days
	return v
}

// lists returns the paths of all pages that are no articles, with the time from
// which on a crawler can know of them: that of a day comes at midnight.
func (n *News) lists(end time.Time) map[string]time.Time {
	all := map[string]time.Time{"/": n.opt.Start, "/feed.xml": n.opt.Start, "/sitemap.xml": n.opt.Start, "/sitemap-news.xml": n.opt.Start}
	for _, s := range sections {
		all["/section/"+s] = n.opt.Start
	}
	for _, day := range n.days(end.Add(-time.Second)) {
		at, err := time.Parse(time.DateOnly, day)
		if err != nil {
			panic(err) // of a text that days has made
		}
		all["/archive/"+day] = latest(at, n.opt.Start)
	}
	return all
}

// articles judges what was asked of the articles.
func (v *NewsReport) articles(n *News, asked map[string][]time.Time, end time.Time, patience time.Duration) {
	var took []time.Duration
	for i := range n.articles {
		a := &n.articles[i]
		times := asked[a.Path]
		v.Needed += min(len(times), 1)
		gone := end
		if !a.Removed.IsZero() && a.Removed.Before(end) {
			gone = a.Removed
		}
		fair := gone.Sub(latest(a.Published, n.opt.Start)) >= patience
		if fair {
			v.Articles++
		}
		switch {
		case len(times) > 1:
			v.Repeated = append(v.Repeated, a.Path)
		case fair && len(times) == 0:
			v.Missed = append(v.Missed, a.Path)
		case fair:
			v.Captured++
		}
		if len(times) > 0 && a.Published.After(n.opt.Start) {
			took = append(took, times[0].Sub(a.Published))
		}
	}
	if slices.Sort(took); len(took) > 0 {
		v.Median, v.Slowest = took[len(took)/2], took[len(took)-1]
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// String tells the report in lines.
func (v *NewsReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d articles captured once, %d missed, %d fetched again\n", v.Captured, v.Articles, len(v.Missed), len(v.Repeated))
	fmt.Fprintf(&b, "from publication to capture: median %s, slowest %s\n", v.Median.Round(time.Second), v.Slowest.Round(time.Second))
	fmt.Fprintf(&b, "lists never older than %s\n", v.Oldest.Round(time.Second))
	fmt.Fprintf(&b, "%d requests, %.2f of the %d needed", v.Requests, float64(v.Requests)/float64(max(v.Needed, 1)), v.Needed)
	return b.String()
}
