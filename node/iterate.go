package node

import (
	"context"
	"errors"
	"iter"
	"sync"

	"octopus"
	"octopus/frontier"
	"octopus/kv"
)

// Crawl crawls from a URL and yields the record of every visit as it is
// committed. It is the library's face: a Config, a loop.
//
//	for page, err := range node.Crawl(ctx, "https://example.com/", node.DefaultConfig()) { … }
//
// An error is yielded last, with a nil record. Leaving the loop drains the
// crawl; what was fetched stays in Config.Dir, and the next Crawl goes on there.
// While the body of the loop works, at most the pages in flight wait for it.
func Crawl(ctx context.Context, url string, cfg Config) iter.Seq2[*octopus.Record, error] {
	return func(yield func(*octopus.Record, error) bool) {
		ended := &endedVisits{waiting: map[*octopus.Record]bool{}}
		n, err := Open(cfg, Options{ended: ended})
		left := false
		if err == nil {
			left, err = n.yieldAll(ctx, url, ended, yield)
		}
		if err != nil && !left {
			yield(nil, err)
		}
	}
}

// yieldAll runs the crawl, yields its records and closes the node, also where
// the body of the loop panics. left tells that the loop was left, so that
// nothing may be yielded any more.
func (n *Node) yieldAll(ctx context.Context, url string, visits *endedVisits, yield func(*octopus.Record, error) bool) (left bool, err error) {
	records := make(chan *octopus.Record)
	n.observer.record = func(rec *octopus.Record) {
		if visits.take(rec) {
			records <- rec
		}
	}
	ended := make(chan error, 1)
	go func() {
		_, err := n.Run(ctx, []string{url})
		close(records)
		ended <- err
	}()
	defer func() {
		n.Drain() // and take what is still in flight
		for range records {
		}
		err = errors.Join(<-ended, n.Close())
	}()
	for rec := range records {
		if !yield(rec, nil) {
			return true, nil
		}
	}
	return false, nil
}

// endedVisits tells which records are those of visits that ended: an attempt
// that is made again has one too, and a robots.txt that failed. The frontier
// tells it as it tells an outbox, before the outcome is observed.
type endedVisits struct {
	outbox  frontier.Outbox // gets the records, too; nil without outputs
	mu      sync.Mutex
	waiting map[*octopus.Record]bool // guarded by mu; not taken yet
}

// Append implements frontier.Outbox.
func (e *endedVisits) Append(b *kv.Batch, rec *octopus.Record) error {
	e.add(rec)
	if e.outbox == nil {
		return nil
	}
	return e.outbox.Append(b, rec)
}

func (e *endedVisits) add(rec *octopus.Record) {
	if rec.Skip != "" {
		return // nobody visited it
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting[rec] = true
}

// take reports whether the visit of rec ended, once.
func (e *endedVisits) take(rec *octopus.Record) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	ok := e.waiting[rec]
	delete(e.waiting, rec)
	return ok
}
