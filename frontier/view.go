package frontier

import (
	"context"
	"slices"

	"octopus"
)

// View is a Frontier for one fetcher: it leases from the buckets that are dealt
// to it. Buckets are dealt anew whenever a fetcher attaches or detaches; what a
// view was dealt is never empty while there are as many buckets as fetchers.
type View struct {
	*Frontier
	name string
}

var _ octopus.Frontier = (*View)(nil)

// Attach returns the view of a fetcher. The same name shares one view's buckets.
// Detach ends it.
func (f *Frontier) Attach(name string) *View {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.views = append(f.views, name)
	slices.Sort(f.views)
	f.changed()
	return &View{f, name}
}

// Detach gives the buckets of the view to the others. Outcomes of its leases are
// still taken.
func (v *View) Detach() {
	f := v.Frontier
	f.mu.Lock()
	defer f.mu.Unlock()
	if i, ok := slices.BinarySearch(f.views, v.name); ok {
		f.views = slices.Delete(f.views, i, i+1)
	}
	f.changed()
}

// Lease is Frontier.Lease for the buckets of the view.
func (v *View) Lease(ctx context.Context, most int) ([]octopus.Lease, error) {
	return v.Frontier.lease(ctx, most, v.buckets)
}

// Buckets returns the buckets that are dealt to the view now.
func (v *View) Buckets() []int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.buckets()
}

// buckets deals: bucket i goes to fetcher i mod the number of fetchers. The
// caller holds mu.
func (v *View) buckets() served {
	names := slices.Compact(slices.Clone(v.views))
	set := served{}
	at, ok := slices.BinarySearch(names, v.name)
	for i := at; ok && i < v.opt.Buckets.Count; i += len(names) {
		set = append(set, i)
	}
	return set
}
