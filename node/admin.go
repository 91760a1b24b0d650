package node

import (
	"octopus/container"
	"octopus/frontier"
	"octopus/kv"
	"octopus/sink"
)

// Frontier returns the node's frontier, for operators: its lists, hosts and
// politeness may be looked at and changed, also while Run is running. It is nil
// where the frontier is shared.
func (n *Node) Frontier() *frontier.Frontier { return n.frontier }

// Store returns the embedded store, for frontier.Verify: nothing may write
// meanwhile.
func (n *Node) Store() kv.Store { return n.store }

// InspectOutbox tells what waits for the sinks. The node must have been opened
// without outputs.
func (n *Node) InspectOutbox() (sink.Inspection, error) {
	return sink.Inspect(n.store, []byte(prefixOutbox))
}

// Pages returns the store of pages, nil where no bodies are kept.
func (n *Node) Pages() *container.Container {
	if n.pages == nil {
		return nil
	}
	return n.pages.c
}
