package robots_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"octopus/robots"
)

func TestVerdictNamesItsLine(t *testing.T) {
	text := "# hello\r\nUser-agent: *\r\nDisallow: /private/ # all of it\r\nAllow: /private/open\r\nDisallow:\r\nAllow: /a\rDisallow: /b\n"
	g := robots.Parse([]byte(text)).For("octopus")
	for url, want := range map[string]robots.Verdict{
		"/x":                      {Allowed: true},
		"/private/x":              {false, 3, "Disallow: /private/"},
		"http://h/private/open/x": {true, 4, "Allow: /private/open"},
		"/a":                      {true, 6, "Allow: /a"},
		"/b":                      {false, 7, "Disallow: /b"},
		"/robots.txt":             {Allowed: true},
	} {
		if got := g.Check(url); got != want {
			t.Errorf("%s: %+v, want %+v", url, got, want)
		}
	}
}

func TestRobotsTxtIsAlwaysAllowed(t *testing.T) {
	g := robots.Parse([]byte("user-agent: *\ndisallow: /\n")).For("x")
	if !g.Check("https://example.com/robots.txt").Allowed || g.Check("/robots.txt/x").Allowed {
		t.Error("only /robots.txt itself is always allowed")
	}
}

func TestGroups(t *testing.T) {
	f := robots.Parse([]byte(`
Disallow: /nobody
User-agent: *
Disallow: /star
User-agent: Octopus/2.0 (arms)
Sitemap: https://example.com/s.xml
User-agent: squid
Disallow: /both
User-agent: OCTOPUS
Disallow: /more
User-agent: silent
Sitemap: https://example.com/s.xml
sitemap: /t.xml
`))
	for _, c := range []struct {
		agent, group string
		denied       []string
	}{
		{"octopus", "octopus", []string{"/both", "/more"}}, {"squid", "squid", []string{"/both"}},
		{"other", "*", []string{"/star"}}, {"octopuses", "*", []string{"/star"}}, {"silent", "silent", nil},
	} {
		g := f.For(c.agent)
		var denied []string
		for _, p := range []string{"/nobody", "/star", "/both", "/more"} {
			if !g.Check(p).Allowed {
				denied = append(denied, p)
			}
		}
		if g.Agent() != c.group || !slices.Equal(denied, c.denied) {
			t.Errorf("%s: group %q denies %v, want %q and %v", c.agent, g.Agent(), denied, c.group, c.denied)
		}
	}
	if got := f.Sitemaps(); !slices.Equal(got, []string{"https://example.com/s.xml", "/t.xml"}) {
		t.Errorf("sitemaps %q", got)
	}
}

