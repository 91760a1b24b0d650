package article

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"octopus/parse/charset"
)

const shared = "../../../shared/testdata/"

// labelled is a page with what a person said its content is.
type labelled struct {
	ID, File, URL, Type, Set string
	Text                     string
	Must, Mustnot            []string
	site                     string
	page                     *page
	rows                     [][]float32
	texts                    [libraries]string
	kind                     float64
	body                     []byte
}

func gunzip(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("no shared test data: %v", err)
	}
	zr, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if b, err = io.ReadAll(zr); err != nil {
		t.Fatal(err)
	}
	return b
}

func labels(t testing.TB, sets ...string) []*labelled {
	t.Helper()
	var out []*labelled
	for _, set := range sets {
		sc := bufio.NewScanner(bytes.NewReader(gunzip(t, shared+"pages/"+set+".labels.jsonl.gz")))
		sc.Buffer(nil, 64<<20)
		for sc.Scan() {
			l := &labelled{}
			if err := json.Unmarshal(sc.Bytes(), l); err != nil {
				t.Fatal(err)
			}
			l.site = l.ID
			if u, err := url.Parse(l.URL); err == nil && u.Host != "" {
				l.site = strings.TrimPrefix(u.Host, "www.")
			}
			l.body, _ = charset.ToUTF8(gunzip(t, shared+l.File), "")
			out = append(out, l)
		}
	}
	return out
}

// each calls f for every page, on two goroutines.
func each(all []*labelled, f func(*labelled)) {
	var wg sync.WaitGroup
	for k := range 2 {
		wg.Go(func() {
			for i := k; i < len(all); i += 2 {
				f(all[i])
			}
		})
	}
	wg.Wait()
}

func fold(site string, n int) int {
	h := fnv.New32a()
	io.WriteString(h, site)
	return int(h.Sum32() >> 3 % uint32(n))
}

// target returns for each block which part of it is in the wanted text; -1
// where nobody knows.
func (l *labelled) target() []float64 {
	out := make([]float64, len(l.page.blocks))
	if l.Text == "" && len(l.Must)+len(l.Mustnot) > 0 {
		for i, b := range l.page.blocks {
			out[i] = -1
			for _, m := range l.Must {
				if overlaps(b.text, m) {
					out[i] = 1
				}
			}
			for _, m := range l.Mustnot {
				if overlaps(b.text, m) {
					out[i] = 0
				}
			}
		}
		return out
	}
	want := shingleSet{}
	for line := range strings.Lines(l.Text) {
		want.add(tokens(line, nil))
	}
	want.add(tokens(l.Text, nil))
	bag := map[uint64]bool{}
	for _, w := range tokens(l.Text, nil) {
		bag[w] = true
	}
	for i, b := range l.page.blocks {
		out[i] = want.share(b.words)
		if len(b.words) < shingleWidth && out[i] == 0 && strings.Contains(l.Text, b.text) {
			out[i] = 0.7 // a short text that occurs, if not as a line of its own
		}
	}
	return out
}

func overlaps(block, snippet string) bool {
	s := strings.Join(strings.Fields(snippet), " ")
	return strings.Contains(block, s) || len(block) > 20 && strings.Contains(s, block)
}

var word = regexp.MustCompile(`[\p{L}\p{N}_]+`)

// wordF1 is the measure of WCXB: bags of words.
func wordF1(want, got string) float64 {
	a, b := map[string]int{}, map[string]int{}
	na, nb, both := 0, 0, 0
	for _, w := range word.FindAllString(strings.ToLower(want), -1) {
		a[w]++
		na++
	}
	for _, w := range word.FindAllString(strings.ToLower(got), -1) {
		b[w]++
		nb++
	}
	for w, n := range a {
		both += min(n, b[w])
	}
	if na == 0 {
		return truth(nb == 0)
	}
	if both == 0 {
		return 0
	}
	return 2 * float64(both) / float64(na+nb)
}

// prf gathers precision and recall over pages as the Zyte benchmark does, by
// shingles; Chinese characters are words.
type prf struct{ p, r, np, nr float64 }

func (c *prf) add(want, got string) {
	a, b := map[uint64]int{}, map[uint64]int{}
	na, nb, both := 0, 0, 0
	shingles(tokens(want, nil), func(h uint64) { a[h]++; na++ })
	shingles(tokens(got, nil), func(h uint64) { b[h]++; nb++ })
	for h, n := range a {
		both += min(n, b[h])
	}
	if nb > 0 {
		c.p += float64(both) / float64(nb)
		c.np++
	}
	if na > 0 {
		c.r += float64(both) / float64(na)
		c.nr++
	}
}

func (c *prf) f1() float64 {
	p, r := c.p/max(c.np, 1), c.r/max(c.nr, 1)
	return 2 * p * r / max(p+r, 1e-9)
}

// snip counts snippets as trafilatura's benchmark does.
type snip struct{ tp, fn, fp float64 }

func (c *snip) add(l *labelled, got string) {
	for _, m := range l.Must {
		if strings.Contains(got, m) {
			c.tp++
		} else {
			c.fn++
		}
	}
	for _, m := range l.Mustnot {
		if strings.Contains(got, m) {
			c.fp++
		}
	}
}

func (c *snip) f1() float64 { return 2 * c.tp / max(2*c.tp+c.fn+c.fp, 1) }

// tally gathers all measures over pages.
type tally struct {
	words, pages float64
	shingles     prf
	snippets     snip
}

func (a *tally) add(l *labelled, got string) {
	if l.Text != "" {
		a.words += wordF1(l.Text, got)
		a.pages++
		a.shingles.add(l.Text, got)
	}
	a.snippets.add(l, strings.Join(strings.Fields(got), " "))
}

func (a *tally) String() string {
	return fmt.Sprintf("words %.3f shingles %.3f snippets %.3f", a.words/max(a.pages, 1), a.shingles.f1(), a.snippets.f1())
}
