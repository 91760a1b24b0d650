package main

import (
	"time"

	"octopus/node"
)

// trend is the recent past of a crawl, one sample a second: enough to tell the
// present rate and when found and done will meet.
type trend struct {
	samples []sample // oldest first, at most trendLen
}

type sample struct {
	at                 time.Duration // since the start
	found, done, pages int64
}

const trendLen = 61 // one minute

// add notes a status; one sample a second is kept.
func (t *trend) add(st node.Status) {
	if n := len(t.samples); n > 0 && st.Elapsed-t.samples[n-1].at < time.Second {
		return
	}
	t.samples = append(t.samples, sample{st.Elapsed, st.Counts.Known, st.Counts.Known - st.Counts.Queued, st.Pages})
	if len(t.samples) > trendLen {
		t.samples = t.samples[1:]
	}
}

// since returns the newest sample and the one that is at least d older, or the
// oldest there is.
func (t *trend) since(d time.Duration) (from, to sample, ok bool) {
	n := len(t.samples)
	if n < 2 {
		return from, to, false
	}
	from, to = t.samples[0], t.samples[n-1]
	for _, s := range t.samples[:n-1] {
		if to.at-s.at >= d {
			from = s
		}
	}
	return from, to, true
}

// rate returns the pages per second of the last ten seconds.
func (t *trend) rate() float64 {
	from, to, ok := t.since(10 * time.Second)
	if !ok {
		return 0
	}
	return float64(to.pages-from.pages) / (to.at - from.at).Seconds()
}

// eta estimates the time left from where the lines of found and done cross,
// and from the limits; 0 means that nothing can be said yet.
func (t *trend) eta(maxPages int64, maxTime time.Duration, st node.Status) time.Duration {
	least := time.Duration(0)
	keep := func(seconds float64) {
		d := time.Duration(seconds * float64(time.Second))
		if seconds < 1e8 && (least == 0 || d < least) {
			least = max(d, time.Second)
		}
	}
	if from, to, ok := t.since(time.Minute); ok {
		closing := float64(to.done-from.done-(to.found-from.found)) / (to.at - from.at).Seconds()
		if closing > 0 {
			keep(float64(to.found-to.done) / closing)
		}
	}
	if rate := t.rate(); maxPages > 0 && rate > 0 {
		keep(float64(maxPages-st.Counts.Pages) / rate)
	}
	if maxTime > 0 {
		keep((maxTime - st.Elapsed).Seconds())
	}
	return least
}

// spark draws the pages per second of the last samples, newest at the right.
func (t *trend) spark(columns int) string {
	blocks := []rune("▁▂▃▄▅▆▇█")
	var rates []float64
	top := 0.0
	for i := max(1, len(t.samples)-columns); i < len(t.samples); i++ {
		from, to := t.samples[i-1], t.samples[i]
		r := float64(to.pages-from.pages) / (to.at - from.at).Seconds()
		rates, top = append(rates, r), max(top, r)
	}
	line := make([]rune, len(rates))
	for i, r := range rates {
		level := 0
		if top > 0 {
			level = int(r / top * float64(len(blocks)-1))
		}
		line[i] = blocks[level]
	}
	return string(line)
}
