package board

import (
	"context"
	"fmt"

	"octopus"
)

// Judgement is what one board says to a URL.
type Judgement struct {
	Board string
	Decision
}

// Judge tells for each board, in order, what it says to a page's URL met at a
// depth, and which rule decided. The first that accepts takes the URL.
func (g *Gate) Judge(u octopus.URL, depth int) []Judgement {
	boards := *g.boards.Load()
	out := make([]Judgement, len(boards))
	if rule := g.jumps.match(u); rule != "" {
		r, _ := g.jump(&octopus.Link{URL: u, Depth: depth}, "")
		return []Judgement{{r.board, Decision{Accept: r.reason == "", Reason: r.reason, Lane: octopus.Data, Rule: "jumping link, its target is judged: " + rule}}}
	}
	for i, r := range boards {
		out[i] = Judgement{r.board.Name, r.Decide(u, depth)}
	}
	return out
}

// Boards returns the compiled boards in order.
func (g *Gate) Boards() []*Rules { return *g.boards.Load() }

// Board returns the compiled board of that name, nil where there is none.
func (g *Gate) Board(name string) *Rules {
	for _, r := range *g.boards.Load() {
		if r.board.Name == name {
			return r
		}
	}
	return nil
}

// Rejected counts the links refused since the gate was made, by reason.
func (g *Gate) Rejected() map[string]int64 {
	return map[string]int64{
		octopus.ReasonScope: g.rejectedScope.Load(),
		octopus.ReasonDepth: g.rejectedDepth.Load(),
	}
}

// Release passes through to a Releaser; for any other frontier it does nothing.
func (g *Gate) Release(o octopus.Outcome) {
	if r, ok := g.next.(octopus.Releaser); ok {
		r.Release(o)
	}
}

// Counts returns those of the frontier behind, all zero if it does not count.
func (g *Gate) Counts() octopus.Counts {
	if c, ok := g.next.(octopus.Counter); ok {
		return c.Counts()
	}
	return octopus.Counts{}
}

// Waiting returns what the frontier behind waits for; empty if it does not tell.
func (g *Gate) Waiting() string {
	if w, ok := g.next.(octopus.Waiter); ok {
		return w.Waiting()
	}
	return ""
}

// Explain puts what the boards say, to the URL as a link of depth 1, in front of
// what the frontier behind explains. A caller that knows the depth uses Judge.
func (g *Gate) Explain(ctx context.Context, u octopus.URL) (octopus.Explanation, error) {
	ex := octopus.Explanation{URL: u, State: "unknown"}
	if e, ok := g.next.(octopus.Explainer); ok {
		var err error
		if ex, err = e.Explain(ctx, u); err != nil {
			return ex, err
		}
	}
	var facts []octopus.Fact
	for _, j := range g.Judge(u, 1) {
		word := "refuses"
		if j.Accept {
			word = "accepts, " + j.Lane.String() + " lane"
		}
		facts = append(facts, octopus.Fact{Name: "board " + j.Board, Value: fmt.Sprintf("%s: %s", word, j.Why())})
	}
	ex.Facts = append(facts, ex.Facts...)
	return ex, nil
}
