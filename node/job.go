package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"octopus"
	"octopus/board"
	"octopus/canon"
	"octopus/kv"
)

// keyBoard is where the board of the command line is kept, so that a later run
// knows the entries of the earlier ones, and `octopus why` the rules.
var keyBoard = []byte(prefixBoard + "crawl")

// openGate puts the board of the command line in front of the frontier, and
// returns the entries as links. With no entries it takes up the stored board
// as it is.
func (n *Node) openGate(entries []string) (*board.Gate, []octopus.Link, error) {
	b, err := n.loadBoard()
	if err != nil {
		return nil, nil, err
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
		b.Scope, b.Depth, b.Accept, b.Reject = c.Scope, c.Depth, c.Accept, c.Reject
	}
	gate, err := board.NewGate(n.queue, board.NewMemory(n.store, prefixBoard), b)
	if err != nil {
		return nil, nil, patternError(err)
	}
	n.keepEntries(b)
	if len(entries) == 0 {
		return gate, nil, nil
	}
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

func (n *Node) loadBoard() (octopus.Board, error) {
	b := octopus.Board{Name: "crawl", Scope: n.cfg.Crawl.Scope, Depth: n.cfg.Crawl.Depth}
	value, err := n.store.Get(keyBoard)
	if errors.Is(err, kv.ErrNotFound) {
		return b, nil
	}
	if err != nil {
		return b, err
	}
	if err := json.Unmarshal(value, &b); err != nil {
		return b, fmt.Errorf("stored board: %w", err)
	}
	return b, nil
}

func (n *Node) saveBoard(b octopus.Board) error {
	value, err := json.Marshal(b)
	if err != nil {
		return err
	}
	var batch kv.Batch
	batch.Set(keyBoard, value)
	return n.store.Apply(&batch, kv.Durability(!n.cfg.Store.NoSync))
}
