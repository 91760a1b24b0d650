package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"octopus"
	"octopus/canon"
)

// Operation is what an operator does to a frontier, that of a running crawl too.
type Operation struct {
	Verb  OperationVerb `json:"verb"`
	Host  string        `json:"host,omitempty"` // of BlockHost and RankHost: its name
	Until time.Time     `json:"until,omitzero"` // of BlockHost; a time in the past lets the host go

	Precedence int8 `json:"precedence,omitempty"` // of RankHost
}

// OperationVerb names an operation.
type OperationVerb string

const (
	// ClearNav empties the queues of navigation pages. A running crawl offers the
	// entries of its boards again, others do when they start.
	ClearNav OperationVerb = "clear-nav"
	// BlockHost keeps a host from being asked.
	BlockHost OperationVerb = "block"
	// RankHost has a host go before those of a greater precedence.
	RankHost OperationVerb = "precedence"
)

// ErrSharedFrontier is what Operate returns where the frontier is not here.
var ErrSharedFrontier = errors.New("the frontier of this crawl is shared in Redis; this verb works on one in the state directory")

// Operate carries out an operation and returns how many URLs it changed.
func (n *Node) Operate(ctx context.Context, o Operation) (changed int64, err error) {
	if n.frontier == nil {
		return 0, ErrSharedFrontier
	}
	switch o.Verb {
	case ClearNav:
		if changed, err = n.frontier.ClearLane(ctx, octopus.Nav); err != nil {
			return 0, err
		}
		return changed, n.offerAll(ctx)
	case BlockHost, RankHost:
		u, err := canon.Parse("http://" + octopus.HostInURL(o.Host) + "/")
		switch {
		case err != nil:
			return 0, fmt.Errorf("%s of host %q: %w", o.Verb, o.Host, err)
		case o.Verb == RankHost:
			return 0, n.frontier.SetPrecedence(ctx, u, o.Precedence)
		}
		return 0, n.frontier.Block(ctx, u, o.Until)
	}
	return 0, fmt.Errorf("a frontier cannot %q", o.Verb)
}

// offerAll offers the entries of all boards of a running crawl.
func (n *Node) offerAll(ctx context.Context) error {
	n.mu.Lock()
	gate := n.gate
	n.mu.Unlock()
	if gate == nil {
		return nil
	}
	for _, r := range gate.Boards() {
		if err := n.offerEntries(ctx, gate, r); err != nil {
			return err
		}
	}
	return nil
}

// operationAnswer is what Operate returned, on its way.
type operationAnswer struct {
	Changed int64  `json:"changed"`
	Error   string `json:"error,omitempty"`
}

// AskOperation has the crawl that runs in dir carry out an operation. The error
// wraps ErrNotRunning where there is none: then the directory can be opened.
func AskOperation(ctx context.Context, dir string, o Operation) (changed int64, err error) {
	var a operationAnswer
	if err := askRunning(ctx, dir, operatePath, o, &a); err != nil {
		return 0, err
	}
	if a.Error != "" {
		return 0, errors.New(a.Error)
	}
	return a.Changed, nil
}
