package render_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"octopus/fetch/render"
)

// prose is text of a page that says something, n bytes at least.
func prose(n int) string {
	const s = "The harbour was quiet that morning, and nobody expected the ferry to come back before noon. "
	return strings.Repeat(s, n/len(s)+1)
}

const app = `<script type="module" src="/assets/index.js"></script>`

func TestNeeds(t *testing.T) {
	for name, c := range map[string]struct{ page, want string }{
		"Vite":             {`<!doctype html><title>Shop</title><body><div id="root"></div>` + app, "empty root #root"},
		"Create React App": {`<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div><script src="/static/js/main.js"></script>`, "empty root #root"},
		"Vue CLI":          {`<body><noscript><strong>We're sorry but shop doesn't work properly without JavaScript enabled.</strong></noscript><div id=app></div>` + app, "empty root #app"},
		"Angular":          {`<body><app-root></app-root><script src="main.js" defer></script>`, "empty root #app-root"},
		"AngularJS":        {`<body><div ng-app="shop"></div><script src="angular.js"></script>`, "empty root #ng-app"},
		"Next, no server":  {`<body><div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{"props":{}}</script><script src="/_next/main.js"></script>`, "empty root #__next"},
		"Nuxt, no server":  {`<body><div id="__nuxt"><!----></div><script>window.__NUXT__={}</script>`, "empty root #__nuxt"},
		"old fragment":     {`<head><meta name="fragment" content="!"></head><body><div ng-view></div>` + app, "meta fragment"},
		"frame of a page":  {`<body><header><a href="/">Shop</a> <a href="/cart">Cart</a></header><div id="app"></div><footer>© Shop Ltd, 1 Harbour Street</footer>` + app, "empty root #app"},
		"plea in the page": {`<body><div class=x>Please enable JavaScript to view this page.</div>` + app, "asks for JavaScript"},
		"Chinese plea":     {`<body><noscript>请启用JavaScript后访问</noscript><section></section>` + app, "asks for JavaScript"},
		"nothing known":    {`<body><section class="shell"></section>` + app, "little text, much script"},
		"written inline":   {`<body><script>` + strings.Repeat("render(page, 1234567890);", 40) + `</script>`, "little text, much script"},

		"text":             {`<body><div id="root"><p>` + prose(900) + `</div>` + app, ""},
		"text by server":   {`<body><div id="__next"><h1>News</h1><p>` + prose(420) + `</div>` + app, ""},
		"Chinese text":     {`<body><div id="app"><p>` + strings.Repeat("港口的早晨很安静，没有人想到渡轮会在中午以前回来。", 6) + `</div>` + app, ""},
		"text and a plea":  {`<body><noscript>Enable JavaScript for comments.</noscript><p>` + prose(900) + app, ""},
		"list of links":    {`<body><div id="app">` + strings.Repeat(`<a href="/n/1">A headline of some length</a>`, 12) + `</div>` + app, ""},
		"no script":        {`<body><div id="root"></div>`, ""},
		"data script only": {`<body><div id="root"></div><script type="application/ld+json">{}</script>`, ""},
		"small script":     {`<body><p>Gone.</p><script>var a = 1</script>`, ""},
		"short but said":   {`<body><h1>404</h1><p>` + prose(210) + `</p>` + app, ""},
		"login":            {`<body><form><input name=user type=text><input type=password></form>` + app, ""},
		"refresh":          {`<head><meta http-equiv=refresh content="0;url=/en/"></head><body>` + app, ""},
		"empty":            {``, ""},
	} {
		if got := render.Needs([]byte(c.page)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

const shared = "../../../shared/testdata/"

// TestNeedsOnRealPages reads every page of the shared sets: all of them have
// text, so none may start a browser.
func TestNeedsOnRealPages(t *testing.T) {
	pages := 0
	for _, set := range []string{"zyte", "traf", "wcxb", "magic", "mozread", "newspaper4k", "newspaper", "gne", "gerapy"} {
		sc := bufio.NewScanner(bytes.NewReader(unzip(t, shared+"pages/"+set+".labels.jsonl.gz")))
		sc.Buffer(nil, 64<<20)
		for sc.Scan() {
			var l struct{ File string }
			if err := json.Unmarshal(sc.Bytes(), &l); err != nil {
				t.Fatal(err)
			}
			if why := render.Needs(unzip(t, shared+l.File)); why != "" {
				t.Errorf("%s has text, but is said to need a browser: %s", l.File, why)
			}
			pages++
		}
	}
	t.Logf("%d pages, none needs a browser", pages)
}

func unzip(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Skipf("no shared test data: %v", err)
	}
	defer f.Close()
	zr, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(zr)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func FuzzNeeds(f *testing.F) {
	f.Add([]byte(`<div id=root></div><noscript>enable javascript</noscript><script src=a></script>`))
	f.Add([]byte(`<script><!--<script></script>--><a href=x>y<svg><title>z`))
	f.Fuzz(func(t *testing.T, page []byte) {
		if why := render.Needs(page); why != "" && !bytes.Contains(bytes.ToLower(page), []byte("<script")) {
			t.Errorf("a page without a script needs a browser: %s", why)
		}
	})
}
