package webtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// slack is what a gap may fall short of what was asked for: stores keep times in
// milliseconds.
const slack = time.Millisecond

// manners judges politeness by the log.
func (r *Report) manners(w *Web, hostDelay time.Duration) {
	byHost := map[string][]Request{}
	for _, q := range w.Log() {
		byHost[q.Host] = append(byHost[q.Host], q)
	}
	for name, list := range byHost {
		h := w.byName[name]
		if h == nil {
			continue
		}
		slices.SortFunc(list, func(a, b Request) int { return a.Start.Compare(b.Start) })
		for _, q := range list {
			if h.robots.forbids(q.Path) {
				r.Forbidden = append(r.Forbidden, q.url(w))
			}
		}
		if list[0].Path != robotsPath {
			r.NoRobots = append(r.NoRobots, name+": first asked for "+list[0].Path)
		}
		r.gaps(w, h, list, hostDelay)
	}
}

// gaps measures the time between the requests to one host, from the end of all
// earlier answers to the next start.
func (r *Report) gaps(w *Web, h *host, list []Request, want time.Duration) {
	var last, until time.Time // end of all answers so far; end of Retry-After
	for i, q := range list {
		if i > 0 && q.Path == movedPath && list[i-1].Path == robotsPath {
			last = later(last, q.End) // redirects of robots.txt are followed at once
			continue
		}
		if i > 0 {
			gap := q.Start.Sub(last)
			if r.SmallestHost == "" || gap < r.SmallestGap {
				r.SmallestGap, r.SmallestHost = gap, h.name
			}
			if gap < want-slack {
				r.TooFast = append(r.TooFast, fmt.Sprintf("%s%s: %v after %s, want %v", h.name, q.Path, gap, list[i-1].Path, want))
			}
		}
		if q.Start.Before(until.Add(-slack)) {
			r.TooSoon = append(r.TooSoon, fmt.Sprintf("%s%s: %v early", h.name, q.Path, until.Sub(q.Start)))
		}
		last = later(last, q.End)
		if w.forgotten(q.End) {
			continue
		}
		if q.Status == 429 || q.Status == 503 {
			until = q.End.Add(time.Second)
		}
		if q.Path == robotsPath && !q.Aborted {
			want = max(want, h.robots.delay())
		}
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// String is the report for people: five lines, and the problems.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "pages       %s found of %s reachable, %s missing, %s unexpected\n",
		grouped(r.Found), grouped(r.Reachable), grouped(len(r.Missing)), grouped(len(r.Unexpected)))
	fmt.Fprintf(&b, "duplicates  %s URLs with two records, %s fetched again, of %s requests\n",
		grouped(len(r.Twice)), grouped(len(r.Refetched)), grouped(r.Requests))
	fmt.Fprintf(&b, "content     %s wrong digests, %s wrong titles, %s wrong status", grouped(len(r.WrongDigest)), grouped(len(r.WrongTitle)), grouped(len(r.WrongStatus)))
	if r.Kinds > 0 {
		fmt.Fprintf(&b, "; nav or data told rightly %.1f%%", 100*float64(r.KindsRight)/float64(r.Kinds))
	}
	fmt.Fprintf(&b, "\npoliteness  smallest gap %v (%s), %s too fast, %s before Retry-After\n",
		r.SmallestGap.Round(100*time.Microsecond), r.SmallestHost, grouped(len(r.TooFast)), grouped(len(r.TooSoon)))
	fmt.Fprintf(&b, "robots.txt  %s forbidden requests, %s hosts asked before it\n", grouped(len(r.Forbidden)), grouped(len(r.NoRobots)))
	return b.String() + r.Problems()
}

// grouped writes 1234567 as "1,234,567".
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
