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
	hints                    *hints
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
	left, lines := map[uint64]int{}, map[uint64]int{}
	shingles(tokens(l.Text, nil), func(h uint64) { left[h]++ })
	for line := range strings.Lines(l.Text) {
		if w := tokens(line, nil); len(w) > 0 && len(w) < shingleWidth {
			shingles(w, func(h uint64) { lines[h]++ })
		}
	}
	flat := " " + strings.Join(word.FindAllString(strings.ToLower(l.Text), -1), " ") + " "
	for i := range l.page.blocks {
		b := &l.page.blocks[i]
		if len(b.words) >= shingleWidth {
			out[i] = use(b.words, left)
			continue
		}
		if out[i] = use(b.words, lines); out[i] == 0 && strings.Contains(flat, " "+strings.Join(word.FindAllString(strings.ToLower(b.text), -1), " ")+" ") {
			out[i] = 0.7 // a short text that occurs, if not as a line of its own
		}
	}
	near(l.page, out)
	return out
}

// use returns which part of the shingles of words is left, and takes it away
// where it is the greater part: a text that stands on the page twice is wanted
// as often as it was asked for.
func use(words []uint64, left map[uint64]int) float64 {
	n, hit := 0, 0
	shingles(words, func(h uint64) {
		n++
		if left[h] > 0 {
			hit++
		}
	})
	if 2*hit >= n {
		shingles(words, func(h uint64) { left[h]-- })
	}
	return float64(hit) / float64(max(n, 1))
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

// near doubts short texts that occur in the wanted one, but stand far from
// anything else of it.
func near(p *page, out []float64) {
	n := len(out)
	for i := range out {
		b := &p.blocks[i]
		if len(b.words) >= shingleWidth || out[i] != 0.7 {
			continue
		}
		found := false
		for j := max(0, i-6); j <= min(n-1, i+6); j++ {
			if len(p.blocks[j].words) >= shingleWidth && out[j] >= 0.5 {
				found = true
			}
		}
		if !found {
			out[i] = 0.1
		}
	}
}
