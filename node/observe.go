package node

import (
	"maps"
	"sync"
	"time"

	"octopus"
	"octopus/parse"
)

// observer adds up outcomes for Status.
type observer struct {
	mu sync.Mutex
	st Status // guarded by mu

	offered int64         // guarded by mu: links offered to the gate in this run
	parser  *parse.Parser // guarded by mu; of this run
	// known is the frontier's number of URLs when the run began. Set before the
	// run.
	known int64

	// record is given the record of each visit that ended; nil if nobody wants
	// them. Set before the run.
	record func(*octopus.Record)
}

func newObserver(start time.Time) *observer {
	return &observer{st: Status{Start: start, Errors: map[string]int64{}, Skipped: map[string]int64{}}}
}

// observe adds one outcome. It is crawl.Options.Observe.
func (ob *observer) observe(o octopus.Outcome, p *octopus.Page, v octopus.Verdict) {
	if o.Deferred {
		return
	}
	ob.count(o, p)
	if ob.record != nil && o.Record != nil && v.Code == octopus.Accepted {
		ob.record(o.Record)
	}
}

func (ob *observer) count(o octopus.Outcome, p *octopus.Page) {
	ob.mu.Lock()
	defer ob.mu.Unlock()
	st := &ob.st
	ob.offered += int64(len(o.Links))
	if !o.NoRequest {
		st.Fetches++
		st.Bytes += p.Wire
	}
	if o.Lease.Purpose == octopus.Relink || o.Lease.Purpose == octopus.FetchRobots && o.Err == nil {
		return
	}
	st.Last = Visit{URL: o.Lease.Link.URL.Text, Status: o.Status, Took: o.End.Sub(o.Start)}
	switch {
	case o.Err != nil:
		st.Class[0]++
		st.Errors[o.Err.Kind.String()]++
		st.Last.Error = o.Err.Error()
	case o.Status >= 100 && o.Status < 600:
		st.Class[o.Status/100]++
	}
	if o.Record != nil {
		st.Last.Title = o.Record.Title
	}
	if o.Err == nil && o.Status/100 == 2 {
		st.Pages++
	}
}

// parsesWith has the snapshots tell what the parser of a run was saved and what
// it left out.
func (ob *observer) parsesWith(p *parse.Parser) {
	ob.mu.Lock()
	defer ob.mu.Unlock()
	ob.parser = p
}

// offer counts links that were offered outside of an outcome.
func (ob *observer) offer(links int) {
	ob.mu.Lock()
	defer ob.mu.Unlock()
	ob.offered += int64(links)
}

// knownAgain is how many of the links offered were neither rejected nor new.
func (ob *observer) knownAgain(now octopus.Counts, rejected int64) int64 {
	ob.mu.Lock()
	defer ob.mu.Unlock()
	return max(ob.offered-rejected-(now.Known-ob.known), 0)
}

// snapshot returns a copy the caller may keep.
func (ob *observer) snapshot() Status {
	ob.mu.Lock()
	defer ob.mu.Unlock()
	st := ob.st
	st.Errors, st.Skipped = maps.Clone(st.Errors), maps.Clone(st.Skipped)
	if ob.parser == nil {
		return st
	}
	st.Saved = ob.parser.Saved()
	if n := ob.parser.Dropped(); n > 0 {
		st.Skipped[skippedSurplus] = n
	}
	return st
}
