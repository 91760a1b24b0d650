package article

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hints are what is known about a page beside its tree.
type hints struct {
	taken [libraries]shingleSet // what each library took for the article
	title shingleSet
	kind  float64 // score of the classifier: positive for data pages
	types [typeWidth]float32
}

// vectors returns one row of features per block; see the names in the code for
// their meaning. The order is that of the committed model: append only, and
// train again.
func (p *page) vectors(h *hints, names, words weigh) [][]float32 {
	rows := make([][]float32, len(p.blocks))
	if len(p.blocks) == 0 {
		return rows
	}
	g := p.gather(h)
	own := make([][]float32, len(p.blocks))
	for i := range p.blocks {
		own[i] = p.own(i, g)
	}
	pl := p.placings()
	for i := range p.blocks {
		row := append([]float32(nil), own[i]...)
		row = append(row, p.around(i, g)...)
		row = append(row, p.evidenceOf(i, names, words)...)
		row = append(row, p.placed(i, &pl[i])...)
		row = append(row, h.types[:]...)
		row = append(row, g.cjk)
		for _, d := range [...]int{-2, -1, 1, 2} {
			row = append(row, neighbour(own, i+d)...)
		}
		rows[i] = row
	}
	return rows
}

// neighbourhood are the first features of own, which the neighbours show too.
const neighbourhood = 9

func neighbour(own [][]float32, i int) []float32 {
	if i < 0 || i >= len(own) {
		return make([]float32, neighbourhood)
	}
	return own[i][:neighbourhood]
}

// global is what the blocks of a page have in common.
type global struct {
	hints        *hints
	words, links int
	taken        [libraries][]float32 // share of each block in each library's text
	sizes        [libraries]float64   // words each took
	agree        float64
	before       []int // words before each block
	group        map[uint64]*group
	cjk          float32 // share of words that are Chinese, Japanese or Korean characters
	best         int     // element with the best score
	head         int     // first h1, or -1
}

type group struct{ n, words, links int }

func (p *page) gather(h *hints) *global {
	g := &global{hints: h, group: map[uint64]*group{}, best: -1, head: -1}
	both, either := 0.0, 0.0
	cjk := 0
	for i := range p.blocks {
		b := &p.blocks[i]
		g.before = append(g.before, g.words)
		g.words += len(b.words)
		g.links += b.links
		cjk += cjkChars(b.text)
		n := float64(len(b.words))
		least, most := 1.0, 0.0
		for k := range h.taken {
			share := h.taken[k].share(b.words)
			g.taken[k] = append(g.taken[k], f32(share))
			g.sizes[k] += share * n
			least, most = min(least, share), max(most, share)
		}
		both += least * n
		either += most * n
		sig := p.elems[b.elem].sig
		gr := g.group[sig]
		if gr == nil {
			gr = &group{}
			g.group[sig] = gr
		}
		gr.n++
		gr.words += len(b.words)
		gr.links += b.links
		if g.head < 0 && b.ctx.tag == "h1" {
			g.head = i
		}
	}
	g.cjk = f32(float64(cjk) / float64(max(g.words, 1)))
	g.agree = both / math.Max(either, 1)
	top := 0.0
	for e := range p.elems {
		el := &p.elems[e]
		if s := el.score * (1 - float64(el.links)/float64(max(el.words, 1))); s > top {
			top, g.best = s, e
		}
	}
	return g
}

var tagClass = map[string]float32{"p": 1, "h1": 2, "h2": 3, "h3": 4, "h4": 4, "h5": 4, "h6": 4, "li": 5, "td": 6, "th": 7, "div": 8, "pre": 9, "blockquote": 10,
	"dt": 11, "dd": 12, "figcaption": 13, "button": 14, "option": 15, "section": 16, "article": 17}

