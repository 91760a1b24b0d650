package main

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"octopus/node"
)

// view renders a status; it is pure: update, then bar, plain or object.
type view struct {
	head     string
	maxPages int64
	maxTime  time.Duration
	trend    trend
	st       node.Status
}

func (v *view) update(st node.Status) {
	v.st = st
	v.trend.add(st)
}

// bar returns the six lines of the live display, none wider than columns.
func (v *view) bar(columns int) []string {
	st, c := v.st, v.st.Counts
	lines := []string{
		v.head,
		fmt.Sprintf(" %s  pages %s / %s found  %s  eta %s", clock(st.Elapsed), grouped(c.Pages), grouped(c.Known), v.meter(), v.etaText()),
		fmt.Sprintf(" now %s/s  avg %s/s  %s  %s", rateText(v.trend.rate()), rateText(average(st)), classes(st), bytesText(st.Bytes)),
		fmt.Sprintf(" queue %s  later %s  in flight %d   known again %s%s", grouped(c.Queued), grouped(c.Later), st.InFlight, grouped(st.Known), listed("   skipped", st.Skipped)),
		fmt.Sprintf(" hosts %s", grouped(c.Hosts)),
		fmt.Sprintf(" %-12s  last: %s", v.trend.spark(12), lastText(st.Last)),
	}
	for _, o := range st.Outputs {
		if o.Error != "" {
			lines[4] += fmt.Sprintf("   output %s: %s behind, %s", o.Name, counted(o.Pending, "record"), printable(o.Error))
		}
	}
	if st.Waiting != "" {
		lines[4] += "   waiting: " + printable(st.Waiting)
	}
	for i, line := range lines {
		lines[i] = clip(line, columns-1)
	}
	return lines
}

// meter shows which part of what was found is done.
func (v *view) meter() string {
	const cells = 16
	part := 0.0
	if c := v.st.Counts; c.Known > 0 {
		part = float64(c.Known-c.Queued+c.Again) / float64(c.Known)
	}
	if v.maxPages > 0 {
		part = max(part, min(1, float64(v.st.Counts.Pages)/float64(v.maxPages)))
	}
	full := int(part * cells)
	return fmt.Sprintf("%s%s %3.0f%%", strings.Repeat("█", full), strings.Repeat("░", cells-full), math.Floor(part*100))
}

func (v *view) etaText() string {
	if d := v.trend.eta(v.maxPages, v.maxTime, v.st); d > 0 {
		return "~" + short(d)
	}
	return "unknown"
}

// plain returns the line for logs: key=value, the same keys in every line.
func (v *view) plain() string {
	st, c := v.st, v.st.Counts
	s := fmt.Sprintf("t=%s pages=%d found=%d rate=%.1f 2xx=%d 3xx=%d 4xx=%d 5xx=%d err=%d robots=%d queue=%d later=%d inflight=%d hosts=%d bytes=%s eta=%s",
		st.Elapsed.Round(time.Second), c.Pages, c.Known, average(st), st.Class[2], st.Class[3], st.Class[4], st.Class[5], st.Class[0],
		st.Skipped["robots"], c.Queued, c.Later, st.InFlight, c.Hosts, strings.ReplaceAll(bytesText(st.Bytes), " ", ""), v.etaText())
	for _, o := range st.Outputs {
		if o.Error != "" {
			s += fmt.Sprintf(" output=%q pending=%d error=%q", o.Name, o.Pending, o.Error)
		}
	}
	if st.Waiting != "" {
		s += fmt.Sprintf(" waiting=%q", st.Waiting)
	}
	return s
}

// progressObject is one line of --progress json. docs/reference/cli.md
// documents its fields.
type progressObject struct {
	Type     string           `json:"type"` // "progress"
	Elapsed  float64          `json:"elapsed_s"`
	Pages    int64            `json:"pages"`
	Found    int64            `json:"found"`
	Queued   int64            `json:"queued"`
	Later    int64            `json:"later"`
	InFlight int64            `json:"in_flight"`
	Hosts    int64            `json:"hosts"`
	Rate     float64          `json:"rate"`
	ETA      *float64         `json:"eta_s"` // null: nothing can be said yet
	Bytes    int64            `json:"bytes"`
	Status   map[string]int64 `json:"status"`
	Errors   map[string]int64 `json:"errors"`
	Skipped  map[string]int64 `json:"skipped"`
	Waiting  string           `json:"waiting"`
	Outputs  []outputState    `json:"outputs,omitempty"`
}

// outputState is how far an output is.
type outputState struct {
	Name    string `json:"name"`
	Pending int64  `json:"pending"` // records it does not have yet
	Error   string `json:"error"`   // why the last write failed, or empty
}

func (v *view) object() progressObject {
	st, c := v.st, v.st.Counts
	o := progressObject{Type: "progress", Elapsed: seconds(st.Elapsed), Pages: c.Pages, Found: c.Known, Queued: c.Queued, Later: c.Later,
		InFlight: st.InFlight, Hosts: c.Hosts, Rate: round(v.trend.rate()), Bytes: st.Bytes, Status: statusMap(st),
		Errors: notNil(st.Errors), Skipped: notNil(st.Skipped), Waiting: st.Waiting}
	for _, out := range st.Outputs {
		o.Outputs = append(o.Outputs, outputState(out))
	}
	if d := v.trend.eta(v.maxPages, v.maxTime, st); d > 0 {
		s := seconds(d)
		o.ETA = &s
	}
	return o
}

// average is pages per second since the start.
func average(st node.Status) float64 {
	if st.Elapsed <= 0 {
		return 0
	}
	return float64(st.Pages) / st.Elapsed.Seconds()
}

func classes(st node.Status) string {
	return fmt.Sprintf("2xx %s  3xx %s  4xx %s  5xx %s  err %s", grouped(st.Class[2]), grouped(st.Class[3]), grouped(st.Class[4]), grouped(st.Class[5]), grouped(st.Class[0]))
}

func lastText(l node.Visit) string {
	if l.URL == "" {
		return "-"
	}
	what := fmt.Sprint(l.Status)
	if l.Error != "" {
		what = printable(l.Error)
	}
	s := fmt.Sprintf("%s %dms %s", what, l.Took.Milliseconds(), printable(l.URL))
	if l.Title != "" {
		s += fmt.Sprintf("  “%s”", printable(l.Title))
	}
	return s
}

// printable replaces what could move the cursor or change colours: titles and
// URLs come from strangers.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}

// clip cuts a line to a number of terminal columns; CJK takes two each.
func clip(s string, columns int) string {
	used := 0
	for i, r := range s {
		w := 1
		if wide(r) {
			w = 2
		} else if unicode.Is(unicode.Mn, r) {
			w = 0
		}
		if used+w > columns {
			return s[:i]
		}
		used += w
	}
	return s
}

// wide tells whether terminals give a character two columns: the blocks of CJK,
// Hangul, full-width forms and emoji (Unicode Standard Annex 11).
func wide(r rune) bool {
	for _, block := range [...][2]rune{{0x1100, 0x115f}, {0x2e80, 0xa4cf}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f},
		{0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}} {
		if r >= block[0] && r <= block[1] {
			return true
		}
	}
	return false
}
