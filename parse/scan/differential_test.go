package scan_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"octopus/parse/scan"
)

const shared = "../../../shared/testdata/pages"

// pages calls f for every fourth HTML page of the shared test data and every
// fiftieth of the documentation installed on this machine, or for all of them
// where the environment variable OCTOPUS_LONG is set.
func pages(t testing.TB, f func(name string, body []byte)) int {
	t.Helper()
	n, met := 0, 0
	every := map[string]int{shared: 4, "/usr/share/doc": 50}
	if os.Getenv("OCTOPUS_LONG") != "" {
		every = map[string]int{shared: 1, "/usr/share/doc": 1}
	}
	for _, root := range []string{shared, "/usr/share/doc"} {
		filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil
			}
			if strings.HasSuffix(path, ".html") || strings.HasSuffix(path, ".html.gz") {
				if met++; met%every[root] == 0 {
					f(path, readPage(t, path))
					n++
				}
			}
			return nil
		})
	}
	return n
}

func readPage(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil && strings.HasSuffix(path, ".gz") {
		var zr *gzip.Reader
		if zr, err = gzip.NewReader(bytes.NewReader(b)); err == nil {
			b, err = io.ReadAll(zr)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// oracle lists the references, the base and the title as the tokenizer of x/net
// sees them, told to treat noscript as markup and the content of svg and math
// as no raw text, as a tree builder would.
func oracle(body []byte) (refs []string, base, title string) {
	z := html.NewTokenizer(bytes.NewReader(body))
	haveBase, haveTitle, foreign := false, false, 0
	for {
		tt := z.Next()
		if tt == html.ErrorToken {
			return refs, base, title
		}
		if tt == html.EndTagToken {
			if n, _ := z.TagName(); string(n) == "svg" || string(n) == "math" {
				foreign = max(0, foreign-1)
				z.AllowCDATA(foreign > 0)
			}
		}
		if tt != html.StartTagToken && tt != html.SelfClosingTagToken {
			continue
		}
		tok := z.Token()
		attr := map[string]string{}
		for _, a := range tok.Attr {
			if _, ok := attr[a.Key]; !ok {
				attr[a.Key] = a.Val
			}
		}
		switch tok.Data {
		case "svg", "math":
			if tt == html.StartTagToken {
				foreign++
			}
		case "body", "div", "table", "p", "li", "h1", "h2", "h3", "h4", "h5", "h6", "img":
			foreign = 0
		}
		z.AllowCDATA(foreign > 0)
		if tok.Data == "noscript" || foreign > 0 && tok.Data != "iframe" {
			z.NextIsNotRawText()
		}
		add := func(key string) {
			if v, ok := attr[key]; ok {
				refs = append(refs, tok.Data+" "+clean(v))
			}
		}
		switch tok.Data {
		case "a":
			if _, ok := attr["href"]; !ok && attr["xlink:href"] != "" {
				attr["href"] = attr["xlink:href"]
			}
			add("href")
		case "area":
			add("href")
		case "frame", "iframe":
			add("src")
		case "link":
			rel := strings.Fields(strings.ToLower(attr["rel"]))
			if _, ok := attr["rel"]; ok && !has(rel, "stylesheet") && !has(rel, "icon") {
				add("href")
			}
		case "base":
			if v, ok := attr["href"]; ok && !haveBase {
				base, haveBase = clean(v), true
			}
		case "title":
			if foreign == 0 && !haveTitle {
				haveTitle = true
				if z.Next() == html.TextToken {
					title = strings.Join(strings.Fields(z.Token().Data), " ")
				}
			}
		}
	}
}

func has(words []string, w string) bool {
	for _, x := range words {
		if x == w {
			return true
		}
	}
	return false
}

// clean is what the URL Standard does to a reference before parsing it.
func clean(s string) string {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	return strings.NewReplacer("\n", "", "\r", "", "\t", "").Replace(s)
}

var tagNames = map[scan.Tag]string{scan.A: "a", scan.Area: "area", scan.Frame: "frame", scan.Iframe: "iframe", scan.Link: "link"}

func scanned(p *scan.Page, body []byte) (refs []string) {
	p.Scan(body)
	for _, r := range p.Refs {
		if r.Tag != scan.Refresh {
			refs = append(refs, tagNames[r.Tag]+" "+string(r.Target()))
		}
	}
	return refs
}

func compare(body []byte) error {
	var p scan.Page
	got := scanned(&p, body)
	want, base, title := oracle(body)
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Errorf("reference %d of %d missing: %q", i, len(want), want[i])
		case i >= len(want):
			return fmt.Errorf("reference %d too many: %q", i, got[i])
		case got[i] != want[i]:
			return fmt.Errorf("reference %d: got %q, want %q", i, got[i], want[i])
		}
	}
	if p.Base() != base {
		return fmt.Errorf("base: got %q, want %q", p.Base(), base)
	}
	if p.Title() != title {
		return fmt.Errorf("title: got %q, want %q", p.Title(), title)
	}
	return nil
}

// TestLikeTokenizer compares every page at hand with the tokenizer of x/net.
func TestLikeTokenizer(t *testing.T) {
	refs := 0
	n := pages(t, func(name string, body []byte) {
		if err := compare(body); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var p scan.Page
		p.Scan(body)
		refs += len(p.Refs)
	})
	if n == 0 {
		t.Skip("no pages on this machine")
	}
	t.Logf("%d pages, %d references", n, refs)
}