// own are the features of the block itself.
func (p *page) own(i int, g *global) []float32 {
	b := &p.blocks[i]
	n := float64(len(b.words))
	t := textShape(b.text)
	row := []float32{
		f32(math.Log1p(n)), f32(float64(b.links) / n), g.taken[0][i], g.taken[1][i], g.taken[2][i], bit(b.ctx.within&inHeading != 0), t.sentence, t.marks, tagClass[b.ctx.tag],
		f32(g.hints.title.share(b.words)), t.upper, t.digits, t.long, t.copyright, t.end, t.punct,
		float32(b.ctx.good), float32(b.ctx.bad), float32(b.ctx.nearG), float32(b.ctx.nearB), float32(b.ctx.depth),
	}
	for bits := uint32(1); bits <= inHeading; bits <<= 1 {
		row = append(row, bit(b.ctx.within&bits != 0))
	}
	return row
}

// around are the features of the place of the block in the page.
func (p *page) around(i int, g *global) []float32 {
	b := &p.blocks[i]
	total := float64(g.words)
	gr := g.group[p.elems[b.elem].sig]
	row := []float32{
		f32(float64(i) / float64(len(p.blocks))), f32(float64(g.before[i]) / total), f32(math.Log1p(float64(gr.n))),
		f32(float64(gr.words) / float64(gr.n)), f32(float64(gr.links) / float64(gr.words)),
		f32(math.Log1p(total)), f32(float64(g.links) / total), f32(g.sizes[0] / total), f32(g.sizes[1] / total), f32(g.sizes[2] / total), f32(g.agree),
		f32(g.hints.kind), f32(float64(i-g.head) * truth(g.head >= 0) / float64(len(p.blocks))), f32(p.reach(b.elem, g.best)),
		f32(math.Log1p(float64(len(p.blocks)))),
	}
	e := b.elem
	for range 5 {
		if e < 0 {
			row = append(row, 0, 0, 0)
			continue
		}
		el := &p.elems[e]
		w := float64(max(el.words, 1))
		row = append(row, f32(math.Log1p(w)), f32(float64(el.links)/w), f32(w/float64(max(el.blocks, 1))))
		e = el.parent
	}
	return append(row, p.window(i, g.taken[0]), p.window(i, g.taken[1]), p.window(i, g.taken[2]))
}

// window is the share that a library took of the ten blocks around.
func (p *page) window(i int, share []float32) float32 {
	sum, n := float32(0), float32(0)
	for j := max(0, i-5); j <= min(len(p.blocks)-1, i+5); j++ {
		w := float32(len(p.blocks[j].words))
		sum += share[j] * w
		n += w
	}
	return sum / max(n, 1)
}

// reach returns how many levels above e the first common ancestor with the best
// element is, less than 0 where there is no best element.
func (p *page) reach(e, best int) float64 {
	if best < 0 {
		return -1
	}
	up := map[int]bool{}
	for x := best; x >= 0; x = p.elems[x].parent {
		up[x] = true
	}
	// Count on the side of the best element: 0 means e lies in it.
	for e >= 0 && !up[e] {
		e = p.elems[e].parent
	}
	n := 0.0
	for x := best; x >= 0 && x != e; x = p.elems[x].parent {
		n++
	}
	return n
}

// shape is what the characters of a text look like.
type shape struct {
	sentence, marks, upper, digits, long, copyright, end, punct float32
}

func textShape(s string) shape {
	var t shape
	var letters, upper, digits, marks, punct, spaces, cjk float64
	for _, r := range s {
		switch {
		case unicode.IsUpper(r):
			upper++
			letters++
		case isCJK(r):
			cjk++
			letters++
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			digits++
		case r == ' ':
			spaces++
		case strings.ContainsRune(",.;!?。，、；！？", r):
			marks++
		case r == '©':
			t.copyright = 1
		default:
			punct++
		}
	}
	n := float64(utf8.RuneCountInString(s)) + 1
	t.marks = f32(math.Log1p(marks))
	t.upper = f32(upper / (letters + 1))
	t.digits = f32(digits / n)
	t.punct = f32(punct / n)
	t.long = f32((letters - cjk) / (spaces + 1))
	last, _ := utf8.DecodeLastRuneInString(s)
	t.end = bit(strings.ContainsRune(".!?。！？…”\"", last))
	t.sentence = bit(marks > 0 && n > 30)
	return t
}

func f32(x float64) float32 { return float32(x) }

func bit(b bool) float32 {
	if b {
		return 1
	}
	return 0
}

func truth(b bool) float64 { return float64(bit(b)) }
