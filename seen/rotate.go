package seen

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"octopus/kv"
)

// at makes now the present, and returns with mu held for reading; after an
// error it is not held.
func (w *Window) at(now time.Time) error {
	unit, err := w.o.Granularity.unit(now, w.o.Zone)
	if err != nil {
		return err
	}
	w.mu.RLock()
	if len(w.all) > 0 && unit == w.clock.unit && !w.clock.away && w.clock.toldAt(now) {
		return nil
	}
	w.mu.RUnlock()
	w.mu.Lock()
	err = w.rotate(now, unit)
	w.mu.Unlock()
	if err == nil {
		w.mu.RLock()
	}
	return err
}

// toldAt reports whether the clock was told a time so near to now that now
// tells it nothing.
func (c *clock) toldAt(now time.Time) bool {
	step := now.Sub(c.last)
	return !c.last.IsZero() && step >= 0 && step < settleTime/10
}

// rotate tells the clock the time and does what it says. The caller holds mu.
func (w *Window) rotate(now time.Time, unit int64) error {
	if len(w.all) == 0 {
		w.clock = clock{unit: unit, last: now}
		return w.push(unit)
	}
	present, away := w.clock.unit, w.clock.away
	err := w.follow(present, unit, w.clock.tell(now, unit))
	if err == nil && w.clock.away != away {
		err = w.save()
	}
	return err
}

// follow does what the clock said when present was the present.
func (w *Window) follow(present, unit int64, v verdict) error {
	newest := w.all.newest()
	apart := newest.unit > present // it was made for a jump ahead
	switch {
	case v == ahead && !apart:
		return w.push(unit)
	case v == stay && apart: // the jump was none: what came meanwhile is of the present
		newest.unit = present
		return w.save()
	case v == moved: // nobody knows how old they are: they expire as if new
		for _, x := range w.all {
			x.unit = unit
		}
		return w.save()
	case v == advanced:
		if apart {
			newest.unit = unit
		}
		w.expire(unit)
		if len(w.all) == 0 || w.all.newest().unit < unit {
			return w.push(unit)
		}
		return w.save()
	}
	return nil
}

// expire drops the windows that lie Windows units or more behind unit.
func (w *Window) expire(unit int64) {
	n := 0
	for n < len(w.all) && w.all[n].unit <= unit-int64(w.o.Windows) {
		n++
	}
	if w.place.Store != nil {
		w.gone = append(w.gone, w.all[:n]...)
	}
	w.all = slices.Clone(w.all[n:])
}

// push makes a new window, the one for new keys.
func (w *Window) push(unit int64) error {
	x, err := w.open(w.id+1, unit)
	if err != nil {
		return err
	}
	w.id++
	w.all = append(w.all[:len(w.all):len(w.all)], x)
	return w.save()
}

// open returns the window with an id, empty or as it is on disk.
func (w *Window) open(id, unit int64) (*window, error) {
	s := sizing{w.o.Capacity, WindowError(w.o.ErrorRate, w.o.Windows)}
	x := &window{unit: unit, id: id}
	if w.place.Store == nil {
		x.layers = newLayers(s, inMemory)
		return x, nil
	}
	p := w.place
	p.Prefix = binary.BigEndian.AppendUint64(append(slices.Clone(p.Prefix), keyWindowJournal), uint64(id))
	v, err := openVault(p, fmt.Sprintf("window-%d", id), s, false)
	if err != nil {
		return nil, err
	}
	x.vault, x.layers = v, v.layers
	return x, nil
}

// The state of a Window, under its prefix; numbers are big-endian:
//
//	+--------+---+--------+      +----------+
//	| prefix | w | id (8) |  ->  | unit (8) |              a window that is live, or not removed yet
//	| prefix | w | 0  (8) |  ->  | present unit (8) | Unix second in which a jump began, or 0 (8) |
//	| prefix | j | id (8) | l | …                          a window's journal
//	+--------+---+--------+
const keyWindowJournal = 'j'

func (w *Window) stateKey(id int64) []byte {
	return binary.BigEndian.AppendUint64(append(slices.Clone(w.place.Prefix), keyWindow), uint64(id))
}

// save stores the windows' units and the present. The caller holds mu.
func (w *Window) save() error {
	if w.place.Store == nil {
		return nil
	}
	since := int64(0)
	if w.clock.away {
		since = w.clock.since.Unix()
	}
	var b kv.Batch
	b.DeleteRange(w.stateKey(0), kv.PrefixEnd(w.stateKey(0)[:len(w.place.Prefix)+1]))
	b.Set(w.stateKey(0), binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(w.clock.unit)), uint64(since)))
	for _, x := range slices.Concat(w.gone, w.all) {
		b.Set(w.stateKey(x.id), binary.BigEndian.AppendUint64(nil, uint64(x.unit)))
	}
	return w.place.Store.Apply(&b, kv.NoSync)
}

// load opens the windows on disk.
func (w *Window) load() error {
	lo := w.stateKey(0)[:len(w.place.Prefix)+1]
	err := w.place.Store.Scan(lo, kv.PrefixEnd(lo), func(key, value []byte) error {
		if len(key) != len(lo)+8 || len(value) != 8 && len(value) != 16 {
			return fmt.Errorf("seen: window: damaged: key %x = %x", key, value)
		}
		id, unit := int64(binary.BigEndian.Uint64(key[len(lo):])), int64(binary.BigEndian.Uint64(value))
		if id == 0 {
			return w.loadClock(unit, value[8:])
		}
		x, err := w.open(id, unit)
		w.all = append(w.all, x)
		w.id = max(w.id, id)
		return err
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(w.all, func(a, b *window) int { return int(min(max(a.unit-b.unit, -1), 1)) })
	w.expire(w.clock.unit)
	return nil
}

func (w *Window) loadClock(unit int64, rest []byte) error {
	if len(rest) != 8 {
		return fmt.Errorf("seen: window: damaged: the clock has %d bytes more", len(rest))
	}
	w.clock.unit = unit
	if since := int64(binary.BigEndian.Uint64(rest)); since != 0 {
		w.clock.away, w.clock.since = true, time.Unix(since, 0)
	}
	return nil
}
