package classify

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"octopus/parse/scan"
)

// Kinds of pages, as in Record.Kind.
const (
	Nav   = "nav"
	Data  = "data"
	Other = "other" // no HTML page
)

// Judgement is what Page thinks of a page.
type Judgement struct {
	Kind  string  // Nav or Data
	Score float64 // log of the odds that it is a data page; 0 is the line between

	v [features]float64
}

// Page judges an HTML page by its scan and its URL, which may be empty.
func Page(p *scan.Page, url string) Judgement {
	j := Judgement{Kind: Nav, v: vector(p, url)}
	if j.Score = trained.score(&j.v); j.Score > 0 {
		j.Kind = Data
	}
	return j
}

// Reason tells in words why: the probability, and the three features that
// spoke loudest for the decision, with their values and those of a typical
// page. Most values are logarithms; see features.go.
func (j *Judgement) Reason() string {
	order := make([]int, features)
	for f := range order {
		order[f] = f
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(j.says(b), j.says(a)) })
	s := fmt.Sprintf("data with p %.2f", 1/(1+math.Exp(-j.Score)))
	for _, f := range order[:3] {
		s += fmt.Sprintf("; %s %.2f (typical %.2f)", names[f], j.v[f], trained.typical[f])
	}
	return s
}

// says returns how much feature f speaks for the decision that was made.
func (j *Judgement) says(f int) float64 {
	d := trained.weights[f] * (j.v[f] - trained.typical[f])
	if j.Kind == Nav {
		d = -d
	}
	return d
}

// model is a logistic regression over the features.
type model struct {
	weights [features]float64
	typical [features]float64 // means, for reasons only
	bias    float64
}

// score returns the log of the odds of a data page.
func (m *model) score(v *[features]float64) float64 {
	z := m.bias
	for i, x := range v {
		z += m.weights[i] * x
	}
	return z
}
