package board

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"octopus"
	"octopus/canon"
	"octopus/internal/spare"
)

// Gate is a frontier that lets only those links through to the one behind it
// which a board accepts. It passes on the optional abilities of that frontier.
type Gate struct {
	next   octopus.Frontier
	memory Memory     // may be nil: entries added by redirects last as long as the gate
	set    sync.Mutex // serializes Set
	boards atomic.Pointer[[]*Rules]
	loaded atomic.Int64 // version of a shared memory whose entries the boards have

	links    *spare.Lists[octopus.Link] // for Done, as the next
	outcomes *spare.Lists[octopus.Outcome]

	classes atomic.Pointer[Classes] // nil: nothing is learned

	jumps Jumps

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
	g := &Gate{next: next, memory: memory,
		links: spare.New[octopus.Link](32, 256), outcomes: spare.New[octopus.Outcome](32, 16)} // 1.7 MB at most
	g.boards.Store(new([]*Rules))
	return g, g.Set(boards...)
}

// Use has c tell the lanes of links that no pattern tells. A navigation page's
// own opinion, Link.Lane, holds where c knows nothing.
func (g *Gate) Use(c *Classes) { g.classes.Store(c) }

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
		r, err := g.admit(&links[i], links[i].Via, links[i].Board)
		switch {
		case err != nil:
			return nil, err
		case r.reason != "":
			verdicts[i] = octopus.Verdict{Code: octopus.Rejected, Reason: r.reason}
		default:
			pass, at = r.append(pass, &links[i]), append(at, i)
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
	pass := append(g.outcomes.Get(len(outcomes)), outcomes...)
	for i := range pass {
		pass[i].Links = nil
	}
	defer func() {
		for i := range pass {
			g.links.Put(pass[i].Links)
		}
		g.outcomes.Put(pass)
	}()
	for i := range pass {
		if err := g.filter(&pass[i], outcomes[i].Links); err != nil {
			return nil, err
		}
	}
	return g.next.Done(ctx, pass)
}

// filter gives an outcome those of the links that a board accepts.
func (g *Gate) filter(o *octopus.Outcome, links []octopus.Link) error {
	if len(links) == 0 {
		return nil
	}
	if err := g.meet(o); err != nil {
		return err
	}
	o.Links = g.links.Get(len(links))
	for i := range links {
		r, err := g.admit(&links[i], o.Lease.Link.URL.Text, o.Lease.Link.Board)
		if err != nil {
			return err
		}
		if r.reason == "" {
			o.Links = r.append(o.Links, &links[i])
		}
	}
	return nil
}

// meet looks at a page before its links are judged. One that a shared frontier
// handed out although it is outside every scope is there because another process
// has widened a scope: its links are judged by the wider one.
func (g *Gate) meet(o *octopus.Outcome) error {
	if _, shared := g.memory.(SharedMemory); !shared {
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

// ruling is what the boards say to a link: the one that accepts it and the lane,
// or the reason why none does.
type ruling struct {
	board  string
	lane   octopus.Lane
	kind   octopus.LinkKind // in place of the link's; 0 leaves it
	reason string
}

// append appends a link that was accepted.
func (r ruling) append(list []octopus.Link, l *octopus.Link) []octopus.Link {
	list = append(list, *l)
	pass := &list[len(list)-1]
	pass.Board, pass.Lane = r.board, r.lane
	if r.kind != 0 {
		pass.Kind = r.kind
	}
	return list
}

// admit judges a link that the page via, of a board, named, again where a shared memory has
// grown meanwhile. The error is the memory's.
func (g *Gate) admit(l *octopus.Link, via, board string) (ruling, error) {
	if r, ok := g.jump(l, board); ok {
		if r.reason != "" {
			g.rejectedDepth.Add(1)
		}
		return r, nil
	}
	r, err := g.judge(l, via)
	if err == nil && r.reason == octopus.ReasonScope && g.version() != g.loaded.Load() {
		if err := g.recallAll(*g.boards.Load()); err != nil {
			return ruling{}, err
		}
		r, err = g.judge(l, via)
	}
	switch r.reason {
	case octopus.ReasonDepth:
		g.rejectedDepth.Add(1)
	case octopus.ReasonScope:
		g.rejectedScope.Add(1)
	}
	return r, err
}

// judge asks the boards. The reason is depth if one refused the link for its
// depth only, else scope.
func (g *Gate) judge(l *octopus.Link, via string) (ruling, error) {
	reason := octopus.ReasonScope
	for _, r := range *g.boards.Load() {
		if err := g.follow(r, l, via); err != nil {
			return ruling{}, err
		}
		d := r.link(l)
		if d.Accept {
			return ruling{board: r.board.Name, lane: g.laneOf(r, l, d)}, nil
		}
		if d.Reason == octopus.ReasonDepth {
			reason = d.Reason
		}
	}
	return ruling{reason: reason}, nil
}

// laneOf returns the lane of a link: what the patterns say, what the pages of its
// like were, or what the page thinks that has the link.
func (g *Gate) laneOf(r *Rules, l *octopus.Link, d Decision) octopus.Lane {
	c := g.classes.Load()
	if c == nil || d.Class != "" || r.Patterned() || l.Kind == octopus.Robots {
		return d.Lane
	}
	if lane, _, ok := c.Lane(r.board.Name, l.URL); ok {
		return lane
	}
	return d.Lane
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
