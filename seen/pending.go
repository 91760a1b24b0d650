package seen

import "sync"

// pending holds the fingerprints that Add has called fresh and that are not
// committed. It makes one of many adders the first, and keeps what may never
// commit out of anything that is written to disk. Its size is what is on its
// way: tens of thousands at most.
type pending struct {
	parts [64]struct {
		mu  sync.Mutex // guards set
		set map[uint64]struct{}
	}
}

func newPending() *pending {
	p := &pending{}
	for i := range p.parts {
		p.parts[i].set = map[uint64]struct{}{}
	}
	return p
}

// add reports whether fp was not there.
func (p *pending) add(fp uint64) bool {
	part := &p.parts[fp%64]
	part.mu.Lock()
	defer part.mu.Unlock()
	if _, ok := part.set[fp]; ok {
		return false
	}
	part.set[fp] = struct{}{}
	return true
}

func (p *pending) has(fp uint64) bool {
	part := &p.parts[fp%64]
	part.mu.Lock()
	defer part.mu.Unlock()
	_, ok := part.set[fp]
	return ok
}

func (p *pending) remove(fp uint64) {
	part := &p.parts[fp%64]
	part.mu.Lock()
	defer part.mu.Unlock()
	delete(part.set, fp)
}
