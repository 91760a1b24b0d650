package node

import (
	"context"
	"errors"
	"iter"

	"octopus"
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
		n, err := Open(cfg, Options{})
		left := false
		if err == nil {
			left, err = n.yieldAll(ctx, url, yield)
		}
		if err != nil && !left {
			yield(nil, err)
		}
	}
}

// yieldAll runs the crawl, yields its records and closes the node, also where
// the body of the loop panics. left tells that the loop was left, so that
// nothing may be yielded any more.
func (n *Node) yieldAll(ctx context.Context, url string, yield func(*octopus.Record, error) bool) (left bool, err error) {
	records := make(chan *octopus.Record)
	n.observer.record = func(rec *octopus.Record) { records <- rec }
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
