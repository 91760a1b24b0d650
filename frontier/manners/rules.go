package manners

import "time"

// Rules are the settings of the manners. The zero value has the defaults, once
// WithDefaults was called.
type Rules struct {
	// MaxRetries is the number of further attempts after a failed one. 0 means
	// the default, 3; negative means none.
	MaxRetries int
	// RetryBase is the upper end of the random pause before the first further
	// attempt; it grows fourfold each time, up to six hours. Default 30 s.
	RetryBase time.Duration
	// RobotsRetry is the pause before an unreachable robots.txt is asked for
	// again; it doubles up to six hours. Default 5 min.
	RobotsRetry time.Duration
	// RobotsTries is the number of times a robots.txt may be unreachable in a
	// row before the URLs that wait for it are set aside, as dead. A crawl that
	// has to end needs it. 0: they wait for as long as it takes.
	RobotsTries int
	// Pauses are the first pauses of hosts in trouble.
	Pauses Pauses
}

// Pauses say how long a host in trouble is left alone at first. Each doubles
// with every further failure, up to a fixed bound.
type Pauses struct {
	// Unavailable follows a 429 or 503 without Retry-After. Default 60 s, up to
	// 6 h.
	Unavailable time.Duration
	// Breaker follows five connection failures in a row; then one request
	// probes. Default 5 min, up to 24 h.
	Breaker time.Duration
	// Dead follows the second answer "no such host", and the third failed probe
	// of a host that never answered: its URLs are parked, and new ones are
	// taken again after it. Default 1 h, up to 24 h.
	Dead time.Duration
}

// Limits that are no settings.
const (
	maxCrawlDelay  = 300 * time.Second // a longer Crawl-delay is cut to this
	minRetryAfter  = time.Second
	maxRetryAfter  = 24 * time.Hour
	unavailableMax = 6 * time.Hour
	breakerAfter   = 5 // connection failures in a row that open the breaker
	breakerMax     = 24 * time.Hour
	probesMax      = 3 // failed probes after which a host that never answered is dead
	retryMax       = 6 * time.Hour
	noHostMax      = 2 // answers "no such host" in a row after which a host is dead
	deadMax        = 24 * time.Hour
)

// WithDefaults returns the rules with every field set.
func (r Rules) WithDefaults() Rules {
	setDefault(&r.MaxRetries, 3)
	r.MaxRetries = max(r.MaxRetries, 0)
	setDefault(&r.RetryBase, 30*time.Second)
	setDefault(&r.Pauses.Unavailable, time.Minute)
	setDefault(&r.Pauses.Breaker, 5*time.Minute)
	setDefault(&r.Pauses.Dead, time.Hour)
	return r
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
