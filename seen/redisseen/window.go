package redisseen

import (
	"time"

	"octopus/seen"
)

// start returns the beginning of the window that is n units away from the one
// with t in it. Hours are those of UTC in every zone: no hour is shorter than
// another or comes twice.
func start(g seen.Granularity, t time.Time, n int) time.Time {
	y, m, d := t.Date()
	switch g {
	case seen.Hour:
		return t.UTC().Truncate(time.Hour).Add(time.Duration(n) * time.Hour)
	case seen.Day:
		return time.Date(y, m, d+n, 0, 0, 0, 0, t.Location())
	}
	return time.Date(y, m+time.Month(n), 1, 0, 0, 0, 0, t.Location())
}

// layouts are the part of a key that tells the window: 2019050813, 20190508,
// 201905.
var layouts = map[seen.Granularity]string{seen.Hour: "2006010215", seen.Day: "20060102", seen.Month: "200601"}

// windows is what a call has to know of time: the windows that count from start
// to end. It is a pure function of the time.
type windows struct {
	names  []string  // current first
	begin  time.Time // of the current window
	end    time.Time // of the current window; zero where windows never end
	expire time.Time // of the current window's key
	doubt  time.Time // a clock before it proves a jump ahead wrong; zero for none
}

// windowsAt returns the windows of t. A set without windows has one filter that
// never ends.
func (o *Options) windowsAt(t time.Time) windows {
	if o.Kind != Window {
		return windows{names: []string{""}}
	}
	t = t.In(o.Zone)
	w := windows{begin: start(o.Granularity, t, 0), end: start(o.Granularity, t, 1), expire: start(o.Granularity, t, o.Windows)}
	for i := range o.Windows {
		w.names = append(w.names, ":"+start(o.Granularity, t, -i).Format(layouts[o.Granularity]))
	}
	return w
}

// follow returns the windows after w when the clock says t. A clock that goes
// back changes nothing: the newest window that was used stays the current one
// until its end, so nothing is forgotten early. One that jumped ahead by more
// than all windows, and comes back, was wrong: then its windows are given up.
func (o *Options) follow(w windows, t time.Time) windows {
	next := o.windowsAt(t)
	switch {
	case w.names == nil:
		return next
	case !w.doubt.IsZero() && t.Before(w.doubt):
		return next
	case !next.end.After(w.end):
		return w
	case next.begin.After(start(o.Granularity, w.end.In(o.Zone), o.Windows)):
		next.doubt = next.begin
		if !w.doubt.IsZero() {
			next.doubt = w.doubt
		}
	}
	return next
}
