package node

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"octopus"
	"octopus/frontier"
	"octopus/kv"
)

// BoardVerb is something that can be asked about boards.
type BoardVerb string

// The verbs of `octopus board` that work on the table of a state directory.
const (
	BoardList    BoardVerb = "list"
	BoardAdd     BoardVerb = "add"     // BoardCommand.Board, of a name that is not taken
	BoardEdit    BoardVerb = "edit"    // BoardCommand.Board in place of that of its name
	BoardRemove  BoardVerb = "rm"      // its URLs are parked when their turn comes
	BoardPause   BoardVerb = "pause"   // likewise
	BoardResume  BoardVerb = "resume"  // and its parked URLs are queued again
	BoardInject  BoardVerb = "inject"  // its entries are offered now
	BoardRecheck BoardVerb = "recheck" // its pages that wait for a refresh come due now
)

// BoardCommand asks something about boards. It is JSON on its way to a running
// crawl.
type BoardCommand struct {
	Verb  BoardVerb    `json:"verb"`
	Name  string       `json:"name,omitempty"`  // of the board; of list: empty for all
	Board *BoardConfig `json:"board,omitempty"` // of add and edit
}

// BoardAnswer is what came of it.
type BoardAnswer struct {
	Boards []BoardInfo `json:"boards,omitempty"` // of list
	URLs   int         `json:"urls"`             // that inject offered, or resume and recheck queued
}

// BoardInfo is a board with its state.
type BoardInfo struct {
	BoardConfig
	Paused bool   `json:"paused"`
	File   string `json:"file,omitempty"` // configuration file that defines it; empty where it was added by hand
}

// DoBoard carries out a command on boards, while Run is running or before. What
// it changes is durable when it returns. A *ConfigError tells a value of the
// board that cannot work.
func (n *Node) DoBoard(ctx context.Context, c BoardCommand) (BoardAnswer, error) {
	n.editing.Lock()
	defer n.editing.Unlock()
	switch c.Verb {
	case BoardList:
		return n.listBoards(c.Name)
	case BoardAdd, BoardEdit:
		return n.putBoard(ctx, c)
	}
	b, err := n.namedBoard(c.Name)
	if err != nil {
		return BoardAnswer{}, err
	}
	switch c.Verb {
	case BoardRemove:
		return BoardAnswer{}, n.removeBoard(b)
	case BoardPause, BoardResume:
		return n.holdBoard(ctx, b, c.Verb == BoardPause)
	case BoardInject:
		return n.injectBoard(ctx, b)
	case BoardRecheck:
		if n.frontier == nil {
			return BoardAnswer{}, errSharedBoards
		}
		return n.recheckBoard(ctx, b)
	}
	return BoardAnswer{}, fmt.Errorf("boards cannot %q", c.Verb)
}

// recheckBoard has the pages of a board visited now. After an edit they are
// fetched whole: a page that says it has not changed brings no links for the new
// rules to judge.
func (n *Node) recheckBoard(ctx context.Context, b octopus.Board) (BoardAnswer, error) {
	urls, err := n.frontier.Recheck(ctx, b.Name, b.Edited)
	if err == nil && b.Edited {
		b.Edited = false
		err = n.storeBoard(b)
	}
	return BoardAnswer{URLs: urls}, err
}

// errSharedBoards is returned where the frontier in Redis has no means.
var errSharedBoards = errors.New("the frontier of this crawl is shared in Redis; its boards cannot be paused, resumed or rechecked")

func (n *Node) listBoards(name string) (a BoardAnswer, err error) {
	if name != "" {
		b, err := n.namedBoard(name)
		return BoardAnswer{Boards: []BoardInfo{infoOf(b)}}, err
	}
	for _, b := range n.boards.all() {
		if b.Name != CrawlBoard {
			a.Boards = append(a.Boards, infoOf(b))
		}
	}
	return a, nil
}

func infoOf(b octopus.Board) BoardInfo {
	return BoardInfo{BoardConfig: boardConfig(b), Paused: b.Paused, File: b.File}
}

func (n *Node) namedBoard(name string) (octopus.Board, error) {
	b, ok := n.boards.find(name)
	if !ok || name == CrawlBoard {
		return b, fmt.Errorf("there is no board %q in %s; octopus board list shows those there are", name, n.cfg.Dir)
	}
	return b, nil
}

