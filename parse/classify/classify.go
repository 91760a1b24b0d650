package classify

import (
	"fmt"

	"octopus/parse/scan"
)

// Kinds of pages, as in Record.Kind.
const (
	Nav   = "nav"
	Data  = "data"
	Other = "other" // no HTML page
)

// Page returns the kind of an HTML page, and the reason in words.
func Page(p *scan.Page, url string) (kind, reason string) {
	c := p.Counts
	share := float64(c.LinkText) / float64(max(c.Text, 1))
	kind = Nav
	if c.Long >= 3 && share < 0.5 || c.Long >= 1 && share < 0.25 {
		kind = Data
	}
	return kind, fmt.Sprintf("%d long blocks, %.0f%% of the text in links", c.Long, 100*share)
}
