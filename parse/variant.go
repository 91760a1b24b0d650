package parse

import (
	"strings"

	"octopus"
)

// variant marks an article that calls another URL of the same article canonical,
// such as its AMP version or a URL with a parameter that counts where readers
// come from: it is a duplicate of that. A page that was met as somebody's
// canonical is none, whatever it says.
func (p *Parser) variant(page *octopus.Page, rec *octopus.Record, known Expectation) {
	met := page.Lease.Link.Kind == octopus.Redirect
	if known.Extract && rec.Kind == octopus.Data.String() && !met && rec.Canonical != rec.URL &&
		rec.Canonical != "" && plainName(rec.Canonical) == plainName(rec.URL) {
		rec.DuplicateOf = rec.Canonical
	}
}

// toOriginal has the link to the original of a variant followed as a redirect:
// it is no deeper than the variant.
func toOriginal(links []octopus.Link, page *octopus.Page, rec *octopus.Record) {
	from := &page.Lease.Link
	for i := range links {
		if l := &links[i]; l.URL.Text == rec.DuplicateOf && from.Hop < octopus.MaxHops {
			l.Kind, l.Depth, l.Hop = octopus.Redirect, from.Depth, from.Hop+1
		}
	}
}

// plainName returns a URL without what tells the versions of a page apart:
// scheme, www, m and amp of the host, parameters, amp in the path, the last
// slash.
func plainName(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	rest, _, _ = strings.Cut(rest, "?")
	host, path, _ := strings.Cut(rest, "/")
	for _, prefix := range []string{"www.", "m.", "amp."} {
		host = strings.TrimPrefix(host, prefix)
	}
	var kept []string
	for segment := range strings.SplitSeq(path, "/") {
		segment = strings.TrimSuffix(strings.Replace(segment, ".amp.", ".", 1), ".amp")
		if segment != "" && segment != "amp" {
			kept = append(kept, segment)
		}
	}
	return host + "/" + strings.Join(kept, "/")
}
