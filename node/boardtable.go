package node

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"octopus"
	"octopus/board"
	"octopus/frontier"
	"octopus/kv"
)

// CrawlBoard is the name of the board that the entries of Run make.
const CrawlBoard = "crawl"

// boardTable holds the boards of a state directory: those of the configuration
// file, those added by hand, and that of the command line.
//
//	board/NAME  ->  octopus.Board as JSON
//
// What begins with board/NAME and a zero byte is package board's.
type boardTable struct {
	mu   sync.Mutex
	list []octopus.Board // guarded by mu; in the order they are asked

	rules   atomic.Pointer[map[string]frontier.BoardRules] // nil: there is no board yet
	limited atomic.Bool                                    // any of them has a limit of depth
}

func keyBoard(name string) []byte { return []byte(prefixBoard + name) }

// openBoards reads the table and brings the boards of the file into it. A board
// that a file does not define any more goes, if no other file was read.
func (n *Node) openBoards() error {
	list, err := n.loadBoards()
	if err != nil {
		return err
	}
	defined := map[string]octopus.Board{}
	for i := range n.cfg.Boards {
		b := n.cfg.Boards[i].Board()
		b.Number, b.File = uint32(i), n.cfg.BoardsFile
		defined[b.Name] = b
	}
	var batch kv.Batch
	for _, old := range list {
		b, ok := defined[old.Name]
		switch {
		case ok && old.File == "":
			return &ConfigError{"board", fmt.Sprintf("%q was added by hand to %s; give one of the two another name, or `octopus board rm %s`", old.Name, n.cfg.Dir, old.Name)}
		case ok: // a pause outlives the file
			b.Paused = old.Paused
			defined[b.Name] = b
		case old.File != "" && old.File == n.cfg.BoardsFile:
			batch.Delete(keyBoard(old.Name))
		}
	}
	for _, b := range defined {
		if err := setBoard(&batch, b); err != nil {
			return err
		}
	}
	if batch.Len() > 0 {
		if err := n.store.Apply(&batch, kv.Durability(!n.cfg.Store.NoSync)); err != nil {
			return err
		}
	}
	if list, err = n.loadBoards(); err != nil {
		return err
	}
	n.boards.set(list)
	n.learned, err = board.LoadClasses(n.store, prefixClass)
	return err
}

func setBoard(batch *kv.Batch, b octopus.Board) error {
	value, err := json.Marshal(b)
	if err != nil {
		return err
	}
	batch.Set(keyBoard(b.Name), value)
	return nil
}

// loadBoards reads the boards of the store in the order they are asked: those of
// files, those added by hand, that of the command line.
func (n *Node) loadBoards() (list []octopus.Board, err error) {
	lo := []byte(prefixBoard)
	hi := []byte(prefixBoard[:len(prefixBoard)-1] + "0") // behind the slash
	err = n.store.Scan(lo, hi, func(key, value []byte) error {
		if bytes.IndexByte(key, 0) >= 0 {
			return nil // an entry that a redirect added
		}
		var b octopus.Board
		if err := json.Unmarshal(value, &b); err != nil {
			return fmt.Errorf("board %q: what is stored of it: %w", key[len(lo):], err)
		}
		list = append(list, b)
		return nil
	})
	slices.SortStableFunc(list, func(a, b octopus.Board) int {
		return cmp.Or(cmp.Compare(rankOf(a), rankOf(b)), cmp.Compare(a.File, b.File), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Name, b.Name))
	})
	return list, err
}

func rankOf(b octopus.Board) int {
	switch {
	case b.Name == CrawlBoard:
		return 2
	case b.File == "":
		return 1
	}
	return 0
}

// set makes list the boards in force.
func (t *boardTable) set(list []octopus.Board) {
	rules := make(map[string]frontier.BoardRules, len(list))
	for _, b := range list {
		r := frontier.BoardRules{
			Periods: frontier.Periods{Refresh: b.Refresh, Min: b.Refresh, Max: max(b.RefreshMax, b.Refresh), Recrawl: b.Recrawl},
			Delay:   b.Delay, Quota: b.Quota,
		}
		if b.Paused {
			r.Hold = octopus.ReasonPaused
		}
		rules[b.Name] = r
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = list
	t.rules.Store(&rules)
	t.limited.Store(slices.ContainsFunc(list, func(b octopus.Board) bool { return b.Depth >= 0 }))
}

// all returns the boards in force, in the order they are asked.
func (t *boardTable) all() []octopus.Board {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.list)
}

// find returns the board of that name.
func (t *boardTable) find(name string) (octopus.Board, bool) {
	for _, b := range t.all() {
		if b.Name == name {
			return b, true
		}
	}
	return octopus.Board{}, false
}

// relinks is frontier.Options.Relink: which pages a limit of depth lets in must not
// depend on the order of responses.
func (n *Node) relinks() bool { return n.cfg.Crawl.Depth >= 0 || n.boards.limited.Load() }

// rulesOf is frontier.Options.Rules: what a board asks for. URLs of a board that
// is gone wait for its return.
func (t *boardTable) rulesOf(name string) frontier.BoardRules {
	rules := *t.rules.Load()
	r, ok := rules[name]
	if !ok && name != "" && name != CrawlBoard {
		r.Hold = octopus.ReasonBoard
	}
	return r
}
