package seen

// Filter lets the tests of the layouts at a filter itself.
type Filter struct{ *filter }

// NewTestFilter returns a filter of n keys at so many bits each.
func NewTestFilter(twoLines bool, n int64, bitsPerKey float64) Filter {
	l := split8
	if twoLines {
		l = twoLine16
	}
	return Filter{newFilter(l, linesFor(n, bitsPerKey))}
}

// Add, Has, Formula and Measured are the filter's own.
func (f Filter) Add(fp uint64) bool { return f.add(fp) }
func (f Filter) Has(fp uint64) bool { return f.has(fp) }
func (f Filter) Measured() float64  { return f.measuredError() }
func Formula(twoLines bool, bitsPerKey float64) float64 {
	if twoLines {
		return twoLine16.err(bitsPerKey)
	}
	return split8.err(bitsPerKey)
}

// Mix is the hash finalizer.
func Mix(h uint64) uint64 { return mix(h) }
