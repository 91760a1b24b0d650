package parse

import "octopus"

// Classes knows more of the class of a page than the page shows: what the
// patterns of its board say, and what was learned. All methods may be called by
// many goroutines at once.
type Classes interface {
	// Expect tells what is known of a page before it is read.
	Expect(l octopus.Lease) Expectation
	// Learn is told what a page, of which nothing certain was known, turned out
	// to be: octopus.Nav or octopus.Data, as text.
	Learn(l octopus.Lease, kind string)
}

// Expectation is what is known of a page before it is read.
type Expectation struct {
	Kind    string // octopus.Nav or octopus.Data, as text; empty where nothing is known
	Reason  string // why, in words
	Certain bool   // the board's patterns decide: no guessing, no correction
	Extract bool   // the page is one of a board: its text is wanted where it is a data page
}

// noClasses knows nothing.
type noClasses struct{}

func (noClasses) Expect(octopus.Lease) Expectation { return Expectation{} }
func (noClasses) Learn(octopus.Lease, string)      {}
