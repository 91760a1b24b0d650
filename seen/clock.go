package seen

import (
	"fmt"
	"time"
)

// Granularity is the unit of a window.
type Granularity string

const (
	Hour  Granularity = "hour"
	Day   Granularity = "day"
	Month Granularity = "month"
)

// unit numbers hours, days or months so that the next one has the next number.
// Days and months are those of zone's calendar.
func (g Granularity) unit(now time.Time, zone *time.Location) (int64, error) {
	t := now.In(zone)
	switch g {
	case Hour: // of UTC in every zone: no hour is ever shorter or comes twice
		return floorDiv(now.Unix(), 3600), nil
	case Day:
		y, m, d := t.Date()
		return floorDiv(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix(), 86400), nil
	case Month:
		return int64(t.Year())*12 + int64(t.Month()) - 1, nil
	}
	return 0, fmt.Errorf("seen: window: granularity %q: want hour, day or month", g)
}

func floorDiv(a, b int64) int64 {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}

// start returns when a unit begins.
func (g Granularity) start(unit int64, zone *time.Location) time.Time {
	switch g {
	case Hour:
		return time.Unix(unit*3600, 0).In(zone)
	case Day:
		return time.Date(1970, 1, 1+int(unit), 0, 0, 0, 0, zone)
	default:
		return time.Date(int(floorDiv(unit, 12)), time.Month(unit-12*floorDiv(unit, 12)+1), 1, 0, 0, 0, 0, zone)
	}
}

// settleTime is how long a clock that jumped must have gone on from there
// before it is believed.
const settleTime = 10 * time.Minute

// clock decides which unit it is, from clocks that may be wrong. It is pure: it
// knows only the times it is told. A step of at most settleTime is the passing
// of time. Anything else is a jump: the clock is believed once it has gone on
// from there for settleTime; until then new keys go into a window of their own
// (forward) or the present one (backward), and nothing expires.
type clock struct {
	unit  int64 // the present, as believed
	last  time.Time
	away  bool      // the clock is somewhere that is not believed yet
	since time.Time // when it came there, by itself
}

// verdict is what a clock says of a time.
type verdict uint8

const (
	stay     verdict = iota // the present goes on; a clock behind it is not believed
	ahead                   // the clock jumped forward, and is not believed yet
	advanced                // a later unit has become the present
	moved                   // an earlier unit has become the present
)

// tell takes a time and the unit it lies in. The first time a clock is told
// anything, after a restart, a jump that began before it counts as gone on.
func (c *clock) tell(now time.Time, unit int64) verdict {
	first := c.last.IsZero()
	step := now.Sub(c.last)
	smooth := !first && step >= -settleTime && step <= settleTime
	c.last = now
	if unit == c.unit || unit == c.unit-1 && smooth { // a boundary crossed backwards
		c.away = false
		return stay
	}
	if smooth && !c.away && unit == c.unit+1 {
		c.unit = unit
		return advanced
	}
	if !c.away || !smooth && !first {
		c.away, c.since = true, now
	}
	if now.Sub(c.since) >= settleTime {
		return c.believe(unit)
	}
	if unit > c.unit {
		return ahead
	}
	return stay
}

// believe makes unit the present.
func (c *clock) believe(unit int64) verdict {
	back := unit < c.unit
	c.unit, c.away = unit, false
	if back {
		return moved
	}
	return advanced
}
