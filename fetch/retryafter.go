package fetch

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	minRetryAfter = time.Second
	maxRetryAfter = 24 * time.Hour
)

// retryAfter reads Retry-After (RFC 9110, section 10.2.3): seconds, or a date.
// A date is measured against the server's own Date where it sent one, so that
// its clock need not be right; else against now. The result is between 1 s and
// 24 h, or 0 where there is no such field or it cannot be read.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if value == "" {
		return 0
	}
	if strings.Trim(value, "0123456789") == "" {
		seconds, err := strconv.ParseInt(value, 10, 32)
		if err != nil { // too many digits: a very long time
			return maxRetryAfter
		}
		return clamp(time.Duration(seconds) * time.Second)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return clamp(at.Sub(now))
}

func clamp(d time.Duration) time.Duration {
	return min(max(d, minRetryAfter), maxRetryAfter)
}
