package webtest

import (
	"slices"
	"time"
)

// Request is one request as the server saw it. URLs of the log are canonical if
// the client sent canonical ones.
type Request struct {
	Start time.Time // its header was read
	// End is the moment right before the last byte was handed to the system, so
	// that no client can have had it earlier: a gap measured from End is never
	// smaller than the client's own. Of a page longer than the body limit, the
	// byte at the limit counts. Of an answer that the client did not wait for, it
	// is the moment the server noticed.
	End time.Time

	Host      string // as asked for, without port
	IP        string // the server's own address
	Path      string // path and query as sent
	Status    int    // 0 where no answer was sent
	UserAgent string

	Failed  bool // the answer was made to fail: 429, 503, 500, cut, damaged
	Aborted bool // the client went away before the end
	Length  int  // bytes of the body
}

// url returns the URL that was asked for.
func (r *Request) url(w *Web) string { return w.origin(r.Host) + r.Path }

// Log returns all requests so far, in the order they ended.
func (w *Web) Log() []Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.log)
}

// Reset forgets the log and lets everything fail anew that fails at first: the
// next crawl meets the same web. No client may be at work.
func (w *Web) Reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log, w.kills = nil, nil
	clear(w.asked)
}

// Killed tells the web that the crawler was killed just now. What it was
// answered within the last second it may have forgotten, so Check does not ask
// it to have minded a Retry-After or a Crawl-delay of that second.
func (w *Web) Killed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kills = append(w.kills, time.Now())
}

// forgotten reports whether the crawler was killed within a second after end.
func (w *Web) forgotten(end time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i, _ := slices.BinarySearchFunc(w.kills, end, time.Time.Compare)
	return i < len(w.kills) && w.kills[i].Sub(end) < time.Second
}

func (w *Web) note(r *Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, *r)
}

// count returns how many requests for to there were before.
func (w *Web) count(to ref) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked[to]++
	return w.asked[to] - 1
}
