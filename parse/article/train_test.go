package article

import (
	"flag"
	"maps"
	"math"
	"math/rand"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"octopus/parse/classify"
	"octopus/parse/scan"
)

var train = flag.Bool("train", false, "train again and write content.model")

var settings = boosting{rounds: 200, depth: 5, rate: 0.06, lambda: 2, minWeight: 1, columns: 0.4, lines: 0.7}

// prepare cuts a page and asks the libraries about it.
func (l *labelled) prepare() {
	l.page = &page{}
	doc, err := parse(l.body, defaultMaxTree)
	if err != nil {
		return
	}
	o := consult(doc, base(l.URL), true)
	l.texts = o.texts
	var s scan.Page
	s.Scan(l.body)
	l.kind = classify.Page(&s, l.URL).Score
	l.page = cut(doc)
	l.hints = newHints(o, l.kind, typesOf(&s, l.URL))
}

// samples returns the blocks of the pages with what is known about them. Every
// page weighs about the same, as it does in the measures; articles twice.
func samples(all []*labelled) []sample {
	var out []sample
	for _, l := range all {
		tg := l.target()
		wanted := 0.0
		for i, b := range l.page.blocks {
			if tg[i] >= 0.5 {
				wanted += float64(len(b.words))
			}
		}
		for i := range l.rows {
			if tg[i] < 0 {
				continue
			}
			w := math.Min(20*float64(len(l.page.blocks[i].words))/(wanted+50), 20)
			if l.Text == "" {
				w = 1 // only snippets are known
			} else if l.Type == "article" {
				w *= 2
			}
			out = append(out, sample{l.rows[i], tg[i], w})
		}
	}
	return out
}

// learn trains a judgement on some pages. The lexicons know the pages they come
// from by heart, so each page sees them without what its own site said.
func (b boosting) learn(in []*labelled) *judgement {
	ev := collect(in)
	each(in, func(l *labelled) {
		l.rows = l.page.vectors(l.hints, ev.names.without(l.site), ev.words.without(l.site))
	})
	return &judgement{b.bag(samples(in)), ev.table()}
}

var sets = []string{"zyte", "wcxb", "magic", "newspaper4k", "traf"}

