package frontier

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"octopus"
	"octopus/kv"
)

// rules returns what the board of that name asks for.
func (c *Core) rules(board string) BoardRules {
	if c.opt.Boards == nil {
		return BoardRules{}
	}
	return c.opt.Boards(board)
}

// relinks reports whether the links of a visited page are read again when it is met
// at a smaller depth.
func (c *Core) relinks(r *record) bool { return c.opt.Relink != nil && r.hasLinks() && c.opt.Relink() }

// countRefresh counts r, which enters or leaves the due table, among the pages
// that wait for a refresh, unless it waits for a further attempt.
func (c *Core) countRefresh(r *record, n int64) {
	if r.tries == 0 {
		c.totals.Again += n
	}
}

// Idle reports whether nothing is left to do at now but to wait for a refresh.
func (c *Core) Idle(now time.Time) bool {
	return c.totals.Queued == c.totals.Again && (c.nextDue.IsZero() || c.nextDue.After(now))
}

// Hasten queues a page at once that waits for its time; with whole it is asked
// for without validators. e is its entry in the due table, old its record. It
// reports whether the page still stood there.
func (c *Core) Hasten(now time.Time, key octopus.Key, e *entry, old *record, whole bool) bool {
	c.advance(now)
	r := c.record(key, old)
	if r == nil || r.state != stateLater {
		return false
	}
	again := *r
	if whole {
		again.last.etag, again.last.lastMod = "", ""
		e.etag, e.lastMod = "", ""
	}
	c.comeDue(c.hosts[key.Host()], key, e, again)
	return true
}

// HastenLeased sees to it that the pages of a board that are being visited, whose
// answers may be older than the call, come due again as soon as they are done.
func (c *Core) HastenLeased(board string, whole bool) {
	for _, l := range c.leased {
		if l.entry != nil && (board == "" || l.entry.board == board) {
			l.hasten, l.whole = true, whole
		}
	}
}

// Recheck queues all pages of a board at once that wait for a refresh, a recrawl
// or a further attempt, and returns how many. Those that are being visited follow
// when they are done. With whole all are asked for without validators, so that none
// answers 304. An empty name stands for all boards.
func (f *Frontier) Recheck(ctx context.Context, board string, whole bool) (n int, err error) {
	f.mu.Lock()
	f.core.HastenLeased(board, whole)
	f.mu.Unlock()
	if err := f.settled(ctx); err != nil {
		return 0, err
	}
	for from := f.keys.table(tableDue); from != nil; {
		items, next, err := f.dueOf(from, board)
		if err != nil {
			return n, err
		}
		done, err := f.changeStep(ctx, items, f.inCore(func(i Item, old *record) bool {
			return f.core.Hasten(f.opt.Now(), i.key, i.entry, old, whole)
		}))
		n += done
		if err != nil {
			return n, err
		}
		from = next
	}
	return n, nil
}

// dueOf reads entries of the due table that belong to a board, and the key to go
// on from, nil at the end.
func (f *Frontier) dueOf(from []byte, board string) (items []Item, next []byte, err error) {
	names := map[octopus.HostKey]string{}
	err = f.opt.Store.Scan(from, after(f.keys.table(tableDue)), func(key, value []byte) error {
		if len(items) == adminStep {
			next = bytes.Clone(key)
			return kv.ErrStop
		}
		_, url := dueTime(key)
		name, known := names[url.Host()]
		if !known {
			h, err := f.hostRecord(url.Host())
			if err != nil || h == nil {
				return fmt.Errorf("frontier: host %s of a due URL: %w", url.Host(), err)
			}
			name = h.name
			names[url.Host()] = name
		}
		e, err := decodeDue(name, value)
		if err != nil {
			return err
		}
		if board == "" || e.board == board {
			items = append(items, Item{URL: e.text, Host: name, Board: e.board, key: url, entry: e})
		}
		return nil
	})
	return items, next, err
}
