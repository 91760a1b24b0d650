package article

import "math"

// secondLook returns the features of the second forest: those of the first and
// what the first thought of each block, of its neighbours, of the elements
// around it, of the blocks that the same template made, and of the whole page.
// So a paragraph between two paragraphs of the article stays, and a lone one
// amid clutter goes.
func (p *page) secondLook(rows [][]float32, z []float64) [][]float32 {
	n := len(p.blocks)
	out := make([][]float32, n)
	if n == 0 {
		return out
	}
	prob := make([]float64, n)
	elems := make([]mean, len(p.elems))
	groups := map[uint64]*mean{}
	var all mean
	for i := range p.blocks {
		b := &p.blocks[i]
		prob[i] = 1 / (1 + math.Exp(-z[i]))
		w := float64(len(b.words))
		for e := b.elem; e >= 0; e = p.elems[e].parent {
			elems[e].add(prob[i], w)
		}
		sig := p.elems[b.elem].sig
		if groups[sig] == nil {
			groups[sig] = &mean{}
		}
		groups[sig].add(prob[i], w)
		all.add(prob[i], w)
	}
	first, last := span(prob)
	at := func(i int) float32 {
		if i < 0 || i >= n {
			return -5
		}
		return f32(z[i])
	}
	for i := range p.blocks {
		b := &p.blocks[i]
		row := append([]float32(nil), rows[i]...)
		row = append(row, at(i), at(i-1), at(i+1), at(i-2), at(i+2), at(i-3), at(i+3),
			p.near(prob, i, 4), p.near(prob, i, 12), f32(groups[p.elems[b.elem].sig].value()), f32(all.value()),
			f32(all.sum), bit(i < first), bit(i > last), f32(float64(i-first)/float64(n)), f32(float64(last-i)/float64(n)))
		e := b.elem
		for range 5 {
			if e < 0 {
				row = append(row, -1)
				continue
			}
			row = append(row, f32(elems[e].value()))
			e = p.elems[e].parent
		}
		out[i] = row
	}
	return out
}

// mean is a weighted mean.
type mean struct{ sum, weight float64 }

func (m *mean) add(x, weight float64) {
	m.sum += x * weight
	m.weight += weight
}

func (m *mean) value() float64 { return m.sum / math.Max(m.weight, 1) }

// span returns the first and the last block that is more likely content than
// not.
func span(prob []float64) (first, last int) {
	first, last = len(prob), -1
	for i, x := range prob {
		if x > 0.5 {
			first, last = min(first, i), i
		}
	}
	return first, last
}

// near is the mean over the blocks up to d away.
func (p *page) near(prob []float64, i, d int) float32 {
	var m mean
	for j := max(0, i-d); j <= min(len(prob)-1, i+d); j++ {
		if j != i {
			m.add(prob[j], float64(len(p.blocks[j].words)))
		}
	}
	return f32(m.value())
}
