package manners_test

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"octopus"
	"octopus/frontier/manners"
	"octopus/robots"
)

func status(code int) *octopus.Outcome { return &octopus.Outcome{Status: code} }

func failed(k octopus.Kind) *octopus.Outcome {
	return &octopus.Outcome{Err: &octopus.Error{Op: "fetch", Kind: k}}
}

func TestFate(t *testing.T) {
	r := manners.Rules{MaxRetries: 2}.WithDefaults()
	asked := status(503)
	asked.RetryAfter = time.Minute
	cut := status(200)
	cut.Err = &octopus.Error{Kind: octopus.KindDisconnect}
	for _, c := range []struct {
		name  string
		o     *octopus.Outcome
		tries int
		want  manners.Fate
	}{
		{"200", status(200), 0, manners.Done},
		{"301", status(301), 0, manners.Done},
		{"304", status(304), 0, manners.Done},
		{"404", status(404), 0, manners.Done},
		{"408", status(408), 0, manners.Retry},
		{"425", status(425), 1, manners.Retry},
		{"429", status(429), 1, manners.Retry},
		{"500, the last", status(500), 2, manners.Fail},
		{"Retry-After", asked, 2, manners.Again},
		{"cut short", cut, 0, manners.Retry},
		{"timeout", failed(octopus.KindTimeout), 1, manners.Retry},
		{"timeout, the last", failed(octopus.KindTimeout), 2, manners.Fail},
		{"no such host", failed(octopus.KindNoHost), 0, manners.Retry},
		{"no such host, twice", failed(octopus.KindNoHost), 1, manners.Fail},
		{"forbidden", failed(octopus.KindForbidden), 0, manners.Fail},
		{"too large", failed(octopus.KindTooLarge), 0, manners.Fail},
		{"nothing at all", &octopus.Outcome{}, 0, manners.Retry},
	} {
		if got := r.Fate(c.o, c.tries); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if none := (manners.Rules{MaxRetries: -1}).WithDefaults(); none.Fate(status(500), 0) != manners.Fail {
		t.Error("tried again without retries")
	}
}

func TestRetryPause(t *testing.T) {
	r := manners.Rules{RetryBase: time.Second}
	rng := rand.New(rand.NewPCG(1, 2))
	for n, most := range map[int]time.Duration{1: time.Second, 2: 4 * time.Second, 3: 16 * time.Second, 30: 6 * time.Hour} {
		longest := time.Duration(0)
		for range 1000 {
			longest = max(longest, r.RetryPause(n, rng.Int64N))
		}
		if longest > most || longest < most*9/10 {
			t.Errorf("attempt %d: pauses up to %s, want up to %s", n, longest, most)
		}
	}
}

// TestHealth takes a host through its life: each step is an answer, and how long
// and why the host is blocked after it.
func TestHealth(t *testing.T) {
	r := manners.Rules{}.WithDefaults()
	asked := status(429)
	asked.RetryAfter = 48 * time.Hour
	untouched := failed(octopus.KindConnect)
	untouched.NoRequest = true
	connect := failed(octopus.KindConnect)
	type step struct {
		o     *octopus.Outcome
		times int
		why   manners.Why
		pause time.Duration
	}
	for name, steps := range map[string][]step{
		"unavailable":                  {{status(503), 1, manners.Unavailable, time.Minute}, {status(503), 1, manners.Unavailable, 2 * time.Minute}, {status(503), 20, manners.Unavailable, 6 * time.Hour}},
		"a time is named, and bounded": {{asked, 1, manners.Asked, 24 * time.Hour}},
		"never answered": {{connect, 4, manners.Nothing, 0}, {connect, 1, manners.Breaker, 5 * time.Minute}, {connect, 2, manners.Breaker, 20 * time.Minute},
			{connect, 1, manners.Dead, 40 * time.Minute}},
		"answered once":      {{status(200), 1, manners.Nothing, 0}, {connect, 8, manners.Breaker, 40 * time.Minute}, {status(404), 1, manners.Nothing, 0}, {connect, 4, manners.Nothing, 0}},
		"no such host":       {{failed(octopus.KindNoHost), 1, manners.Breaker, 30 * time.Second}, {failed(octopus.KindNoHost), 1, manners.Dead, time.Hour}},
		"of one page":        {{failed(octopus.KindTooLarge), 9, manners.Nothing, 0}},
		"no request, no sin": {{untouched, 9, manners.Nothing, 0}},
	} {
		var h manners.Health
		now := time.Unix(1e9, 0)
		for i, s := range steps {
			for range s.times {
				now = now.Add(48 * time.Hour)
				h.After(s.o, now, &r)
			}
			if got := max(h.Blocked.Sub(now), 0); h.Why != s.why || got != s.pause {
				t.Errorf("%s, step %d: %s for %s, want %s for %s", name, i, h.Why, got, s.why, s.pause)
			}
			if dead := h.Dead(now); dead != (s.why == manners.Dead) || dead && h.DeadDetail() == "" {
				t.Errorf("%s, step %d: dead %v, %s", name, i, dead, h.DeadDetail())
			}
		}
	}
}

func TestFree(t *testing.T) {
	h := manners.Health{Alive: true}
	h.Block(manners.Operator, time.Unix(9, 0))
	h.Block(manners.Asked, time.Unix(8, 0)) // sooner: the longer one holds
	if h.Why != manners.Operator || h.Why.String() != "blocked by an operator" {
		t.Errorf("%+v", h)
	}
	if h.Free(); h != (manners.Health{Alive: true}) {
		t.Errorf("%+v", h)
	}
}

func TestRobots(t *testing.T) {
	r := manners.Rules{RobotsRetry: time.Minute, RobotsTries: 3}.WithDefaults()
	now := time.Unix(1e9, 0)
	file := status(200)
	file.Robots = []byte("User-agent: *\nCrawl-delay: 7\nRequest-rate: 1/9\n")
	p := r.Policy(now, robots.Policy{}, file)
	if p.Mode != robots.Rules || r.Gone(&p) {
		t.Errorf("%+v", p)
	}
	if d := manners.Delay(time.Second, p.For("octopus")); d != 9*time.Second {
		t.Errorf("delay %s", d)
	}
	if d := manners.Gap(time.Second, time.Hour); d != 5*time.Minute {
		t.Errorf("gap %s", d)
	}
	p = robots.Policy{}
	for i := range 3 {
		if r.Gone(&p) {
			t.Errorf("gone after %d failures", i)
		}
		p = r.Policy(now, p, failed(octopus.KindConnect))
	}
	if !r.Gone(&p) {
		t.Error("not gone after three failures")
	}
	if p = r.Policy(now, robots.Policy{}, failed(octopus.KindForbidden)); !r.Gone(&p) {
		t.Error("a forbidden one is tried again")
	}
}

func TestFailure(t *testing.T) {
	wrapped := &octopus.Outcome{Err: &octopus.Error{Kind: octopus.KindDNS, Err: errors.New("no answer")}}
	for want, o := range map[string]*octopus.Outcome{
		"status 404 " + http.StatusText(404):     status(404),
		octopus.KindTimeout.String():             failed(octopus.KindTimeout),
		octopus.KindDNS.String() + ": no answer": wrapped,
	} {
		if got := manners.Failure(o); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
