package fetch

import (
	"strings"
	"sync"
)

// origin is what a connection leads to: a scheme, and the host of a URL with its
// port as it stands there.
type origin struct{ scheme, host string }

// address is HOST:PORT, the port always written.
func (o origin) address() string {
	if strings.LastIndexByte(o.host, ':') > strings.LastIndexByte(o.host, ']') {
		return o.host
	}
	if o.scheme == "https" {
		return o.host + ":443"
	}
	return o.host + ":80"
}

// origins is a set of origins. It forgets all where it becomes too large; one
// connection more per origin is what that costs.
type origins struct {
	mu  sync.RWMutex
	set map[origin]struct{} // guarded by mu
}

const maxOrigins = 10_000

func (o *origins) has(at origin) bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	_, ok := o.set[at]
	return ok
}

func (o *origins) add(at origin) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.set == nil || len(o.set) >= maxOrigins {
		o.set = map[origin]struct{}{}
	}
	o.set[at] = struct{}{}
}

func (o *origins) remove(at origin) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.set, at)
}
