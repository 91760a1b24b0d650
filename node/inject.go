package node

import (
	"context"
	"fmt"
	"time"

	"octopus"
	"octopus/board"
)

// injection is the state of the injector between two rounds.
type injection struct {
	board.Injector
	next time.Time // of the next round; zero: never
}

// inject offers the entries of the boards for the first time in this run. That
// of the command line is left out: its entries were arguments.
func (n *Node) inject(ctx context.Context, gate *board.Gate) (*injection, error) {
	in := &injection{}
	if n.only != nil {
		return in, n.addEntries(ctx, gate, []octopus.Link{{URL: *n.only, Kind: octopus.Entry}})
	}
	return in, n.injectDue(ctx, gate, in)
}

// injectDue offers the entries whose time has come.
func (n *Node) injectDue(ctx context.Context, gate *board.Gate, in *injection) error {
	due, next := in.Due(time.Now(), gate.Boards())
	in.next = next
	for _, r := range due {
		if r.Board().Name == CrawlBoard {
			continue
		}
		if err := n.offerEntries(ctx, gate, r); err != nil {
			return fmt.Errorf("inject the entries of board %q: %w", r.Board().Name, err)
		}
	}
	return nil
}

// offerEntries offers the entries of one board.
func (n *Node) offerEntries(ctx context.Context, gate *board.Gate, r *board.Rules) error {
	var links []octopus.Link
	for _, u := range r.Entries() {
		links = append(links, octopus.Link{URL: u, Kind: octopus.Entry})
	}
	n.observer.offer(len(links))
	return n.addEntries(ctx, gate, links)
}

// startInjector offers entries whenever their time comes, or the boards change,
// until the function it returns is called. A round that fails is tried again
// with the next one: the crawl has a reason of its own to end.
func (n *Node) startInjector(ctx context.Context, gate *board.Gate, in *injection) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			var alarm <-chan time.Time
			timer := time.NewTimer(max(time.Until(in.next), 0))
			if !in.next.IsZero() {
				alarm = timer.C
			}
			select {
			case <-ctx.Done():
				timer.Stop()
				return
			case <-alarm:
			case <-n.injections:
				for _, name := range n.takeWanted() {
					in.Forget(name)
				}
			}
			timer.Stop()
			if err := n.injectDue(ctx, gate, in); err != nil && ctx.Err() == nil {
				n.log.Error("entries could not be offered", "err", err)
			}
		}
	}()
	return func() { cancel(); <-done }
}
