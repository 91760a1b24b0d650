package manners

import "time"

// BoardRules are what a board asks of the frontier; the zero value asks for nothing.
type BoardRules struct {
	Periods
	// Delay is the least gap between two requests to a host while URLs of the
	// board go there, in place of the host delay of the crawl; a longer Crawl-delay
	// still holds. 0: the board has none of its own.
	Delay time.Duration
	// Quota is the number of URLs of one host that may be known when the board
	// brings one more, in place of the host quota of the crawl. 0: the board has none.
	Quota int64
	// Hold is a reason, such as octopus.ReasonPaused, for which the board's URLs
	// are parked when their turn comes. Empty: they go.
	Hold string
}

// Periods say when visited pages come due again. Zero means never.
type Periods struct {
	// Refresh is the first period of a navigation page. After each visit it is
	// halved where the page had changed, and half longer where it had not,
	// between Min and Max.
	Refresh time.Duration
	// Min and Max bound the period. Defaults a quarter of Refresh and four times
	// Refresh.
	Min, Max time.Duration
	// Recrawl is the period of everything else, data pages included.
	Recrawl time.Duration
}

// Visited is what a visit left to know of a page.
type Visited struct {
	There   bool          // it answered with a page, or led to one
	Entry   bool          // it is an entry of its board
	Nav     bool          // it is a navigation page
	Changed bool          // the visit brought other content than the one before
	Period  time.Duration // the period before; 0 for none
}

// Next returns when a page comes due again after a visit, 0 for never: a
// navigation page on the refresh period, adapted to how often it changes;
// everything else on the recrawl period. Of pages that are not there, an entry
// comes with the next refresh, for somebody watches it; another one that was
// there before comes ever later, and then never.
func (p Periods) Next(v Visited) time.Duration {
	switch {
	case !v.There && v.Entry:
		return p.Refresh
	case !v.There && 2*v.Period <= 16*p.Refresh:
		return 2 * v.Period
	case !v.There:
		return 0
	case !v.Nav || p.Refresh <= 0:
		return p.Recrawl
	}
	least, most, period := p.Min, p.Max, v.Period
	setDefault(&least, p.Refresh/4)
	setDefault(&most, 4*p.Refresh)
	switch {
	case period == 0:
		period = p.Refresh
	case v.Changed:
		period /= 2
	default:
		period += period / 2
	}
	return min(max(period, least), most).Truncate(time.Second)
}
