package node_test

import (
	"errors"
	"slices"
	"testing"

	"octopus"
	"octopus/node"
)

// TestAdmit: a board that is not admitted is not taken up, and a crawl of one
// does not begin.
func TestAdmit(t *testing.T) {
	s, cfg := newSite(t, 3), config(t)
	refused := errors.New("not this one")
	opt := node.Options{Admit: func(boards []octopus.Board) error {
		if slices.ContainsFunc(boards, func(b octopus.Board) bool { return b.Name == "bad" }) {
			return refused
		}
		return nil
	}}
	add := func(n *node.Node, name string) error {
		b := node.DefaultBoard()
		b.Name, b.Entry = name, []string{s.entry()}
		_, err := n.DoBoard(t.Context(), node.BoardCommand{Verb: node.BoardAdd, Board: &b})
		return err
	}
	open := func(o node.Options) *node.Node {
		n, err := node.Open(cfg, o)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	n := open(opt)
	if good, bad := add(n, "good"), add(n, "bad"); good != nil || !errors.Is(bad, refused) {
		t.Errorf("added: %v, %v", good, bad)
	}
	if _, err := n.Run(t.Context(), nil); err != nil {
		t.Errorf("with a good board: %v", err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	n = open(node.Options{})
	if err := add(n, "bad"); err != nil {
		t.Errorf("nobody is asked: %v", err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	before := s.most()
	n = open(opt)
	defer n.Close()
	if _, err := n.Run(t.Context(), nil); !errors.Is(err, refused) || s.most() != before {
		t.Errorf("with a bad board: %v", err)
	}
}
