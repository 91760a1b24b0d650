package manners

import (
	"fmt"
	"net/http"
	"time"

	"octopus"
)

// Fate is what becomes of a URL after an outcome.
type Fate uint8

const (
	Done  Fate = iota // a final answer
	Retry             // the attempt failed, and there will be another
	Again             // the host asked to wait: no attempt counted
	Fail              // the URL is bad
)

// Fate decides by status and error what becomes of a URL whose attempts failed
// tries times before. 5xx, 408, 425 and 429 are tried again, and so are errors
// of the network; 304 counts as success.
func (r *Rules) Fate(o *octopus.Outcome, tries int) Fate {
	if unavailable(o) && o.RetryAfter > 0 {
		return Again
	}
	if o.Status != 0 && o.Err == nil && !temporary(o) {
		return Done
	}
	if final(o) || tries >= r.maxTries(o) {
		return Fail
	}
	return Retry
}

// temporary reports whether a status speaks of the moment, not of the page.
func temporary(o *octopus.Outcome) bool {
	return unavailable(o) || o.Status >= 500 || o.Status == http.StatusRequestTimeout || o.Status == http.StatusTooEarly
}

// final reports whether it is of no use to try again.
func final(o *octopus.Outcome) bool {
	if o.Err == nil || temporary(o) {
		return false
	}
	return o.Err.Kind == octopus.KindForbidden || o.Err.Kind == octopus.KindTooLarge || o.Err.Kind == octopus.KindGone
}

// maxTries is the number of attempts that may fail before the last one.
func (r *Rules) maxTries(o *octopus.Outcome) int {
	if o.Err != nil && o.Err.Kind == octopus.KindNoHost {
		return min(r.MaxRetries, noHostMax-1)
	}
	return r.MaxRetries
}

// RetryPause draws the pause before attempt n (from 1): full jitter below
// RetryBase × 4^(n-1), at most six hours. draw returns a number below its
// argument.
func (r *Rules) RetryPause(n int, draw func(int64) int64) time.Duration {
	limit := min(r.RetryBase<<min(2*(n-1), 20), retryMax)
	return time.Duration(draw(int64(limit) + 1))
}

// Failure says in words what went wrong.
func Failure(o *octopus.Outcome) string {
	if o.Err != nil {
		if o.Err.Err != nil {
			return o.Err.Kind.String() + ": " + o.Err.Err.Error()
		}
		return o.Err.Kind.String()
	}
	return fmt.Sprintf("status %d %s", o.Status, http.StatusText(o.Status))
}
