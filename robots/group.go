package robots

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Group is what a robots.txt says to one crawler. The zero Group allows all.
type Group struct {
	agent string
	rules []matcher // best first: the first that matches decides
	delay time.Duration
	rate  time.Duration
	has   struct{ delay, rate bool }
	line  int // of the longest of both
}

// Verdict is the answer to one URL.
type Verdict struct {
	Allowed bool
	Line    int    // of the deciding rule, from 1; 0 where no rule matched
	Rule    string // the deciding rule, "Disallow: /private/"; empty where none matched
}

// For returns the group of a crawler, given by its product token: the rules of
// all groups that name it, whatever the case, together; where none does, those
// of "*"; where there are none either, a group that allows all.
func (f *File) For(agent string) *Group {
	agent = strings.ToLower(agent)
	if !f.names(agent) {
		agent = "*"
	}
	g := &Group{agent: agent}
	for _, b := range f.blocks {
		if i := slices.Index(b.agents, agent); i >= 0 {
			g.add(b, i)
		}
	}
	slices.SortStableFunc(g.rules, func(a, b matcher) int {
		if c := cmp.Compare(len(b.pattern), len(a.pattern)); c != 0 {
			return c
		}
		return cmp.Compare(b.rank(), a.rank())
	})
	return g
}

func (f *File) names(agent string) bool {
	return slices.ContainsFunc(f.blocks, func(b block) bool { return slices.Contains(b.agents, agent) })
}

// add takes over what a block says; i is where it first names the agent.
func (g *Group) add(b block, i int) {
	for _, r := range b.rules {
		g.rules = append(g.rules, matcher{rule: r, text: r.String()})
		if p, ok := directoryOf(r); ok {
			g.rules = append(g.rules, matcher{rule: rule{p, true, r.line}, text: r.String()})
		}
	}
	for _, d := range b.delays {
		if d.agents <= i { // for the agents above it only
			continue
		}
		if d.gap > max(g.rate, g.delay) {
			g.line = d.line
		}
		switch {
		case d.rate:
			g.rate, g.has.rate = max(g.rate, d.gap), true
		default:
			g.delay, g.has.delay = max(g.delay, d.gap), true
		}
	}
}

// directoryOf returns the pattern of the directory itself for an Allow of its
// index page: "Allow: /a/index.html" allows "/a/" as well.
func directoryOf(r rule) (string, bool) {
	slash := strings.LastIndexByte(r.pattern, '/')
	if !r.allow || slash < 0 || !strings.HasPrefix(r.pattern[slash:], "/index.htm") {
		return "", false
	}
	return r.pattern[:slash+1] + "$", true
}

// Agent returns the token whose group this is: the crawler's, in lower case, or
// "*".
func (g *Group) Agent() string { return g.agent }

// CrawlDelay returns the gap in front of a request that the file asks for, the
// largest if it asks more than once. It is at most a year.
func (g *Group) CrawlDelay() (gap time.Duration, ok bool) { return g.delay, g.has.delay }

// RequestRate returns the gap that the file's Request-rate comes to.
func (g *Group) RequestRate() (gap time.Duration, ok bool) { return g.rate, g.has.rate }

// DelayLine returns the line, from 1, that asks for the longest gap, by either;
// 0 where none does.
func (g *Group) DelayLine() int { return g.line }

// Check answers whether a URL may be fetched. It takes a whole URL or its path
// and query, and compares them as they are: see [Normalize]. /robots.txt itself
// is always allowed.
func (g *Group) Check(url string) Verdict {
	path := target(url)
	if path == "/robots.txt" {
		return Verdict{Allowed: true}
	}
	for i := range g.rules {
		if m := &g.rules[i]; m.matches(path) {
			return Verdict{Allowed: m.allow, Line: m.line, Rule: m.text}
		}
	}
	return Verdict{Allowed: true}
}

// String returns the rule as a line of a robots.txt.
func (r rule) String() string {
	if r.allow {
		return "Allow: " + r.pattern
	}
	return "Disallow: " + r.pattern
}
