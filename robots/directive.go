package robots

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// kind is what a line's key means.
type kind uint8

const (
	unknown kind = iota
	userAgent
	allow
	disallow
	sitemap
	crawlDelay
	requestRate
)

// keys are matched as prefixes, whatever their case. The misspellings of
// User-agent and Disallow are those that Google's parser takes: they err to the
// side of the site's owner, so there are none of Allow.
var keys = []struct {
	prefix string
	kind   kind
}{
	{"user-agent", userAgent}, {"useragent", userAgent}, {"user agent", userAgent},
	{"allow", allow},
	{"disallow", disallow}, {"dissallow", disallow}, {"dissalow", disallow},
	{"disalow", disallow}, {"diasllow", disallow}, {"disallaw", disallow},
	{"sitemap", sitemap}, {"site-map", sitemap},
	{"crawl-delay", crawlDelay}, {"crawldelay", crawlDelay},
	{"request-rate", requestRate},
}

func directive(key string) kind {
	for _, k := range keys {
		if len(key) >= len(k.prefix) && strings.EqualFold(key[:len(k.prefix)], k.prefix) {
			return k.kind
		}
	}
	return unknown
}

// Token returns the product token at the start of a user-agent value: letters,
// "-" and "_", as RFC 9309 section 2.2.1 has it. "Octopus/1.2 (+url)" is
// "Octopus".
func Token(agent string) string {
	for i := range len(agent) {
		if c := agent[i]; (c|0x20 < 'a' || c|0x20 > 'z') && c != '-' && c != '_' {
			return agent[:i]
		}
	}
	return agent
}

// maxGap bounds what a file can ask for, so that durations do not overflow. What
// a crawler does with a long one is its own affair.
const maxGap = 366 * 24 * time.Hour

// parseDelay reads seconds with an optional fraction.
func parseDelay(value string) (time.Duration, bool) {
	s, err := strconv.ParseFloat(value, 64)
	if err != nil || !(s >= 0) {
		return 0, false
	}
	return seconds(s), true
}

// parseRate reads "documents/period", the period in seconds or with a unit
// (1/5, 30/1m, 100/1h), and returns the gap between two documents. A time of day
// behind it is ignored: the rate then holds all day.
func parseRate(value string) (time.Duration, bool) {
	value, _, _ = strings.Cut(value, " ")
	docs, period, ok := strings.Cut(value, "/")
	n, err := strconv.Atoi(docs)
	if !ok || err != nil || n <= 0 || period == "" {
		return 0, false
	}
	unit := 1.0
	switch period[len(period)-1] | 0x20 {
	case 's':
		period = period[:len(period)-1]
	case 'm':
		unit, period = 60, period[:len(period)-1]
	case 'h':
		unit, period = 3600, period[:len(period)-1]
	}
	p, err := strconv.ParseFloat(period, 64)
	if err != nil || !(p >= 0) {
		return 0, false
	}
	return seconds(p * unit / float64(n)), true
}

func seconds(s float64) time.Duration {
	return time.Duration(math.Min(s, maxGap.Seconds()) * float64(time.Second))
}
