package node

import (
	"context"
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
		if err != nil {
			yield(nil, err)
			return
		}
		if err := n.yieldAll(ctx, url, yield); err != nil {
			n.Close()
			yield(nil, err)
			return
		}
		if err := n.Close(); err != nil {
			yield(nil, err)
		}
	}
}

// yieldAll runs the crawl and yields its records. The returned error has not
// been yielded; it is nil if the loop was left.
func (n *Node) yieldAll(ctx context.Context, url string, yield func(*octopus.Record, error) bool) error {
	records := make(chan *octopus.Record)
	n.observer.record = func(rec *octopus.Record) { records <- rec }
	ended := make(chan error, 1)
	go func() {
		_, err := n.Run(ctx, []string{url})
		close(records)
		ended <- err
	}()
	left := false
	for rec := range records {
		if !left && !yield(rec, nil) {
			left = true
			n.Drain() // and take what is still in flight
		}
	}
	if err := <-ended; !left {
		return err
	}
	return nil
}
