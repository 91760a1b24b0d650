package node

import (
	"octopus"
	"octopus/board"
	"octopus/parse"
)

// classes tells the parser what the boards know of pages.
type classes struct {
	n    *Node
	gate *board.Gate
}

var _ parse.Classes = classes{}

// Expect implements parse.Classes: the patterns of the board decide, else what
// the page was at its last visit, else what the pages of its like were.
func (c classes) Expect(l octopus.Lease) parse.Expectation {
	r := c.gate.Board(l.Link.Board)
	if r == nil || l.Link.Board == CrawlBoard {
		return parse.Expectation{}
	}
	rule := r.Article(l.Link.URL)
	switch {
	case rule != "":
		return parse.Expectation{Kind: octopus.Data.String(), Reason: rule, Certain: true, Extract: true}
	case r.Patterned():
		return parse.Expectation{Kind: octopus.Nav.String(), Reason: "no article pattern matches", Certain: true, Extract: true}
	case l.Visit > 1:
		return parse.Expectation{Kind: l.Link.Lane.String(), Reason: "as at the last visit", Extract: true}
	}
	if lane, why, ok := c.n.learned.Lane(l.Link.Board, l.Link.URL); ok {
		return parse.Expectation{Kind: lane.String(), Reason: why, Extract: true}
	}
	return parse.Expectation{Extract: true}
}

// Learn implements parse.Classes.
func (c classes) Learn(l octopus.Lease, kind string) {
	lane := octopus.Nav
	if kind == octopus.Data.String() {
		lane = octopus.Data
	}
	if err := c.n.learned.Learn(l.Link.Board, l.Link.URL, lane); err != nil {
		c.n.log.Warn("what pages are was learned, but could not be kept", "err", err)
	}
}
