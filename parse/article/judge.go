package article

import (
	_ "embed"
	"math"
	"sort"
	"strings"
)

//go:embed content.model
var modelFile []byte

// trained are the two forests in content.model, made by
// go test ./parse/article -run TestTrain -train.
var trained = mustDecode(modelFile)

// forests are the two looks at a page: blocks on their own, then in the light
// of what the first look thought of those around.
type forests struct{ one, two *model }

// mustDecode panics on a file that is not ours: the build is broken then, and
// the package's tests say so.
func mustDecode(p []byte) *forests {
	f, err := decodeForests(p)
	if err != nil {
		panic(err)
	}
	return f
}

// newHints gathers what is known about a page beside its tree: what the
// libraries took for its text, its title, and the score of its kind.
func newHints(o *opinion, kind float64) *hints {
	h := &hints{title: shingleSet{}, kind: kind}
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
func (p *page) judge(f *forests, h *hints) []bool {
	rows := p.vectors(h)
	one := f.one.scores(rows)
	two := f.two.scores(p.secondLook(rows, one))
	return p.best(one, two, h.kind)
}

func (m *model) scores(rows [][]float32) []float64 {
	z := make([]float64, len(rows))
	for i, r := range rows {
		z[i] = m.score(r)
	}
	return z
}

// Of best: how the two looks are mixed, and how much more certain a block of an
// article has to be. Both were found on pages kept out of the training.
const (
	mixTwo = 0.7
	surer  = 0.5
)

// best keeps the set of blocks with the greatest expected F1, by words. A page
// where all is doubtful so keeps more than one where all is clear: a fixed line
// would leave lists of links empty.
func (p *page) best(one, two []float64, kind float64) []bool {
	shift := surer * truth(kind > 0)
	prob := make([]float64, len(one))
	order := make([]int, len(one))
	total := 0.0
	for i := range prob {
		prob[i] = 1 / (1 + math.Exp(shift-(1-mixTwo)*one[i]-mixTwo*two[i]))
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
