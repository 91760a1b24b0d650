package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"octopus"
	"octopus/canon"
	"octopus/frontier"
)

// Operation is what an operator does to a frontier, that of a running crawl too.
type Operation struct {
	Verb  OperationVerb `json:"verb"`
	Host  string        `json:"host,omitempty"` // its name, of all verbs but ClearNav
	Until time.Time     `json:"until,omitzero"` // of BlockHost; a time in the past lets the host go

	Precedence int8 `json:"precedence,omitempty"` // of RankHost

	Into    string `json:"into,omitempty"`    // of MergeHost: name of the host that stands for Host
	Preview bool   `json:"preview,omitempty"` // of MergeHost: count the URLs that would move, change nothing
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
	// MergeHost has a host stand for another, and moves there what that has queued.
	MergeHost OperationVerb = "merge"
	// UnmergeHost ends that, for links that come later.
	UnmergeHost OperationVerb = "unmerge"
)

// ErrSharedFrontier is what Operate returns where the frontier is not here.
var ErrSharedFrontier = errors.New("the frontier of this crawl is shared in Redis; this verb works on one in the state directory")

// Operate carries out an operation and returns how many URLs it changed.
func (n *Node) Operate(ctx context.Context, o Operation) (changed int64, err error) {
	if n.frontier == nil {
		return 0, ErrSharedFrontier
	}
	if o.Verb == ClearNav {
		if changed, err = n.frontier.ClearLane(ctx, octopus.Nav); err != nil {
			return 0, err
		}
		return changed, n.offerAll(ctx)
	}
	host, err := hostURL(o, o.Host)
	if err != nil {
		return 0, err
	}
	switch o.Verb {
	case BlockHost:
		return 0, n.frontier.Block(ctx, host, o.Until)
	case RankHost:
		return 0, n.frontier.SetPrecedence(ctx, host, o.Precedence)
	case MergeHost:
		return n.mergeHost(ctx, o, host)
	case UnmergeHost:
		return 0, n.frontier.Unmerge(ctx, host)
	}
	return 0, fmt.Errorf("a frontier cannot %q", o.Verb)
}

// hostURL returns a URL of a host that an operation names.
func hostURL(o Operation, name string) (octopus.URL, error) {
	u, err := canon.Parse("http://" + octopus.HostInURL(name) + "/")
	if err != nil {
		err = fmt.Errorf("%s of host %q: %w", o.Verb, name, err)
	}
	return u, err
}

func (n *Node) mergeHost(ctx context.Context, o Operation, alias octopus.URL) (changed int64, err error) {
	into, err := hostURL(o, o.Into)
	if err != nil {
		return 0, err
	}
	if o.Preview {
		if err := n.frontier.MayMerge(ctx, alias, into); err != nil {
			return 0, err
		}
		err = n.frontier.Walk(ctx, frontier.ListQueued, frontier.Filter{Host: alias}, func(frontier.Item) error {
			changed++
			return nil
		})
		return changed, err
	}
	moved, err := n.frontier.Merge(ctx, alias, into)
	return int64(moved), err
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