func TestDelays(t *testing.T) {
	for text, want := range map[string]string{
		"user-agent: *\ncrawl-delay: 10":                                       "10s -",
		"user-agent: *\nCrawl-Delay: 0.5\nrequest-rate: 1/5":                   "500ms 5s",
		"user-agent: *\ncrawl-delay: 1\ncrawl-delay: 3\ncrawl-delay: 2":        "3s -",
		"user-agent: *\nrequest-rate: 30/1m 0600-0845":                         "- 2s",
		"user-agent: *\nrequest-rate: 10/1h":                                   "- 6m0s",
		"user-agent: *\ncrawl-delay: 0":                                        "0s -",
		"user-agent: *\ncrawl-delay: -1\nrequest-rate: 0/5\nrequest-rate: 5/x": "- -",
		"user-agent: *\ncrawl-delay: NaN\nrequest-rate: 1/":                    "- -",
		"user-agent: *\ncrawl-delay: 1e300":                                    "8784h0m0s -",
		"user-agent: *\ncrawl-delay: Inf":                                      "8784h0m0s -",
		"crawl-delay: 7":                                                       "- -",
		"user-agent: slurp\ncrawl-delay: 9\nuser-agent: *\ndisallow: /x":       "- -",
		"user-agent: octopus\nuser-agent: *\ncrawl-delay: 4":                   "4s -",
	} {
		g := robots.Parse([]byte(text)).For("octopus")
		show := func(d time.Duration, ok bool) string {
			if !ok {
				return "-"
			}
			return d.String()
		}
		if got := show(g.CrawlDelay()) + " " + show(g.RequestRate()); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestLimits(t *testing.T) {
	line := "Disallow: /0123456789\n"
	big := "User-agent: *\n" + strings.Repeat(line, robots.MaxSize/len(line)+10) + "Disallow: /last\n"
	if !robots.Parse([]byte(big)).For("x").Check("/last").Allowed {
		t.Error("a rule behind MaxSize counts")
	}
	// A line that the limit cuts does not count at all: "Disallow: /" would.
	head := "User-agent: *\n# "
	cut := head + strings.Repeat("x", robots.MaxSize-len(head)-len("\nDisallow: /")) + "\nDisallow: /only-this\n"
	if v := robots.Parse([]byte(cut)).For("x").Check("/other"); !v.Allowed {
		t.Errorf("half a line counts: %+v", v)
	}
	long := "User-agent: *\nDisallow: /" + strings.Repeat("a", robots.MaxLine) + "b\n"
	if robots.Parse([]byte(long)).For("x").Check("/" + strings.Repeat("a", robots.MaxLine+10)).Allowed {
		t.Error("a line is not cut at MaxLine")
	}
}

// Many user-agent lines and many rules in one block must not multiply.
func TestAgentsTimesRules(t *testing.T) {
	text := strings.Repeat("User-agent:a\n", 20000) + strings.Repeat("Allow:/x\n", 25000)
	n := testing.AllocsPerRun(1, func() { robots.Parse([]byte(text)) })
	if n > 400_000 {
		t.Errorf("%v allocations", n)
	}
}

func TestNormalize(t *testing.T) {
	for in, want := range map[string]string{
		"/a%c3%a9": "/a%C3%A9", "/é": "/%C3%A9", "/%7e%zz%": "/%7E%zz%", "/plain?x=%2F": "/plain?x=%2F", "": "",
	} {
		if got := robots.Normalize(in); got != want {
			t.Errorf("Normalize(%q) = %q, want %q", in, got, want)
		}
	}
	g := robots.Parse([]byte("user-agent: *\ndisallow: /é")).For("x")
	if g.Check(robots.Normalize("http://h/%c3%a9")).Allowed {
		t.Error("a pattern in UTF-8 does not match the URL with escapes")
	}
}

// slowMatch is the definition: every way to split the path at each star.
func slowMatch(pattern, path string) bool {
	switch {
	case pattern == "":
		return true
	case pattern == "$":
		return path == ""
	case pattern[0] == '*':
		return slowMatch(pattern[1:], path) || path != "" && slowMatch(pattern, path[1:])
	}
	return path != "" && path[0] == pattern[0] && slowMatch(pattern[1:], path[1:])
}

// Every pattern up to five bytes of a small alphabet against every path.
func TestMatchIsTheDefinition(t *testing.T) {
	patterns := words("/a*$", 5)
	paths := words("/a$", 4)
	for _, pattern := range patterns {
		g := robots.Parse([]byte("user-agent:*\ndisallow:" + pattern)).For("x")
		for _, path := range paths {
			path = "/" + path
			want := pattern == "" || !slowMatch(pattern, path)
			if got := g.Check(path).Allowed; strings.HasPrefix(path, "//") {
				continue // a host, not a path
			} else if got != want {
				t.Errorf("pattern %q, path %q: allowed %v, want %v", pattern, path, got, want)
			}
		}
	}
}

func words(alphabet string, max int) []string {
	all, last := []string{""}, []string{""}
	for range max {
		var next []string
		for _, w := range last {
			for _, c := range alphabet {
				next = append(next, w+string(c))
			}
		}
		all, last = append(all, next...), next
	}
	return all
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /a*b$\nAllow: /index.html\nCrawl-delay: 1.5\nSitemap: x"), "octopus", "/a/b")
	f.Add([]byte("\xef\xbb\xbfuser agent a\rdisallow /%c3\xa9\x00"), "a", "http://h/%C3%A9?x#y")
	f.Add([]byte("\xef\xbbuseragent:*\n\n:\n \ndisalow:*$"), "", "//h;x")
	f.Fuzz(func(t *testing.T, text []byte, agent, url string) {
		before := bytes.Clone(text)
		file := robots.Parse(text)
		g := file.For(agent)
		v := g.Check(url)
		if !bytes.Equal(text, before) {
			t.Error("Parse changed the text")
		}
		if !v.Allowed && (v.Line < 1 || v.Rule == "") {
			t.Errorf("forbidden without a rule: %+v", v)
		}
		if lines := 1 + bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r")); v.Line > lines {
			t.Errorf("line %d of %d", v.Line, lines)
		}
		if n := robots.Normalize(url); robots.Normalize(n) != n {
			t.Errorf("Normalize(%q) = %q, and then %q", url, n, robots.Normalize(n))
		}
		if d, ok := g.CrawlDelay(); d < 0 || d > 0 && !ok {
			t.Errorf("crawl delay %v, %v", d, ok)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	var text bytes.Buffer
	for i := range 40 {
		fmt.Fprintf(&text, "User-agent: bot%c\nDisallow: /path/%d/*.html$\n\n", 'a'+i%26, i)
	}
	text.WriteString("User-agent: *\nDisallow: /x\n")
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		robots.Parse(text.Bytes()).For("octopus")
	}
}

// BenchmarkCheck is the worst a file can do: as many rules as it holds, none of
// which matches a URL of 2 KiB.
func BenchmarkCheck(b *testing.B) {
	for name, rule := range map[string]string{"plain": "allow:/b\n", "stars": "allow:*z*\n"} {
		b.Run(name, func(b *testing.B) {
			text := "user-agent:*\n" + strings.Repeat(rule, (robots.MaxSize-20)/len(rule))
			g := robots.Parse([]byte(text)).For("octopus")
			url := "/" + strings.Repeat("a", 2047)
			for b.Loop() {
				if !g.Check(url).Allowed {
					b.Fatal("forbidden")
				}
			}
		})
	}
}
