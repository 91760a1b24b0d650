package canon

import (
	"hash/maphash"

	"octopus"
)

// table holds URLs by their texts, the last one of each slot. A text decides
// everything else of a URL, so what was made for one page is right on another.
type table struct {
	seed maphash.Seed
	urls [1 << 12]octopus.URL
}

func newTable() *table { return &table{seed: maphash.MakeSeed()} }

// slot returns the place of a text; who finds another URL there may replace it.
func (t *table) slot(text []byte) *octopus.URL {
	return &t.urls[maphash.Bytes(t.seed, text)%uint64(len(t.urls))]
}