// putBoard adds a board, or puts another one in its place.
func (n *Node) putBoard(ctx context.Context, c BoardCommand) (BoardAnswer, error) {
	if c.Board == nil {
		return BoardAnswer{}, fmt.Errorf("boards cannot %q without a board", c.Verb)
	}
	if err := c.Board.Validate(); err != nil {
		return BoardAnswer{}, err
	}
	b := c.Board.Board()
	old, exists := n.boards.find(b.Name)
	switch {
	case c.Verb == BoardAdd && exists:
		return BoardAnswer{}, fmt.Errorf("there is a board %q already; octopus board edit changes it", b.Name)
	case c.Verb == BoardAdd:
		b.Number = n.boards.nextNumber()
	case !exists:
		_, err := n.namedBoard(b.Name)
		return BoardAnswer{}, err
	case old.File != "":
		return BoardAnswer{}, fileBoard(old)
	default:
		b.Number, b.Paused, b.Edited = old.Number, old.Paused, true
	}
	if err := n.storeBoard(b); err != nil {
		return BoardAnswer{}, err
	}
	n.wantEntries(b.Name)
	urls, err := n.freeBoard(ctx, b, octopus.ReasonBoard)
	return BoardAnswer{URLs: urls}, err
}

func fileBoard(b octopus.Board) error {
	return fmt.Errorf("board %q is defined in %s; change it there, and start the crawl again", b.Name, b.File)
}

// removeBoard takes a board out of the table.
func (n *Node) removeBoard(b octopus.Board) error {
	if b.File != "" {
		return fileBoard(b)
	}
	var batch kv.Batch
	batch.Delete(keyBoard(b.Name))
	return n.changeBoards(&batch)
}

// holdBoard pauses or resumes a board.
func (n *Node) holdBoard(ctx context.Context, b octopus.Board, paused bool) (BoardAnswer, error) {
	if n.frontier == nil {
		return BoardAnswer{}, errSharedBoards
	}
	b.Paused = paused
	if err := n.storeBoard(b); err != nil || paused {
		return BoardAnswer{}, err
	}
	n.wantEntries(b.Name)
	urls, err := n.freeBoard(ctx, b, octopus.ReasonPaused)
	return BoardAnswer{URLs: urls}, err
}

// freeBoard queues the URLs of a board that are parked for a reason.
func (n *Node) freeBoard(ctx context.Context, b octopus.Board, reason string) (int, error) {
	if n.frontier == nil {
		return 0, nil
	}
	return n.frontier.Revive(ctx, frontier.ListParked, frontier.Filter{Board: b.Name, Reason: reason})
}

// injectBoard offers the entries of a board now.
func (n *Node) injectBoard(ctx context.Context, b octopus.Board) (BoardAnswer, error) {
	if b.Paused {
		return BoardAnswer{}, fmt.Errorf("board %q is paused; octopus board resume %s", b.Name, b.Name)
	}
	gate, err := n.anyGate()
	if err != nil {
		return BoardAnswer{}, err
	}
	return BoardAnswer{URLs: len(b.Entry)}, n.offerEntries(ctx, gate, gate.Board(b.Name))
}

// storeBoard puts a board in place of that of its name.
func (n *Node) storeBoard(b octopus.Board) error {
	others := slices.DeleteFunc(n.boards.all(), func(o octopus.Board) bool { return o.Name == b.Name })
	if err := n.admit(append(others, b)); err != nil {
		return err
	}
	var batch kv.Batch
	if err := setBoard(&batch, b); err != nil {
		return err
	}
	return n.changeBoards(&batch)
}

func (n *Node) admit(boards []octopus.Board) error {
	if n.opt.Admit == nil {
		return nil
	}
	return n.opt.Admit(boards)
}

// changeBoards writes a change of the table and has it in force, in a running
// crawl too.
func (n *Node) changeBoards(batch *kv.Batch) error {
	if err := n.store.Apply(batch, kv.Durability(!n.cfg.Store.NoSync)); err != nil {
		return err
	}
	list, err := n.loadBoards()
	if err != nil {
		return err
	}
	n.boards.set(list)
	n.mu.Lock()
	gate := n.gate
	n.mu.Unlock()
	if gate == nil {
		return nil
	}
	return gate.Set(list...)
}

// nextNumber is behind those of all boards.
func (t *boardTable) nextNumber() uint32 {
	var last uint32
	for _, b := range t.all() {
		if b.Number < math.MaxUint32 {
			last = max(last, b.Number+1)
		}
	}
	return last
}

// wantEntries has the injector of a running crawl offer the entries of a board.
func (n *Node) wantEntries(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.wanted, name) {
		n.wanted = append(n.wanted, name)
	}
	select {
	case n.injections <- struct{}{}:
	default: // it is awake already
	}
}

// takeWanted returns the boards that wantEntries named since the last call.
func (n *Node) takeWanted() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	names := n.wanted
	n.wanted = nil
	return names
}
