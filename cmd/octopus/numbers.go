package main

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"octopus/node"
)

// grouped writes 1234567 as "1,234,567".
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// bytesText writes a size in decimal units with three digits: "41.8 MB".
func bytesText(n int64) string {
	f, unit := float64(n), "B"
	for _, u := range []string{"kB", "MB", "GB", "TB"} {
		if f < 1000 {
			break
		}
		f, unit = f/1000, u
	}
	if unit == "B" || f >= 100 {
		return fmt.Sprintf("%.0f %s", f, unit)
	}
	return fmt.Sprintf("%.1f %s", f, unit)
}

// clock writes a duration as "00:01:58".
func clock(d time.Duration) string {
	s := int64(d.Seconds())
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}

// short writes a duration with a precision that suits its size.
func short(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return node.Duration(d.Round(time.Second)).String()
	}
	return node.Duration(d.Round(time.Minute)).String()
}

// seconds is a duration for JSON, in milliseconds' precision.
func seconds(d time.Duration) float64 { return round(d.Seconds()) }

func round(f float64) float64 { return math.Round(f*1000) / 1000 }

// statusMap is Class with names; requests without an answer are under errors.
func statusMap(st node.Status) map[string]int64 {
	m := map[string]int64{}
	for i := 1; i < len(st.Class); i++ {
		m[fmt.Sprintf("%dxx", i)] = st.Class[i]
	}
	return m
}

func notNil(m map[string]int64) map[string]int64 {
	if m == nil {
		return map[string]int64{}
	}
	return m
}

// listed writes "title 12: scope 10, robots 2", or nothing where there is
// nothing.
func listed(title string, counts map[string]int64) string {
	sum := int64(0)
	for _, n := range counts {
		sum += n
	}
	if sum == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s: %s", title, grouped(sum), ranking(counts))
}

// rateText writes a rate with three digits, never as a power of ten.
func rateText(perSecond float64) string {
	if perSecond >= 999.5 {
		return grouped(int64(perSecond + 0.5))
	}
	return fmt.Sprintf("%.3g", perSecond)
}

// counted writes a number of things: "1 page", "3,911 pages".
func counted(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return grouped(n) + " " + thing + "s"
}
