package seen

import (
	"cmp"
	"slices"

	"octopus"
)

// merger compares what was collected with what was met before.
type merger struct {
	c     *collected
	fresh Fresh
	at    int      // the next entry to compare
	told  []entry  // fresh ones
	new   []uint64 // their fingerprints
}

// compare takes the next fingerprint of the file.
func (m *merger) compare(fp uint64) error {
	m.until(fp)
	for m.at < len(m.c.entries) && m.c.entries[m.at].fp == fp {
		m.at++
	}
	return nil
}

// until takes the entries below fp: they are fresh, each fingerprint once.
func (m *merger) until(fp uint64) {
	for m.at < len(m.c.entries) && m.c.entries[m.at].fp < fp {
		m.take()
	}
}

func (m *merger) take() {
	if e := m.c.entries[m.at]; len(m.new) == 0 || m.new[len(m.new)-1] != e.fp {
		m.told = append(m.told, e)
		m.new = append(m.new, e.fp)
	}
	m.at++
}

// tellKeys is the number of fresh keys told at once.
const tellKeys = 1000

// tell gives the fresh keys to the user, in the order they were offered.
func (m *merger) tell() error {
	for m.at < len(m.c.entries) {
		m.take()
	}
	slices.SortFunc(m.told, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
	for part := range slices.Chunk(m.told, tellKeys) {
		keys, payloads := make([]octopus.Key, len(part)), make([][]byte, len(part))
		for i, e := range part {
			keys[i], payloads[i] = m.c.keys[e.at], m.c.payloads[e.at]
		}
		if err := m.fresh(keys, payloads); err != nil {
			return err
		}
	}
	return nil
}

// sortEntries orders entries by fingerprint; of equal ones the first offered
// comes first. Fingerprints are uniform, so spreading them by their top bits
// leaves short pieces that are sorted in the cache.
func sortEntries(all []entry) []entry {
	const top = 12
	var at [1<<top + 1]int
	for _, e := range all {
		at[e.fp>>(64-top)+1]++
	}
	for i := range 1 << top {
		at[i+1] += at[i]
	}
	begin, sorted := at, make([]entry, len(all))
	for _, e := range all {
		i := e.fp >> (64 - top)
		sorted[at[i]] = e
		at[i]++
	}
	for i := range 1 << top {
		slices.SortFunc(sorted[begin[i]:begin[i+1]], func(a, b entry) int {
			if a.fp != b.fp {
				return cmp.Compare(a.fp, b.fp)
			}
			return cmp.Compare(a.at, b.at)
		})
	}
	return sorted
}
