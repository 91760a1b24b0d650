package article

import (
	_ "embed"
	"math"
	"slices"
	"sort"
	"strings"
)

//go:embed content.model
var modelFile []byte

// trained is what lies in content.model, made by
// go test ./parse/article -run TestTrain -train.
var trained = mustDecode(modelFile)

// judgement is a forest with the lexicons that some of its features come from.
type judgement struct {
	*model
	evidence
}

// mustDecode panics on a file that is not ours: the build is broken then, and
// the package's tests say so.
func mustDecode(p []byte) *judgement {
	j, err := decodeJudgement(p)
	if err != nil {
		panic(err)
	}
	return j
}

// newHints gathers what is known about a page beside its tree: what the
// libraries took for its text, its title, and the score of its kind.
func newHints(o *opinion, kind float64, types [typeWidth]float32) *hints {
	h := &hints{title: shingleSet{}, kind: kind, types: types}
	for k, text := range o.texts {
		h.taken[k] = shingleSet{}
		for line := range strings.Lines(text) {
			h.taken[k].add(tokens(line, nil))
		}
	}
	h.title.add(tokens(o.meta.Title, nil))
	return h
}

// judge returns for each block whether it is content.
func (p *page) judge(j *judgement, h *hints) []bool {
	return p.best(j.scores(p.vectors(h, j.names.weigh, j.words.weigh)))
}

func (m *model) scores(rows [][]float32) []float64 {
	z := make([]float64, len(rows))
	for i, r := range rows {
		z[i] = m.score(r)
	}
	return z
}

// best returns which blocks are kept, from their log odds.
func (p *page) best(z []float64) []bool {
	keep := p.likely(z)
	p.once(keep)
	return keep
}

// likely keeps the set of blocks with the greatest expected F1, by words. A page
// where all is doubtful so keeps more than one where all is clear: a fixed line
// would leave lists of links empty.
func (p *page) likely(z []float64) []bool {
	prob := make([]float64, len(z))
	order := make([]int, len(z))
	total := 0.0
	for i := range prob {
		prob[i] = 1 / (1 + math.Exp(-z[i]))
		order[i] = i
		total += prob[i] * float64(len(p.blocks[i].words))
	}
	sort.SliceStable(order, func(a, b int) bool { return prob[order[a]] > prob[order[b]] })
	top, line, hits, size := -1.0, 2.0, 0.0, 0.0
	for _, i := range order {
		w := float64(len(p.blocks[i].words))
		hits += prob[i] * w
		size += w
		if f := 2 * hits / (size + total); f > top {
			top, line = f, prob[i]
		}
	}
	keep := make([]bool, len(prob))
	for i := range keep {
		keep[i] = prob[i] >= line
	}
	return keep
}

// Of once: texts of onceWords words and more are kept once, where onceShare of
// their shingles were kept already.
const (
	onceWords = 8
	onceShare = 0.9
)

// once drops what was kept before: pages hold their text again for small
// screens, for printing, and in boxes that open.
func (p *page) once(keep []bool) {
	met := shingleSet{}
	var tail []uint64 // last words kept, as a piece may go on in the next
	for i := range p.blocks {
		b := &p.blocks[i]
		if !keep[i] || len(b.words) < onceWords {
			continue
		}
		if met.share(b.words) >= onceShare {
			keep[i] = false
			continue
		}
		met.add(append(tail, b.words...))
		tail = slices.Clone(b.words[len(b.words)-shingleWidth+1:])
	}
}
