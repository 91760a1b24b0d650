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
	end    time.Time // of the current window; zero where windows never end
	expire time.Time // of the current window's key
}

// windowsAt returns the windows of t. A set without windows has one filter that
// never ends.
func (o *Options) windowsAt(t time.Time) windows {
	if o.Kind != Window {
		return windows{names: []string{""}}
	}
	t = t.In(o.Zone)
	w := windows{end: start(o.Granularity, t, 1), expire: start(o.Granularity, t, o.Windows)}
	for i := range o.Windows {
		w.names = append(w.names, ":"+start(o.Granularity, t, -i).Format(layouts[o.Granularity]))
	}
	return w
}
