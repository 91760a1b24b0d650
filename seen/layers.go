package seen

import (
	"sync"
	"sync/atomic"
)

// layer is one filter of a set that grows, sized for its capacity.
type layer struct {
	*filter
	capacity int64
	err      float64 // error rate at capacity
	count    atomic.Int64
	saved    int64        // count when it was written to disk; the snapshot's alone
	flush    func() error // of a mapped file: writes it back; nil otherwise
}

// layers is a Bloom filter that grows instead of saturating. Up to the capacity
// it was made for it is one filter with the error rate asked for. Past that a
// layer of twice the capacity and half the error is put on top, and so on: all
// together err with less than twice the rate.
type layers struct {
	list   atomic.Pointer[[]*layer]   // at least one; the last one takes new keys
	growth sync.Mutex                 // serializes grow
	build  func(number int, l *layer) // gives a layer its filter
}

// sizing is the capacity and the error rate of the first layer.
type sizing struct {
	capacity  int64
	errorRate float64
}

// newLayers returns layers with an empty first one.
func newLayers(s sizing, build func(int, *layer)) *layers {
	ls := &layers{build: build}
	first := &layer{capacity: s.capacity, err: s.errorRate}
	build(0, first)
	ls.list.Store(&[]*layer{first})
	return ls
}

// inMemory gives a layer a filter on the heap.
func inMemory(_ int, l *layer) {
	kind, perKey := pick(l.err)
	l.filter = newFilter(kind, linesFor(l.capacity, perKey))
}

func (ls *layers) all() []*layer { return *ls.list.Load() }

func (ls *layers) has(fp uint64) bool {
	for _, l := range ls.all() {
		if l.has(fp) {
			return true
		}
	}
	return false
}

// add puts fp into the last layer, unless an earlier one has it, and reports
// whether every layer lacked it. Of many goroutines that add one fingerprint at
// once, at most one hears true: where a layer came on top meanwhile, whoever saw
// it may have put fp there, so that it decides.
func (ls *layers) add(fp uint64) bool {
	all := ls.all()
	for _, l := range all[:len(all)-1] {
		if l.has(fp) {
			return false
		}
	}
	for n := len(all); ; n++ {
		l := all[n-1]
		if !l.add(fp) {
			return false
		}
		if all = ls.all(); len(all) == n {
			if l.count.Add(1) > l.capacity {
				ls.grow(l)
			}
			return true
		}
	}
}

// fill adds many.
func (ls *layers) fill(fps []uint64) {
	for at := 0; at < len(fps); at += group {
		part := fps[at:min(at+group, len(fps))]
		ls.touch(part)
		for _, fp := range part {
			ls.add(fp)
		}
	}
}

func (ls *layers) touch(fps []uint64) (sum uint64) {
	for _, l := range ls.all() {
		sum += l.touch(fps)
	}
	return sum
}

// grow puts a layer on top of full, unless somebody did.
func (ls *layers) grow(full *layer) {
	ls.growth.Lock()
	defer ls.growth.Unlock()
	all := ls.all()
	if all[len(all)-1] != full {
		return
	}
	next := &layer{capacity: 2 * full.capacity, err: full.err / 2}
	ls.build(len(all), next)
	more := append(all[:len(all):len(all)], next)
	ls.list.Store(&more)
}

// Fill is how full a filter is.
type Fill struct {
	Capacity  int64   // keys of its first layer
	Keys      int64   // keys recorded; those taken for known are not counted
	Layers    int     // 1 until it grew
	Bytes     int64   // in memory
	ErrorRate float64 // measured: the error that the bits set now amount to
}

// stats looks at every layer; it reads up to a million lines of each.
func (ls *layers) stats() Fill {
	all := ls.all()
	f := Fill{Capacity: all[0].capacity, Layers: len(all)}
	ok := 1.0
	for _, l := range all {
		f.Keys += l.count.Load()
		f.Bytes += l.bytes()
		ok *= 1 - l.measuredError()
	}
	f.ErrorRate = 1 - ok
	return f
}
