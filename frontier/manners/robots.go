package manners

import (
	"bytes"
	"time"

	"octopus"
	"octopus/robots"
)

// Policy returns what is known of a robots.txt after a request for it, made at
// now; old is what was known before. One that the network guard forbids counts
// as asked for RobotsTries times: no try will change it.
func (r *Rules) Policy(now time.Time, old robots.Policy, o *octopus.Outcome) robots.Policy {
	a := robots.Answer{At: now, Status: o.Status, Body: bytes.Clone(o.Robots), RetryAfter: o.RetryAfter, MaxAge: o.CacheFor}
	if o.Err != nil {
		a.Status = 0
	}
	p := robots.Options{RetryMin: r.RobotsRetry}.Next(old, a)
	if p.Mode == robots.Unreachable && o.Err != nil && o.Err.Kind == octopus.KindForbidden {
		p.Failures = max(p.Failures, r.RobotsTries)
	}
	return p
}

// Gone reports whether a robots.txt stayed unreachable for so long that its URLs
// are set aside.
func (r *Rules) Gone(p *robots.Policy) bool {
	return p.Mode == robots.Unreachable && r.RobotsTries > 0 && p.Failures >= r.RobotsTries
}

// Delay returns the longer of d and what a robots.txt group asks for, by
// Crawl-delay or Request-rate: of several authorities of a host the longest
// holds.
func Delay(d time.Duration, g *robots.Group) time.Duration {
	for _, ask := range []func() (time.Duration, bool){g.CrawlDelay, g.RequestRate} {
		if v, ok := ask(); ok {
			d = max(d, min(v, maxCrawlDelay))
		}
	}
	return d
}

// Gap is the pause after a response of a host: the operator's, or the Crawl-delay
// where that is longer.
func Gap(hostDelay, crawlDelay time.Duration) time.Duration {
	return max(hostDelay, min(crawlDelay, maxCrawlDelay))
}
