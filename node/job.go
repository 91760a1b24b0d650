package node

import (
	"errors"
	"fmt"
	"slices"

	"octopus"
	"octopus/board"
	"octopus/canon"
	"octopus/kv"
)

// openGate puts the boards in front of the frontier, with that of the command
// line as the last, and returns the entries as links. With no entries that board
// is the stored one, so that a later run knows the entries of the earlier ones,
// and `octopus why` the rules. A process of a shared crawl that was given nothing
// has an empty one: its entries are those of the others.
func (n *Node) openGate(entries []string) (*board.Gate, []octopus.Link, error) {
	b, stored := n.boards.find(CrawlBoard)
	if !stored {
		b = octopus.Board{Name: CrawlBoard, Scope: n.cfg.Crawl.Scope, Depth: n.cfg.Crawl.Depth}
	}
	var links []octopus.Link
	for _, text := range entries {
		u, err := canon.Parse(text)
		if err != nil {
			return nil, nil, fmt.Errorf("entry %q: %w", text, err)
		}
		if !slices.Contains(b.Entry, u.Text) {
			b.Entry = append(b.Entry, u.Text)
		}
		links = append(links, octopus.Link{URL: u, Kind: octopus.Entry})
	}
	if len(entries) > 0 {
		c := n.cfg.Crawl
		b.Scope, b.Depth, b.Accept, b.Reject, b.Render = c.Scope, c.Depth, c.Accept, c.Reject, c.Render
	}
	list := slices.DeleteFunc(n.boards.all(), func(b octopus.Board) bool { return b.Name == CrawlBoard })
	if stored || len(entries) > 0 || n.shared != nil && len(list) == 0 {
		list = append(list, b)
	}
	memory := board.NewMemory(n.store, prefixBoard)
	if n.shared != nil {
		memory = n.shared
	}
	gate, err := board.NewGate(n.queue, memory, list...)
	if err != nil {
		return nil, nil, patternError(err)
	}
	gate.Use(n.learned)
	jumps, err := n.cfg.jumps()
	if err != nil {
		return nil, nil, err
	}
	gate.SetJumps(jumps)
	n.keepEntries(list)
	if err := n.shareEntries(list); err != nil {
		return nil, nil, err
	}
	if len(entries) == 0 {
		return gate, nil, nil
	}
	n.boards.set(list)
	return gate, links, n.saveBoard(b)
}

// patternError turns a pattern that does not compile into the error of its key.
func patternError(err error) error {
	var bad *board.PatternError
	if errors.As(err, &bad) {
		return &ConfigError{"crawl." + bad.Field, bad.Error()}
	}
	return err
}

func (n *Node) saveBoard(b octopus.Board) error {
	var batch kv.Batch
	if err := setBoard(&batch, b); err != nil {
		return err
	}
	return n.store.Apply(&batch, kv.Durability(!n.cfg.Store.NoSync))
}
