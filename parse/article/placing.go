package article

import (
	"math"
	"strings"
)

// Headings and the like that begin what does not belong to the content, lower
// case.
var asides = []string{"related", "recommend", "you may", "you might", "also like", "read more", "more from", "more in", "see also", "most read", "most popular", "popular", "trending", "latest",
	"comments", "leave a", "reply", "share", "follow us", "newsletter", "subscribe", "sign up", "tags", "categories", "archives", "about the author", "advertisement", "sponsored", "next article", "previous", "customer reviews", "recently viewed",
	"mehr zum", "kommentare", "auch interessant", "lesen sie auch", "à lire", "commentaires", "lire aussi", "leia", "comentarios", "leggi anche",
	"相关", "推荐", "热门", "评论", "分享", "最新", "排行", "猜你", "更多", "责任编辑", "关注", "关连", "関連", "おすすめ", "ランキング", "コメント", "관련", "추천"}

// placing is where a block stands: below which heading, and among which others
// of its text and template.
type placing struct {
	heading int // index of the nearest heading before the block, -1 for none
	before  int // blocks with the same text before
	same    int // blocks with the same text in all
	rank    int // place among those of its template
	first   int // first block of its template
	last    int // last one
}

// placings returns the placing of every block.
func (p *page) placings() []placing {
	out := make([]placing, len(p.blocks))
	texts := map[string]int{}
	type group struct{ n, first, last int }
	groups := map[uint64]*group{}
	heading := -1
	for i := range p.blocks {
		b := &p.blocks[i]
		out[i].before = texts[b.text]
		texts[b.text]++
		out[i].heading = heading
		if b.ctx.within&inHeading != 0 {
			heading = i
		}
		sig := p.elems[b.elem].sig
		g := groups[sig]
		if g == nil {
			g = &group{first: i}
			groups[sig] = g
		}
		out[i].rank = g.n
		g.n++
		g.last = i
	}
	for i := range p.blocks {
		out[i].same = texts[p.blocks[i].text]
		g := groups[p.elems[p.blocks[i].elem].sig]
		out[i].first, out[i].last = g.first, g.last
	}
	return out
}

// placedWidth is how many features placed returns.
const placedWidth = 9

// placed are the features of a placing.
func (p *page) placed(i int, pl *placing) []float32 {
	aside := bit(beginsAside(p.blocks[i].text))
	n := float64(len(p.blocks))
	row := []float32{f32(math.Log1p(float64(pl.before))), f32(math.Log1p(float64(pl.same))), f32(math.Log1p(float64(pl.rank))),
		f32(float64(pl.last-pl.first) / n), f32(float64(i-pl.first) / n)}
	if pl.heading < 0 {
		return append(row, -1, 0, 0, aside)
	}
	h := &p.blocks[pl.heading]
	return append(row, f32(math.Log1p(float64(i-pl.heading))), bit(beginsAside(h.text)), tagClass[h.ctx.tag], aside)
}

// beginsAside reports whether a text speaks of what is no part of the content.
func beginsAside(s string) bool { return containsAny(strings.ToLower(s[:min(len(s), 60)]), asides) }
