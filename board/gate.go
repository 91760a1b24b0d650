package board

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"octopus"
	"octopus/canon"
)

// Gate is a frontier that lets only those links through to the one behind it
// which a board accepts. It passes on the optional abilities of that frontier.
type Gate struct {
	next   octopus.Frontier
	memory Memory     // may be nil: entries added by redirects last as long as the gate
	set    sync.Mutex // serializes Set
	boards atomic.Pointer[[]*Rules]

	rejectedScope atomic.Int64
	rejectedDepth atomic.Int64
}

var (
	_ octopus.Frontier  = (*Gate)(nil)
	_ octopus.Releaser  = (*Gate)(nil)
	_ octopus.Counter   = (*Gate)(nil)
	_ octopus.Explainer = (*Gate)(nil)
	_ octopus.Waiter    = (*Gate)(nil)
)

// NewGate compiles the boards, whose names must differ, and loads what memory
// knows of them. A nil memory keeps nothing over a restart.
func NewGate(next octopus.Frontier, memory Memory, boards ...octopus.Board) (*Gate, error) {
	g := &Gate{next: next, memory: memory}
	g.boards.Store(new([]*Rules))
	return g, g.Set(boards...)
}

// Set puts other boards in the place of those there were; links are judged
// by the ones or the others, never by a mixture. After an error nothing has
// changed.
func (g *Gate) Set(boards ...octopus.Board) error {
	g.set.Lock()
	defer g.set.Unlock()
	names := make(map[string]bool, len(boards))
	rules := make([]*Rules, 0, len(boards))
	for _, b := range boards {
		if names[b.Name] {
			return fmt.Errorf("board %q: there are two of this name; names must be unique", b.Name)
		}
		names[b.Name] = true
		r, err := Compile(b)
		if err != nil {
			return err
		}
		if err := g.recall(r); err != nil {
			return err
		}
		rules = append(rules, r)
	}
	g.boards.Store(&rules)
	return nil
}

// recall adds the entries that redirects have added before.
func (g *Gate) recall(r *Rules) error {
	if g.memory == nil {
		return nil
	}
	urls, err := g.memory.LoadEntries(r.board.Name)
	if err != nil {
		return fmt.Errorf("board %q: load entries: %w", r.board.Name, err)
	}
	for _, text := range urls {
		u, err := canon.Parse(text)
		if err != nil {
			return fmt.Errorf("board %q: stored entry: %w", r.board.Name, err)
		}
		r.extend(u)
	}
	return nil
}

// Add passes on the links that a board accepts, and answers Rejected for the
// others.
func (g *Gate) Add(ctx context.Context, links []octopus.Link) ([]octopus.Verdict, error) {
	verdicts := make([]octopus.Verdict, len(links))
	var pass []octopus.Link
	var at []int // at[i] is the place of pass[i] in links
	for i := range links {
		l, reason, err := g.admit(&links[i], links[i].Via)
		switch {
		case err != nil:
			return nil, err
		case reason != "":
			verdicts[i] = octopus.Verdict{Code: octopus.Rejected, Reason: reason}
		default:
			pass, at = append(pass, l), append(at, i)
		}
	}
	if len(pass) == 0 {
		return verdicts, nil
	}
	answers, err := g.next.Add(ctx, pass)
	if err != nil {
		return nil, err
	}
	for i, v := range answers {
		verdicts[at[i]] = v
	}
	return verdicts, nil
}

// Lease passes through.
func (g *Gate) Lease(ctx context.Context, max int) ([]octopus.Lease, error) {
	return g.next.Lease(ctx, max)
}

// Done passes the outcomes on with those of their links that a board accepts.
// It does not change what it is given.
func (g *Gate) Done(ctx context.Context, outcomes []octopus.Outcome) ([]octopus.Verdict, error) {
	pass := make([]octopus.Outcome, len(outcomes))
	copy(pass, outcomes)
	for i := range pass {
		o := &pass[i]
		links := o.Links
		o.Links = slices.Grow([]octopus.Link(nil), len(links)) // nil where there are none
		for j := range links {
			l, reason, err := g.admit(&links[j], o.Lease.Link.URL.Text)
			if err != nil {
				return nil, err
			}
			if reason == "" {
				o.Links = append(o.Links, l)
			}
		}
	}
	return g.next.Done(ctx, pass)
}

// admit judges a link that the page via named. It returns the link with its
// board and lane, or the reason why no board wants it: depth if a board refused
// it for its depth only, else scope. The error is the memory's.
func (g *Gate) admit(l *octopus.Link, via string) (octopus.Link, string, error) {
	reason := octopus.ReasonScope
	for _, r := range *g.boards.Load() {
		if err := g.follow(r, l, via); err != nil {
			return octopus.Link{}, "", err
		}
		d := r.link(l)
		if d.Accept {
			pass := *l
			pass.Board, pass.Lane = r.board.Name, d.Lane
			return pass, "", nil
		}
		if d.Reason == octopus.ReasonDepth {
			reason = d.Reason
		}
	}
	if reason == octopus.ReasonDepth {
		g.rejectedDepth.Add(1)
	} else {
		g.rejectedScope.Add(1)
	}
	return octopus.Link{}, reason, nil
}

// follow makes the target of an entry's redirect an entry of the board. It is
// kept before anything relies on it.
func (g *Gate) follow(r *Rules, l *octopus.Link, via string) error {
	if l.Kind != octopus.Redirect || l.Depth != 0 || !r.isEntry(via) || r.isEntry(l.URL.Text) ||
		match(r.reject, l.URL.Text) != nil {
		return nil
	}
	if g.memory != nil {
		if err := g.memory.SaveEntry(r.board.Name, l.URL.Text); err != nil {
			return fmt.Errorf("board %q: save entry %s: %w", r.board.Name, l.URL.Text, err)
		}
	}
	r.extend(l.URL)
	return nil
}
