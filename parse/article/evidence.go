package article

import (
	"strings"

	"golang.org/x/net/html"
)

// lexicon tells for a token, by its hash, how much it speaks for content: the
// log of the odds, 0 where nothing is known.
type lexicon map[uint64]float32

// evidence are the two lexicons of a model: the words in classes and ids of the
// elements around a block, and the words of the block itself.
type evidence struct{ names, words lexicon }

// weigh looks tokens up. Training leaves out what the page's own site
// contributed.
type weigh func(token uint64) float32

func (x lexicon) weigh(token uint64) float32 { return x[token] }

// spread is the mean, least and greatest weight of some tokens.
type spread struct {
	sum, low, high float32
	n              int
}

func (s *spread) add(w float32) {
	s.sum += w
	s.low, s.high = min(s.low, w), max(s.high, w)
	s.n++
}

func (s *spread) mean() float32 { return s.sum / float32(max(s.n, 1)) }

// maxEvidence bounds the words of a block that are looked up: the lexicon is for
// short ones, of which each word counts.
const maxEvidence = 40

// evidenceWidth is how many features evidenceOf returns.
const evidenceWidth = 10

// evidenceOf returns the features of block i that come from the lexicons.
func (p *page) evidenceOf(i int, names, words weigh) []float32 {
	b := &p.blocks[i]
	var near, all, text spread
	first := float32(0)
	for e, level := b.elem, 0; e >= 0; e, level = p.elems[e].parent, level+1 {
		for _, t := range p.elems[e].names {
			w := names(t)
			all.add(w)
			if level < 4 {
				near.add(w)
			}
			if level == 0 {
				first += w
			}
		}
	}
	for _, t := range b.words[:min(len(b.words), maxEvidence)] {
		text.add(words(t))
	}
	return []float32{first, near.mean(), near.low, near.high, all.mean(), all.low, all.high, text.mean(), text.low, text.high}
}

// nameTokens returns the words of an element's class, id, role and itemprop.
func nameTokens(n *html.Node) (out []uint64) {
	for _, a := range n.Attr {
		switch a.Key {
		case "class", "id", "role", "itemprop":
			for _, w := range strings.FieldsFunc(strings.ToLower(a.Val[:min(len(a.Val), 200)]), func(r rune) bool { return r < 'a' || r > 'z' }) {
				if len(w) >= 3 && len(w) <= 24 && len(out) < 24 {
					h := uint64(fnvOffset)
					for i := range len(w) {
						h = (h ^ uint64(w[i])) * fnvPrime
					}
					out = append(out, h)
				}
			}
		}
	}
	return out
}
