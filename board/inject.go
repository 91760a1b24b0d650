package board

import "time"

// Injector says when the entries of which boards are offered to the frontier: at
// once, and again on the refresh period of their board, so that an entry that
// failed, or went with a cleared queue, comes back. It is pure; the zero value
// is ready. One goroutine uses it.
type Injector struct {
	last map[string]time.Time // by name of the board
}

// Due returns the boards whose entries are to be offered at now, and the time of
// the next ones; zero where there are none. Paused boards have to wait. What it
// returns counts as offered.
func (i *Injector) Due(now time.Time, boards []*Rules) (due []*Rules, next time.Time) {
	last := make(map[string]time.Time, len(boards))
	for _, r := range boards {
		b := &r.board
		at, before := i.last[b.Name]
		switch {
		case b.Paused, len(b.Entry) == 0:
			continue
		case !before, b.Refresh > 0 && !at.Add(b.Refresh).After(now):
			due = append(due, r)
			at = now
		}
		last[b.Name] = at
		if again := at.Add(b.Refresh); b.Refresh > 0 && (next.IsZero() || again.Before(next)) {
			next = again
		}
	}
	i.last = last
	return due, next
}

// Forget has the entries of a board offered with the next call of Due.
func (i *Injector) Forget(name string) { delete(i.last, name) }
