package main

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"octopus"
	"octopus/stats"
)

// statsPrinter writes rows in one of the formats.
type statsPrinter interface {
	row(stats.Row) error
	end() error // after the last one
}

func (s *statsFlags) printer(w io.Writer) statsPrinter {
	switch {
	case s.asJSON:
		return statsJSON{newJSONLines(w)}
	case s.asCSV:
		return &statsCSV{w: csv.NewWriter(w)}
	}
	return &statsText{w: bufio.NewWriter(w), board: slices.Contains(s.split, "board"), class: slices.Contains(s.split, "class")}
}

// statsView is what stats --json prints of a row.
type statsView struct {
	Start string `json:"start"` // RFC 3339, UTC
	Span  string `json:"span"`  // hour or day
	Board string `json:"board,omitempty"`
	Class string `json:"class,omitempty"` // nav, data, other or robots

	Requests   int64 `json:"requests"`
	Bytes      int64 `json:"bytes"`
	Pages      int64 `json:"pages"`
	New        int64 `json:"new"`
	Changed    int64 `json:"changed"`
	Unchanged  int64 `json:"unchanged"`
	Articles   int64 `json:"articles"`
	Duplicates int64 `json:"duplicates"`
	Near       int64 `json:"near_duplicates"`
	Redirects  int64 `json:"redirects"`
	Missing    int64 `json:"missing"`
	Failed     int64 `json:"failed"`
	Retries    int64 `json:"retries"`
	Links      int64 `json:"links"`
	Parked     int64 `json:"parked"`

	Errors  map[string]int64 `json:"errors"`  // by kind
	Capture []captureBar     `json:"capture"` // articles by the time from publication to storage; empty bars are left out
}

type captureBar struct {
	UpTo     float64 `json:"up_to_s"` // 0: longer than all others
	Articles int64   `json:"articles"`
}

func spanName(s stats.Span) string {
	if s == stats.Day {
		return "day"
	}
	return "hour"
}

func statsOf(r stats.Row) statsView {
	v := statsView{
		Start: r.Start.Format(time.RFC3339), Span: spanName(r.Span), Board: r.Board, Class: r.Class,
		Requests: r.Counts[stats.Requests], Bytes: r.Counts[stats.Bytes], Pages: r.Counts[stats.Pages], New: r.Counts[stats.New],
		Changed: r.Counts[stats.Changed], Unchanged: r.Counts[stats.Unchanged], Articles: r.Counts[stats.Articles],
		Duplicates: r.Counts[stats.Duplicates], Near: r.Counts[stats.Near], Redirects: r.Counts[stats.Redirects],
		Missing: r.Counts[stats.Missing], Failed: r.Counts[stats.Failed], Retries: r.Counts[stats.Retries],
		Links: r.Counts[stats.Links], Parked: r.Counts[stats.Parked], Errors: r.Errors(), Capture: []captureBar{},
	}
	for _, b := range r.Capture() {
		if b.Count > 0 {
			v.Capture = append(v.Capture, captureBar{b.UpTo.Seconds(), b.Count})
		}
	}
	return v
}

type statsJSON struct{ out jsonLines }

func (p statsJSON) row(r stats.Row) error { return p.out.encode(statsOf(r)) }
func (p statsJSON) end() error            { return p.out.w.Flush() }

type statsCSV struct {
	w      *csv.Writer
	headed bool
}

func (p *statsCSV) row(r stats.Row) error {
	if err := p.head(); err != nil {
		return err
	}
	line := []string{r.Start.Format(time.RFC3339), r.Board, r.Class}
	for i := range stats.Names() {
		line = append(line, strconv.FormatInt(r.Counts[i], 10))
	}
	errs := r.Errors()
	for _, kind := range errorKinds() {
		line = append(line, strconv.FormatInt(errs[kind], 10))
	}
	return p.w.Write(line)
}

func (p *statsCSV) head() error {
	if p.headed {
		return nil
	}
	p.headed = true
	line := append([]string{"start", "board", "class"}, stats.Names()...)
	for _, kind := range errorKinds() {
		line = append(line, "error_"+kind)
	}
	return p.w.Write(line)
}

func (p *statsCSV) end() error {
	if err := p.head(); err != nil {
		return err
	}
	p.w.Flush()
	return p.w.Error()
}

// errorKinds returns the names of all kinds, in their order.
func errorKinds() (names []string) {
	for k := octopus.KindOther; k <= octopus.KindCanceled; k++ {
		names = append(names, k.String())
	}
	return names
}

// statsText prints a table, and what all of it comes to.
type statsText struct {
	w            *bufio.Writer
	tab          *tabwriter.Writer
	board, class bool
	sum          stats.Row
}

func (p *statsText) row(r stats.Row) error {
	if p.tab == nil {
		p.tab = tabwriter.NewWriter(p.w, 0, 0, 2, ' ', tabwriter.AlignRight)
		p.line(spanName(r.Span)+" (UTC)", "board", "class", []string{"requests", "bytes", "pages", "new", "changed", "same", "articles", "dup", "near", "redirects", "missing", "failed", "links", "parked"})
	}
	p.sum.Add(&r.Counts)
	layout := "2006-01-02 15:00"
	if r.Span == stats.Day {
		layout = time.DateOnly
	}
	return p.line(r.Start.Format(layout), r.Board, r.Class, numbersOf(&r.Counts))
}

func (p *statsText) line(start, board, class string, cells []string) error {
	fmt.Fprintf(p.tab, "%s\t", start)
	if p.board {
		fmt.Fprintf(p.tab, "%s\t", printable(board))
	}
	if p.class {
		fmt.Fprintf(p.tab, "%s\t", class)
	}
	for _, c := range cells {
		fmt.Fprintf(p.tab, "%s\t", c)
	}
	_, err := fmt.Fprintln(p.tab)
	return err
}

func numbersOf(c *stats.Counts) []string {
	cells := []string{grouped(c[stats.Requests]), bytesText(c[stats.Bytes])}
	for _, n := range []stats.Counter{stats.Pages, stats.New, stats.Changed, stats.Unchanged, stats.Articles, stats.Duplicates, stats.Near,
		stats.Redirects, stats.Missing, stats.Failed, stats.Links, stats.Parked} {
		cells = append(cells, grouped(c[n]))
	}
	return cells
}

func (p *statsText) end() error {
	if p.tab == nil {
		fmt.Fprintln(p.w, "nothing happened in this time; --since goes further back")
		return p.w.Flush()
	}
	p.line("sum", "", "", numbersOf(&p.sum.Counts))
	p.tab.Flush()
	if text := listed("errors", p.sum.Errors()); text != "" {
		fmt.Fprintln(p.w, text)
	}
	if upTo, n := p.sum.MedianCapture(); n > 0 {
		within := "longer than a week"
		if upTo > 0 {
			within = "within " + short(upTo)
		}
		fmt.Fprintf(p.w, "capture: half of %s stored %s of publication\n", counted(n, "dated article"), within)
	}
	return p.w.Flush()
}
