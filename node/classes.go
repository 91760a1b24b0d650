package node

import (
	"octopus"
	"octopus/board"
	"octopus/parse"
)

// classes tells the parser what the boards know of pages.
type classes struct{ gate *board.Gate }

var _ parse.Classes = classes{}

// Expect implements parse.Classes.
func (c classes) Expect(l octopus.Lease) parse.Expectation {
	r := c.gate.Board(l.Link.Board)
	if r == nil {
		return parse.Expectation{}
	}
	x := parse.Expectation{Extract: l.Link.Board != nameCrawl}
	rule := r.Article(l.Link.URL)
	switch {
	case rule != "":
		x.Kind, x.Reason, x.Certain = octopus.Data.String(), rule, true
	case r.Patterned():
		x.Kind, x.Reason, x.Certain = octopus.Nav.String(), "no article pattern matches", true
	}
	return x
}

// Learn implements parse.Classes.
func (c classes) Learn(octopus.Lease, string, bool) {}
