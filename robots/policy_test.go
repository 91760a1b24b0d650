package robots_test

import (
	"strings"
	"testing"
	"time"

	"octopus/robots"
)

var t0 = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const text = "User-agent: *\nDisallow: /private\n"

// What each status means for a host of which nothing was known.
func TestPolicyByStatus(t *testing.T) {
	for _, c := range []struct {
		status int
		mode   robots.Mode
		next   time.Duration
	}{
		{200, robots.Rules, 24 * time.Hour}, {204, robots.Rules, 24 * time.Hour},
		{301, robots.AllowAll, 24 * time.Hour}, {304, robots.AllowAll, 24 * time.Hour},
		{401, robots.AllowAll, 24 * time.Hour}, {403, robots.AllowAll, 24 * time.Hour},
		{404, robots.AllowAll, 24 * time.Hour}, {410, robots.AllowAll, 24 * time.Hour}, {451, robots.AllowAll, 24 * time.Hour},
		{429, robots.Unreachable, 5 * time.Minute}, {500, robots.Unreachable, 5 * time.Minute},
		{503, robots.Unreachable, 5 * time.Minute}, {0, robots.Unreachable, 5 * time.Minute}, {100, robots.Unreachable, 5 * time.Minute},
	} {
		a := robots.Answer{At: t0, Status: c.status}
		if c.status == 200 {
			a.Body = []byte(text)
		}
		p := robots.Options{}.Next(robots.Policy{}, a)
		if p.Mode != c.mode || p.Next != t0.Add(c.next) {
			t.Errorf("%d: %s until %s, want %s for %s", c.status, p.Mode, p.Next, c.mode, c.next)
		}
		g := p.For("octopus")
		private, open := g.Check("/private/x").Allowed, g.Check("/x").Allowed
		if want := c.mode == robots.AllowAll || c.status == 204; private != want {
			t.Errorf("%d: /private/x allowed: %v", c.status, private)
		}
		if want := c.mode != robots.Unreachable; open != want {
			t.Errorf("%d: /x allowed: %v", c.status, open)
		}
	}
}

func TestPolicyZeroValue(t *testing.T) {
	var p robots.Policy
	if !p.Due(t0) || p.For("x").Check("/").Allowed || !p.For("x").Check("/robots.txt").Allowed {
		t.Error("the zero policy must be due and forbid all but robots.txt")
	}
}

func TestPolicyCacheTimes(t *testing.T) {
	for age, want := range map[time.Duration]time.Duration{
		0: 24 * time.Hour, time.Second: 10 * time.Minute, time.Hour: time.Hour, 48 * time.Hour: 24 * time.Hour,
	} {
		for _, status := range []int{200, 404} {
			p := robots.Options{}.Next(robots.Policy{}, robots.Answer{At: t0, Status: status, MaxAge: age})
			if p.Next != t0.Add(want) {
				t.Errorf("status %d, max-age %s: next %s, want after %s", status, age, p.Next, want)
			}
			if p.Due(p.Next.Add(-1)) || !p.Due(p.Next) {
				t.Errorf("due is not from Next on")
			}
		}
	}
}

func TestPolicyRetryTimes(t *testing.T) {
	var p robots.Policy
	for i, want := range []time.Duration{5, 10, 20, 40, 80, 160, 320, 360, 360} {
		p = robots.Options{}.Next(p, robots.Answer{At: t0, Status: 500})
		if got := p.Next.Sub(t0); got != want*time.Minute || p.Failures != i+1 {
			t.Errorf("failure %d: retry after %s, want %d min", i+1, got, want)
		}
	}
	p.Failures = 1 << 40
	if p = (robots.Options{}).Next(p, robots.Answer{At: t0}); p.Next != t0.Add(robots.RetryMax) {
		t.Errorf("many failures: next %s", p.Next)
	}
	for after, want := range map[time.Duration]time.Duration{
		time.Millisecond: time.Second, time.Minute: time.Minute, 48 * time.Hour: 24 * time.Hour,
	} {
		if p = (robots.Options{}).Next(p, robots.Answer{At: t0, Status: 429, RetryAfter: after}); p.Next != t0.Add(want) {
			t.Errorf("Retry-After %s: next %s", after, p.Next)
		}
	}
	p = robots.Options{}.Next(p, robots.Answer{At: t0, Status: 200})
	if p.Failures != 0 {
		t.Error("an answer does not end the failures")
	}
}

// A host that answered once and is then down for 40 days, asked whenever due.
func TestPolicyKeepsOldCopyFor30Days(t *testing.T) {
	var o robots.Options
	p := o.Next(robots.Policy{}, robots.Answer{At: t0, Status: 200, Body: []byte(text)})
	for now := p.Next; now.Before(t0.Add(40 * 24 * time.Hour)); now = p.Next {
		p = o.Next(p, robots.Answer{At: now})
		want := robots.Rules
		if now.Sub(t0) >= robots.StaleMax {
			want = robots.Unreachable
		}
		if p.Mode != want {
			t.Fatalf("after %s: %s, want %s", now.Sub(t0), p.Mode, want)
		}
		if want == robots.Rules && p.For("x").Check("/private").Allowed {
			t.Fatal("the old rules are gone")
		}
	}
	if p.Failures < 100 {
		t.Errorf("only %d tries", p.Failures)
	}
}

// Without any answer ever, the URLs wait.
func TestPolicyNeverReached(t *testing.T) {
	var o robots.Options
	p := o.Next(robots.Policy{}, robots.Answer{At: t0})
	if p = o.Next(p, robots.Answer{At: t0.Add(robots.StaleMax)}); p.Mode != robots.Unreachable {
		t.Errorf("after 30 days: %s", p.Mode)
	}
}

func TestPolicyCutsText(t *testing.T) {
	body := []byte("User-agent: *\n" + strings.Repeat("Disallow: /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", 20000))
	p := robots.Options{}.Next(robots.Policy{}, robots.Answer{At: t0, Status: 200, Body: body})
	if len(p.Text) > robots.MaxSize || p.Text[len(p.Text)-1] != '\n' {
		t.Errorf("kept %d bytes of %d", len(p.Text), len(body))
	}
}
