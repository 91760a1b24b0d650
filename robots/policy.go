package robots

import "time"

// Mode says what holds for a host.
type Mode uint8

const (
	// Unreachable: robots.txt could not be had. Nothing may be fetched; URLs
	// wait, they are not given up. It is the zero value.
	Unreachable Mode = iota
	// Rules: the file says.
	Rules
	// AllowAll: there is no robots.txt.
	AllowAll
)

// String returns the mode as a word.
func (m Mode) String() string {
	switch m {
	case Rules:
		return "rules"
	case AllowAll:
		return "allow-all"
	}
	return "unreachable"
}

// Times of RFC 9309 section 2.4 and of good manners.
const (
	CacheMax  = 24 * time.Hour      // an answer is asked for again after this
	CacheMin  = 10 * time.Minute    // and not before this, whatever Cache-Control says
	StaleMax  = 30 * 24 * time.Hour // an old copy holds this long while the file is unreachable
	RetryMin  = 5 * time.Minute     // first retry; doubles with each failure
	RetryMax  = 6 * time.Hour       // up to this
	AfterMin  = time.Second         // bounds of a server's Retry-After
	AfterMax  = 24 * time.Hour
	threshold = 16 // failures after which doubling has long reached RetryMax
)

// Answer is what a request for robots.txt brought, redirects followed.
type Answer struct {
	At         time.Time     // when it ended
	Status     int           // HTTP status; 0 for no answer, or one cut short
	Body       []byte        // of a 2xx, decoded
	RetryAfter time.Duration // what the server asked for; 0 where it did not
	MaxAge     time.Duration // of Cache-Control; 0 where absent
}

// Policy is what is known of one authority's robots.txt. Its owner keeps it on
// disk, so that a restart asks nobody again. The zero Policy knows nothing: it
// forbids all and is due at once.
type Policy struct {
	Mode     Mode
	Text     []byte    // of Rules, at most MaxSize
	Fetched  time.Time // of the answer that Mode and Text come from, or of the first failure if there was none
	Next     time.Time // when to ask again
	Failures int       // unreachable answers in a row
}

// Options are choices of the operator.
type Options struct {
	// RetryMin replaces the constant of that name: the pause before the first
	// retry of an unreachable file. 0 means the constant.
	RetryMin time.Duration
}

// Due reports whether robots.txt is to be asked for again.
func (p Policy) Due(now time.Time) bool { return !now.Before(p.Next) }

// Next returns the policy after an answer. 2xx gives the file's rules; 4xx, and
// redirects without end, mean that there is no file; 429, 5xx and no answer at
// all mean that it is unreachable: what was known before goes on for StaleMax,
// then nothing may be fetched.
func (o Options) Next(p Policy, a Answer) Policy {
	switch {
	case a.Status >= 200 && a.Status < 300:
		return Policy{Mode: Rules, Text: clip(a.Body), Fetched: a.At, Next: a.At.Add(cacheFor(a.MaxAge))}
	case a.Status >= 300 && a.Status < 500 && a.Status != 429:
		return Policy{Mode: AllowAll, Fetched: a.At, Next: a.At.Add(cacheFor(a.MaxAge))}
	}
	return o.unreachable(p, a)
}

func (o Options) unreachable(p Policy, a Answer) Policy {
	if p.Fetched.IsZero() {
		p.Fetched = a.At // nothing to hold on to; StaleMax counts from here
	}
	p.Failures++
	p.Next = a.At.Add(o.retryIn(p.Failures, a.RetryAfter))
	if a.At.Sub(p.Fetched) >= StaleMax {
		p.Mode, p.Text = Unreachable, nil // RFC 9309 would permit to take the host for one without a file
	}
	return p
}

// cacheFor is how long an answer holds.
func cacheFor(maxAge time.Duration) time.Duration {
	if maxAge <= 0 {
		return CacheMax
	}
	return min(max(maxAge, CacheMin), CacheMax)
}

// retryIn is how long to wait after so many failures in a row.
func (o Options) retryIn(failures int, after time.Duration) time.Duration {
	if after > 0 {
		return min(max(after, AfterMin), AfterMax)
	}
	first := o.RetryMin
	if first <= 0 {
		first = RetryMin
	}
	return min(first<<min(failures-1, threshold), RetryMax)
}

// For returns the group that a policy comes to, for a crawler's product token.
// Of an unreachable host it forbids all but /robots.txt.
func (p Policy) For(agent string) *Group {
	switch p.Mode {
	case Rules:
		return Parse(p.Text).For(agent)
	case AllowAll:
		return &Group{agent: "*"}
	}
	return &Group{agent: "*", rules: []matcher{{
		rule: rule{pattern: "/"}, text: "robots.txt is unreachable",
	}}}
}
