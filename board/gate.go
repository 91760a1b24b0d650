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
	loaded atomic.Int64 // version of a shared memory whose entries the boards have

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
		rules = append(rules, r)
	}
	if err := g.recallAll(rules); err != nil {
		return err
	}
	g.boards.Store(&rules)
	return nil
}

// recallAll adds the entries that redirects have added before, and those of other
// processes.
func (g *Gate) recallAll(rules []*Rules) error {
	if g.memory == nil {
		return nil
	}
	version := g.version()
	for _, r := range rules {
		if err := g.recall(r); err != nil {
			return err
		}
	}
	g.loaded.Store(version)
	return nil
}

// version is that of a shared memory, else 0.
func (g *Gate) version() int64 {
	if m, ok := g.memory.(SharedMemory); ok {
		return m.Version()
	}
	return 0
}

// recall adds the entries of one board.
func (g *Gate) recall(r *Rules) error {
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
		if err := g.meet(o); err != nil {
			return nil, err
		}
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

// meet looks at a page before its links are judged. One that a shared frontier
// handed out although it is outside every scope is there because another process
// has widened a scope: its links are judged by the wider one.
func (g *Gate) meet(o *octopus.Outcome) error {
	if _, shared := g.memory.(SharedMemory); !shared || len(o.Links) == 0 {
		return nil
	}
	rules := *g.boards.Load()
	for _, r := range rules {
		if r.link(&o.Lease.Link).Accept {
			return nil
		}
	}
	return g.recallAll(rules)
}

// admit judges a link that the page via named, again where a shared memory has
// grown meanwhile. It returns the link with its board and lane, or the reason why
// no board wants it: depth if a board refused it for its depth only, else scope.
// The error is the memory's.
func (g *Gate) admit(l *octopus.Link, via string) (octopus.Link, string, error) {
	pass, reason, err := g.judge(l, via)
	if err == nil && reason == octopus.ReasonScope && g.version() != g.loaded.Load() {
		if err := g.recallAll(*g.boards.Load()); err != nil {
			return octopus.Link{}, "", err
		}
		pass, reason, err = g.judge(l, via)
	}
	switch reason {
	case octopus.ReasonDepth:
		g.rejectedDepth.Add(1)
	case octopus.ReasonScope:
		g.rejectedScope.Add(1)
	}
	return pass, reason, err
}

func (g *Gate) judge(l *octopus.Link, via string) (octopus.Link, string, error) {
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
