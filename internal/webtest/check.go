package webtest

import (
	"iter"
	"slices"
	"strings"
	"time"
)

// Found is one record of a crawl. Only URL and Status are needed; what is empty
// is not compared.
type Found struct {
	URL    string
	Status int // 0: it could not be fetched, or was skipped
	Digest string
	Title  string
	Kind   string
}

// Report compares a crawl with the truth and with the server's log. Lists of
// URLs and complaints are sorted; all of them are empty for a perfect crawl.
type Report struct {
	Reachable int // pages that answer 200
	Found     int // of them, found

	Missing     []string // reachable and not found; or never asked for, where no 200 is to be had
	Unexpected  []string // found or asked for, and no part of the truth
	Twice       []string // more than one record
	WrongStatus []string
	WrongDigest []string
	WrongTitle  []string
	Kinds       int // pages that said what they are
	KindsRight  int // of them, rightly

	Requests  int      // robots.txt included
	Refetched []string // whole answers beyond the first, one line each
	Cut       int      // requests that the client did not wait for

	SmallestGap  time.Duration // between two requests to one host
	SmallestHost string        // there
	TooFast      []string      // gaps below the host delay or the Crawl-delay
	TooSoon      []string      // requests before Retry-After was over
	NoRobots     []string      // hosts asked for pages before their robots.txt
	Forbidden    []string      // requests that robots.txt forbids
}

// Check judges a crawl by its records and by the log. hostDelay is what the
// crawl was told to wait between requests to one host.
func (w *Web) Check(found iter.Seq[Found], hostDelay time.Duration) *Report {
	r := &Report{}
	t := w.Truth()
	r.Reachable = t.OK
	records := r.compare(w, t, found)
	r.manners(w, hostDelay)
	asked := r.requests(w, t)
	for u, p := range t.Pages {
		if p.Status == 200 && records[u] == 0 || p.Status != 200 && asked[u] == 0 {
			r.Missing = append(r.Missing, u)
		}
	}
	for _, list := range []*[]string{&r.Missing, &r.Unexpected, &r.Twice, &r.WrongStatus, &r.WrongDigest, &r.WrongTitle,
		&r.Refetched, &r.TooFast, &r.TooSoon, &r.NoRobots, &r.Forbidden} {
		slices.Sort(*list)
	}
	r.Unexpected = slices.Compact(r.Unexpected)
	return r
}

// compare holds the records against the truth, and counts them by URL.
func (r *Report) compare(w *Web, t *Truth, found iter.Seq[Found]) map[string]int {
	records := map[string]int{}
	for f := range found {
		records[f.URL]++
		if records[f.URL] == 2 {
			r.Twice = append(r.Twice, f.URL)
		}
		p, known := t.Pages[f.URL]
		switch {
		case !known && f.Status != 0:
			r.Unexpected = append(r.Unexpected, f.URL)
			continue
		case !known:
			continue
		case p.Status != f.Status:
			r.WrongStatus = append(r.WrongStatus, f.URL)
			continue
		case p.Status != 200:
			continue
		}
		if records[f.URL] == 1 {
			r.Found++
		}
		if f.Digest != "" && f.Digest != w.Digest(f.URL) {
			r.WrongDigest = append(r.WrongDigest, f.URL)
		}
		r.content(f, &p)
	}
	return records
}

func (r *Report) content(f Found, p *Page) {
	if p.Kind == Other {
		return
	}
	if f.Title != "" && f.Title != p.Title {
		r.WrongTitle = append(r.WrongTitle, f.URL+": "+f.Title)
	}
	if f.Kind != "" {
		r.Kinds++
		if f.Kind == string(p.Kind) {
			r.KindsRight++
		}
	}
}

// requests counts the answers of the log by URL.
func (r *Report) requests(w *Web, t *Truth) map[string]int {
	whole, asked := map[string]int{}, map[string]int{}
	for _, q := range w.Log() {
		r.Requests++
		u := q.url(w)
		asked[u]++
		if q.Aborted {
			r.Cut++
		}
		if q.Path == robotsPath || q.Path == movedPath {
			continue
		}
		if _, known := t.Pages[u]; !known && !t.Forbidden[u] {
			r.Unexpected = append(r.Unexpected, u)
		}
		if !q.Failed && !q.Aborted {
			if whole[u]++; whole[u] > 1 {
				r.Refetched = append(r.Refetched, u)
			}
		}
	}
	return asked
}

// OK reports whether the crawl found all there is, exactly once, and kept its
// manners.
func (r *Report) OK() bool {
	return r.Found == r.Reachable && r.Problems() == ""
}

// Problems lists what is wrong, one line each, at most ten of a sort; empty
// where nothing is. Kinds do not count: telling them is a matter of degree.
func (r *Report) Problems() string {
	var b strings.Builder
	for _, s := range []struct {
		name string
		list []string
	}{{"missing", r.Missing}, {"unexpected", r.Unexpected}, {"two records", r.Twice}, {"wrong status", r.WrongStatus},
		{"wrong digest", r.WrongDigest}, {"wrong title", r.WrongTitle}, {"fetched again", r.Refetched}, {"too fast", r.TooFast},
		{"before Retry-After", r.TooSoon}, {"before robots.txt", r.NoRobots}, {"forbidden by robots.txt", r.Forbidden}} {
		for i, line := range s.list {
			if i == 10 {
				b.WriteString(s.name + ": and " + grouped(len(s.list)-i) + " more\n")
				break
			}
			b.WriteString(s.name + ": " + line + "\n")
		}
	}
	return b.String()
}
