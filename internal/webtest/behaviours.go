package webtest

// Behaviour is a thing that the web does, and how often a crawl meets it.
type Behaviour struct {
	Name  string
	Count int
}

var featureNames = map[Feature]string{
	0: "tree pages", Redirects: "redirects and their ends", Markup: "odd markup", Spellings: "URLs in many spellings", Traps: "trap pages within reach",
	Robots: "pages next to forbidden ones", Sitemaps: "sitemaps, feeds and what only they list", Charsets: "pages in legacy encodings",
	Missing: "missing pages", Unavailable: "429 and 503 with Retry-After", Faults: "answers broken at first", Slow: "dripping pages",
	Encodings: "compressed pages", Duplicates: "URLs of the same content", MetaRobots: "pages with robots directives", Large: "very large pages", Files: "files",
}

// Behaviours lists what t holds, for people, in a fixed order.
func (w *Web) Behaviours(t *Truth) []Behaviour {
	counts := map[Feature]int{}
	for _, p := range t.Pages {
		counts[p.Feature]++
	}
	var list []Behaviour
	add := func(name string, n int) {
		if n > 0 {
			list = append(list, Behaviour{name, n})
		}
	}
	add("hosts", w.opt.Hosts)
	add(featureNames[0], counts[0])
	for f := Redirects; f < Refused; f <<= 1 {
		add(featureNames[f], counts[f])
	}
	add("URLs forbidden by robots.txt", len(t.Forbidden))
	add("URLs behind a limit", len(t.Entrances))
	add("URLs of dead hosts", len(t.Dead))
	slow, delayed := 0, 0
	for _, h := range w.hosts[:w.opt.Hosts] {
		if h.slow > 0 {
			slow++
		}
		if h.robots.delay() > 0 {
			delayed++
		}
	}
	add("slow hosts", slow)
	add("hosts with a Crawl-delay", delayed)
	return list
}
