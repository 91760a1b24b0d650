package article

import (
	"maps"
	"math"
	"slices"
	"sync"
)

// tokenTable counts, for each token and site, how much of it stands at content
// and how much elsewhere.
type tokenTable map[uint64]*tokenStat

type tokenStat struct {
	sites     map[string][2]float64 // content, other
	total     sync.Once
	good, bad float64 // sums of the shares of the sites
}

// collected are the lexicons in the making.
type collected struct{ names, words tokenTable }

const (
	leastSites = 4   // that have to know a token
	prior      = 1.0 // sites of either opinion that are assumed
)

// share is how much of a token a site has at content; one site counts once,
// however many blocks it has.
func share(x [2]float64) float64 { return (x[0] + 0.2) / (x[0] + x[1] + 0.4) }

// collect reads the labelled blocks of pages.
func collect(in []*labelled) *collected {
	c := &collected{tokenTable{}, tokenTable{}}
	for _, l := range in {
		tg := l.target()
		for i := range l.page.blocks {
			if tg[i] < 0 {
				continue
			}
			b := &l.page.blocks[i]
			w := 1 + math.Log1p(float64(len(b.words)))
			for e := b.elem; e >= 0; e = l.page.elems[e].parent {
				for _, t := range l.page.elems[e].names {
					c.names.add(t, l.site, tg[i], w)
				}
			}
			if len(b.words) <= maxEvidence {
				for _, t := range b.words {
					c.words.add(t, l.site, tg[i], 1)
				}
			}
		}
	}
	return c
}

func (t tokenTable) add(token uint64, site string, good, w float64) {
	s := t[token]
	if s == nil {
		s = &tokenStat{sites: map[string][2]float64{}}
		t[token] = s
	}
	x := s.sites[site]
	x[0] += good * w
	x[1] += (1 - good) * w
	s.sites[site] = x
}

// odds returns the weight of a token, without what one site says.
func (t tokenTable) odds(token uint64, without string) float32 {
	s := t[token]
	if s == nil {
		return 0
	}
	s.total.Do(func() {
		for _, site := range slices.Sorted(maps.Keys(s.sites)) {
			good := share(s.sites[site])
			s.good += good
			s.bad += 1 - good
		}
	})
	good, bad, n := s.good, s.bad, len(s.sites)
	if x, ok := s.sites[without]; ok {
		own := share(x)
		good, bad, n = good-own, bad-(1-own), n-1
	}
	if n < leastSites {
		return 0
	}
	return float32(math.Log((good + prior) / (bad + prior)))
}

// without is how a page of the site sees the table.
func (t tokenTable) without(site string) weigh {
	return func(token uint64) float32 { return t.odds(token, site) }
}

// table returns the lexicons for pages of other sites.
func (c *collected) table() evidence {
	all := func(t tokenTable) lexicon {
		x := lexicon{}
		for token := range t {
			if w := t.odds(token, ""); w != 0 {
				x[token] = w
			}
		}
		return x
	}
	return evidence{all(c.names), all(c.words)}
}
