package render

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
)

// Part is a request that a page's scripts made of a site. What the browser had
// in its cache is none.
type Part struct {
	URL        string
	Start, End time.Time // End is that of the page where the answer did not end before
	Status     int       // 0 where there was no answer
	Bytes      int64     // received, headers included
}

// parts keeps the requests of a page. Its methods may be called by many
// goroutines at once.
type parts struct {
	mu   sync.Mutex
	list []Part                    // guarded by mu, in the order of Start
	open map[network.RequestID]int // guarded by mu: where those without an end stand in list
}

// begin notes a request that is let through. The next one with the same ID is
// where a redirect led.
func (p *parts) begin(ev *fetch.EventRequestPaused, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finish(ev.NetworkID, 0, now)
	if p.open == nil {
		p.open = map[network.RequestID]int{}
	}
	p.open[ev.NetworkID] = len(p.list)
	url, _, _ := strings.Cut(ev.Request.URL, "#")
	p.list = append(p.list, Part{URL: url, Start: now})
}

// event takes in what the browser tells of requests under way.
func (p *parts) event(ev any, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch ev := ev.(type) {
	case *network.EventRequestWillBeSent:
		if ev.RedirectResponse != nil {
			p.status(ev.RequestID, ev.RedirectResponse)
		}
	case *network.EventResponseReceived:
		p.status(ev.RequestID, ev.Response)
	case *network.EventRequestServedFromCache:
		p.cached(ev.RequestID)
	case *network.EventLoadingFinished:
		p.finish(ev.RequestID, int64(ev.EncodedDataLength), now)
	case *network.EventLoadingFailed:
		p.finish(ev.RequestID, 0, now)
	}
}

// status notes an answer. The caller holds mu, as in all below.
func (p *parts) status(id network.RequestID, r *network.Response) {
	if r.FromDiskCache {
		p.cached(id)
	} else if i, ok := p.open[id]; ok {
		p.list[i].Status = int(r.Status)
	}
}

// cached forgets a request that never left the browser: its URL is emptied.
func (p *parts) cached(id network.RequestID) {
	if i, ok := p.open[id]; ok {
		p.list[i].URL = ""
		delete(p.open, id)
	}
}

func (p *parts) finish(id network.RequestID, bytes int64, now time.Time) {
	if i, ok := p.open[id]; ok {
		p.list[i].End, p.list[i].Bytes = now, bytes
		delete(p.open, id)
	}
}

// close ends what is under way and returns all requests that left the browser.
func (p *parts) close(now time.Time) []Part {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, i := range p.open {
		p.list[i].End = now
	}
	clear(p.open)
	return slices.DeleteFunc(slices.Clone(p.list), func(q Part) bool { return q.URL == "" })
}
