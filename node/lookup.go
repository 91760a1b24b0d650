package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"octopus"
	"octopus/board"
	"octopus/canon"
	"octopus/container"
)

// Explain tells all that is known of a URL: what the boards say to it, its
// place in the frontier, and what is stored of it.
func (n *Node) Explain(ctx context.Context, text string) (octopus.Explanation, error) {
	u, err := canon.Parse(text)
	if err != nil {
		return octopus.Explanation{}, err
	}
	gate, err := n.anyGate()
	if err != nil {
		return octopus.Explanation{}, err
	}
	ex, err := gate.Explain(ctx, u)
	if err != nil {
		return ex, err
	}
	stored, err := n.storedFacts(ctx, u)
	ex.Facts = append(ex.Facts, stored...)
	return ex, err
}

// anyGate returns the gate of the run, or one made for a look.
func (n *Node) anyGate() (*board.Gate, error) {
	n.mu.Lock()
	gate := n.gate
	n.mu.Unlock()
	if gate != nil {
		return gate, nil
	}
	gate, _, err := n.openGate(nil)
	return gate, err
}

// storedFacts tells which versions of a page the container has.
func (n *Node) storedFacts(ctx context.Context, u octopus.URL) ([]octopus.Fact, error) {
	if n.pages == nil {
		return []octopus.Fact{{Name: "stored", Value: "no bodies are kept"}}, nil
	}
	versions, err := n.pages.c.Versions(ctx, u)
	if errors.Is(err, container.ErrNotFound) {
		return []octopus.Fact{{Name: "stored", Value: "no"}}, nil
	}
	var facts []octopus.Fact
	for _, v := range versions {
		facts = append(facts, octopus.Fact{Name: "stored", Value: fmt.Sprintf("%s %s, segment %d offset %d, %d bytes, %s",
			v.Time.UTC().Format(time.RFC3339), v.Kind, v.Ref.Segment, v.Ref.Offset, v.Ref.Length, v.Digest)})
	}
	return facts, err
}

// Page returns the newest stored version of a URL, or an error that wraps
// container.ErrNotFound.
func (n *Node) Page(ctx context.Context, text string) (*container.Stored, error) {
	u, err := canon.Parse(text)
	if err != nil {
		return nil, err
	}
	if n.pages == nil {
		return nil, fmt.Errorf("%s: %w: no bodies are kept", u.Text, container.ErrNotFound)
	}
	return n.pages.c.Get(ctx, u)
}