// TestTrain writes the model when asked to, from all labelled pages.
func TestTrain(t *testing.T) {
	if !*train {
		t.Skip("without -train the committed model is used")
	}
	all := labels(t, sets...)
	each(all, (*labelled).prepare)
	if err := os.WriteFile("content.model", settings.learn(all).encode(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestUnseenSites trains on three quarters of the sites and reads the rest, four
// times, and prints the gain of each step. It takes some minutes; the
// environment variable OCTOPUS_LONG asks for it.
func TestUnseenSites(t *testing.T) {
	if os.Getenv("OCTOPUS_LONG") == "" {
		t.Skip("long: set OCTOPUS_LONG")
	}
	all := labels(t, sets...)
	each(all, (*labelled).prepare)
	tables := map[string]*tally{}
	const folds = 4
	for k := range folds {
		var in, out []*labelled
		for _, l := range all {
			if fold(l.site, folds) == k {
				out = append(out, l)
			} else {
				in = append(in, l)
			}
		}
		j := settings.learn(in)
		each(out, func(l *labelled) { l.rows = l.page.vectors(l.hints, j.names.weigh, j.words.weigh) })
		for _, l := range out {
			for name, text := range l.steps(j.scores(l.rows)) {
				for _, group := range l.groups() {
					key := group + ": " + name
					if tables[key] == nil {
						tables[key] = &tally{}
					}
					tables[key].add(l, text)
				}
			}
		}
	}
	for _, k := range slices.Sorted(maps.Keys(tables)) {
		t.Log(k, tables[k])
	}
	for _, floor := range []struct {
		got, want float64
		name      string
	}{
		{tables["zyte: "+lastStep].shingles.f1(), 0.962, "zyte, shingles"},
		{tables["magic article Chinese: "+lastStep].shingles.f1(), 0.92, "Chinese articles, shingles"},
		{tables["traf: "+lastStep].snippets.f1(), 0.925, "trafilatura's snippets"},
		{tables["wcxb: "+lastStep].words / tables["wcxb: "+lastStep].pages, 0.835, "wcxb, words"},
	} {
		if floor.got < floor.want {
			t.Errorf("%s: %.3f, want %.3f", floor.name, floor.got, floor.want)
		}
	}
}

const lastStep = "5 kept once"

// steps returns what each step on the way to the result would answer.
func (l *labelled) steps(z []float64) map[string]string {
	line := make([]bool, len(z))
	for i := range line {
		line[i] = z[i] > 0
	}
	expected := l.page.likely(z)
	text := l.page.text(expected)
	l.page.once(expected)
	return map[string]string{
		"1 trafilatura": l.texts[0], "2 readability": l.texts[1], "2 distiller": l.texts[2], "3 forest, even odds": l.page.text(line),
		"4 by expected F1": text, lastStep: l.page.text(expected),
	}
}

// groups are the lines of the table that a page counts in.
func (l *labelled) groups() []string {
	all := []string{l.Set, l.Set + " " + l.Type}
	if han := han(l.Text); han > 50 && 4*han > len(strings.Fields(l.Text)) {
		all = append(all, l.Set+" "+l.Type+" Chinese")
	}
	return all
}

func han(s string) (n int) {
	for _, r := range s {
		if r >= 0x4E00 && r <= 0x9FFF {
			n++
		}
	}
	return n
}

// Gradient boosting with histograms, as much of it as is needed here.

type sample struct {
	row    []float32
	label  float64
	weight float64
}

type boosting struct {
	rounds, depth  int
	rate, lambda   float64
	minWeight      float64
	columns, lines float64 // shares of features and samples each tree sees
}

const bins = 64

type trainer struct {
	boosting
	samples []sample
	edges   [][]float32 // per feature
	codes   [][]uint8   // per feature and sample
	z       []float64
	gh      [][2]float64 // first and second derivative of the loss, per sample
	rng     *rand.Rand
	m       model
}

// bags is how many forests are trained, on other draws of features and samples;
// their mean errs less than each.
const bags = 2

// bag trains the forests and joins them to one.
func (b boosting) bag(samples []sample) *model {
	all := &model{}
	for k := range bags {
		m := b.train(samples, int64(k))
		at := int32(len(all.nodes))
		for _, r := range m.roots {
			all.roots = append(all.roots, r+at)
		}
		for _, n := range m.nodes {
			if n.left != 0 {
				n.left, n.right = n.left+at, n.right+at
			} else {
				n.threshold /= bags
			}
			all.nodes = append(all.nodes, n)
		}
	}
	return all
}

func (b boosting) train(samples []sample, seed int64) *model {
	t := &trainer{boosting: b, samples: samples, rng: rand.New(rand.NewSource(seed))}
	t.bin()
	n := len(samples)
	t.z, t.gh = make([]float64, n), make([][2]float64, n)
	for range b.rounds {
		for i, s := range samples {
			p := 1 / (1 + math.Exp(-t.z[i]))
			t.gh[i] = [2]float64{s.weight * (p - s.label), s.weight * math.Max(p*(1-p), 1e-4)}
		}
		t.tree()
	}
	return &t.m
}

func (t *trainer) bin() {
	width := len(t.samples[0].row)
	t.edges, t.codes = make([][]float32, width), make([][]uint8, width)
	for f := range width {
		vals := make([]float32, 0, 4000)
		step := max(1, len(t.samples)/4000)
		for i := 0; i < len(t.samples); i += step {
			vals = append(vals, t.samples[i].row[f])
		}
		sort.Slice(vals, func(a, b int) bool { return vals[a] < vals[b] })
		var e []float32
		for k := 1; k < bins; k++ {
			v := vals[k*len(vals)/bins]
			if len(e) == 0 || v > e[len(e)-1] {
				e = append(e, v)
			}
		}
		t.edges[f] = e
		t.codes[f] = make([]uint8, len(t.samples))
		for i, s := range t.samples {
			t.codes[f][i] = uint8(sort.Search(len(e), func(k int) bool { return s.row[f] <= e[k] }))
		}
	}
}

func (t *trainer) tree() {
	var idx []int32
	for i := range t.samples {
		if t.rng.Float64() < t.lines {
			idx = append(idx, int32(i))
		}
	}
	var cols []int
	for f := range t.edges {
		if t.rng.Float64() < t.columns {
			cols = append(cols, f)
		}
	}
	root := int32(len(t.m.nodes))
	t.m.roots = append(t.m.roots, root)
	t.grow(idx, cols, t.histogram(idx, cols), t.depth)
	one := model{nodes: t.m.nodes, roots: []int32{root}}
	var wg sync.WaitGroup
	for k := range 2 {
		wg.Go(func() {
			for i := k; i < len(t.samples); i += 2 {
				t.z[i] += one.score(t.samples[i].row)
			}
		})
	}
	wg.Wait()
}

// histogram is the gradients of some samples, by column and bin.
type histogram [][bins][2]float64

func (t *trainer) histogram(idx []int32, cols []int) histogram {
	out := make(histogram, len(cols))
	var wg sync.WaitGroup
	for part := range 2 {
		wg.Go(func() {
			for c := part; c < len(cols); c += 2 {
				codes, h := t.codes[cols[c]], &out[c]
				for _, i := range idx {
					b := &h[codes[i]]
					b[0] += t.gh[i][0]
					b[1] += t.gh[i][1]
				}
			}
		})
	}
	wg.Wait()
	return out
}

// without takes away what a part of the samples contributed.
func (h histogram) without(part histogram) histogram {
	for c := range h {
		for b := range h[c] {
			h[c][b][0] -= part[c][b][0]
			h[c][b][1] -= part[c][b][1]
		}
	}
	return h
}

// grow appends the tree for the samples and returns its root. It uses up hist.
func (t *trainer) grow(idx []int32, cols []int, hist histogram, depth int) int32 {
	G, H := 0.0, 0.0
	for _, i := range idx {
		G += t.gh[i][0]
		H += t.gh[i][1]
	}
	at := int32(len(t.m.nodes))
	t.m.nodes = append(t.m.nodes, treeNode{threshold: float32(-t.rate * G / (H + t.lambda))})
	if depth == 0 || H < 2*t.minWeight {
		return at
	}
	f, k := t.split(cols, hist, G, H)
	if f < 0 {
		return at
	}
	var l, r []int32
	for _, i := range idx {
		if int(t.codes[f][i]) <= k {
			l = append(l, i)
		} else {
			r = append(r, i)
		}
	}
	var hl, hr histogram
	switch {
	case depth == 1: // leaves need none
	case len(l) < len(r):
		hl = t.histogram(l, cols)
		hr = hist.without(hl)
	default:
		hr = t.histogram(r, cols)
		hl = hist.without(hr)
	}
	left := t.grow(l, cols, hl, depth-1)
	right := t.grow(r, cols, hr, depth-1)
	t.m.nodes[at] = treeNode{feature: int32(f), threshold: t.edges[f][k], left: left, right: right}
	return at
}

func (t *trainer) split(cols []int, hist histogram, G, H float64) (feature, bin int) {
	best := 1e-5
	feature = -1
	for c, f := range cols {
		gl, hl := 0.0, 0.0
		for k := range t.edges[f] {
			gl += hist[c][k][0]
			hl += hist[c][k][1]
			if hl < t.minWeight || H-hl < t.minWeight {
				continue
			}
			if gain := gl*gl/(hl+t.lambda) + (G-gl)*(G-gl)/(H-hl+t.lambda) - G*G/(H+t.lambda); gain > best {
				best, feature, bin = gain, f, k
			}
		}
	}
	return feature, bin
}
