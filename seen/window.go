package seen

import (
	"context"
	"fmt"
	"sync"
	"time"

	"octopus"
	"octopus/kv"
)

// WindowOptions configures a Window set. They must stay the same for a set that
// is on disk, but for Capacity and ErrorRate, which count for new windows.
type WindowOptions struct {
	// Granularity is the unit: Hour, Day or Month. Empty means Day.
	Granularity Granularity

	// Windows is the number of units that are remembered, the present one
	// included; a key lives between Windows-1 and Windows units. 0 means 7.
	Windows int

	// Zone has the units' boundaries; nil means UTC.
	Zone *time.Location

	// Capacity is the number of keys of one window that the error rate holds
	// for. 0 means 1 million. A window that gets more grows.
	Capacity int64

	// ErrorRate is the share of new keys that are taken for known when all
	// windows are full. 0 means 1e-4. Each window is made for its part of it.
	ErrorRate float64
}

func (o WindowOptions) withDefaults() (WindowOptions, error) {
	if o.Granularity == "" {
		o.Granularity = Day
	}
	if o.Windows == 0 {
		o.Windows = 7
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.Capacity == 0 {
		o.Capacity = 1_000_000
	}
	if o.ErrorRate == 0 {
		o.ErrorRate = 1e-4
	}
	if _, err := o.Granularity.unit(time.Time{}, o.Zone); err != nil {
		return o, err
	}
	if _, err := PlanFor(o.Capacity, o.Windows, o.ErrorRate); err != nil {
		return o, fmt.Errorf("seen: window: %w", err)
	}
	return o, nil
}

// Window is a Set that forgets by the calendar: a Bloom filter per hour, day or
// month, and a key is known while the window it was first met in is among the
// last Windows. Meeting it again does not prolong its life.
//
// Rotation is a function of the times that the calls are told. A clock that
// jumps drops nothing early; see clock. One from OpenWindow is a Stager: every
// fresh key must be staged.
type Window struct {
	o       WindowOptions
	place   Place // its Store is nil in memory
	pending *pending

	// mu guards what follows. It is held for reading while keys are asked.
	mu    sync.RWMutex
	clock clock
	all   windows   // live ones, oldest first; the last takes new keys
	gone  []*window // expired, to be removed from the disk by Maintain
	id    int64     // of the newest window
}

// window is one filter.
type window struct {
	*layers
	unit  int64  // what it expires with
	id    int64  // its name on disk, never used twice
	vault *vault // nil in memory
}

// windows are asked together.
type windows []*window

func (ws windows) has(fp uint64) bool {
	for i := len(ws) - 1; i >= 0; i-- {
		if ws[i].has(fp) {
			return true
		}
	}
	return false
}

func (ws windows) touch(fps []uint64) (sum uint64) {
	for _, w := range ws {
		sum += w.touch(fps)
	}
	return sum
}

func (ws windows) newest() *window { return ws[len(ws)-1] }

var (
	_ Stager     = (*Window)(nil)
	_ Maintainer = (*Window)(nil)
)

// NewWindow returns an empty set in memory; Stage does nothing.
func NewWindow(o WindowOptions) (*Window, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Window{o: o, pending: newPending()}, nil
}

// OpenWindow opens the set kept at p.
func OpenWindow(p Place, o WindowOptions) (*Window, error) {
	w, err := NewWindow(o)
	if err != nil {
		return nil, err
	}
	w.place = p
	return w, w.load()
}

// Add implements Set.
func (w *Window) Add(ctx context.Context, now time.Time, keys []octopus.Key, fresh []bool) error {
	if err := check(ctx, keys, fresh); err != nil {
		return err
	}
	if err := w.at(now); err != nil {
		return err
	}
	defer w.mu.RUnlock()
	c := checked{filter: w.all, pending: w.pending}
	return each(keys, w.all.touch, func(i int, fp uint64) (err error) {
		fresh[i], err = c.add(keys[i], fp)
		if fresh[i] && w.place.Store == nil {
			w.all.newest().add(fp)
			w.pending.remove(fp)
		}
		return err
	})
}

// Contains implements Set.
func (w *Window) Contains(ctx context.Context, now time.Time, keys []octopus.Key, known []bool) error {
	if err := check(ctx, keys, known); err != nil {
		return err
	}
	if err := w.at(now); err != nil {
		return err
	}
	defer w.mu.RUnlock()
	c := checked{filter: w.all, pending: w.pending}
	return each(keys, w.all.touch, func(i int, fp uint64) (err error) {
		known[i], err = c.has(keys[i], fp)
		return err
	})
}

// Stage implements Stager.
func (w *Window) Stage(b *kv.Batch, _ time.Time, keys []octopus.Key) {
	if w.place.Store == nil || len(keys) == 0 {
		return
	}
	w.mu.RLock()
	to := w.all.newest() // Add has made one
	w.mu.RUnlock()
	fps := fingerprints(keys)
	to.vault.journal.stage(b, fps, func() {
		to.fill(fps)
		for _, fp := range fps {
			w.pending.remove(fp)
		}
	})
}

// Maintain implements Maintainer: it rotates, writes snapshots of filters with
// long journals, and removes expired ones from the disk.
func (w *Window) Maintain(ctx context.Context, now time.Time) error {
	if err := check(ctx, nil, nil); err != nil {
		return err
	}
	if err := w.at(now); err != nil {
		return err
	}
	all := w.all
	w.mu.RUnlock()
	if w.place.Store == nil {
		return nil
	}
	for _, x := range all {
		if x.vault.due() {
			if err := x.vault.snapshot(); err != nil {
				return err
			}
		}
	}
	return w.clean()
}

// clean removes expired windows from the disk.
func (w *Window) clean() error {
	for {
		w.mu.RLock()
		gone := w.gone
		w.mu.RUnlock()
		if len(gone) == 0 {
			return nil
		}
		if err := gone[0].vault.remove(); err != nil {
			return err
		}
		w.mu.Lock()
		w.gone = w.gone[1:]
		err := w.save()
		w.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// Believe makes now the present at once, as an operator may who knows that the
// clock is right.
func (w *Window) Believe(now time.Time) error {
	if err := w.at(now); err != nil {
		return err
	}
	w.mu.RUnlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	unit, err := w.o.Granularity.unit(now, w.o.Zone)
	if err != nil || unit == w.clock.unit {
		return err
	}
	present := w.clock.unit
	return w.follow(present, unit, w.clock.believe(unit))
}

// WindowFill tells how full one window is.
type WindowFill struct {
	Fill
	Start   time.Time // of its unit
	Expires time.Time // its keys are forgotten then
}

// Fill tells how full the windows are, oldest first, and measures their errors.
func (w *Window) Fill() (fills []WindowFill) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	g := w.o.Granularity
	for _, x := range w.all {
		fills = append(fills, WindowFill{
			Fill: x.stats(), Start: g.start(x.unit, w.o.Zone), Expires: g.start(x.unit+int64(w.o.Windows), w.o.Zone),
		})
	}
	return fills
}
