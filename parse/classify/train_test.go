package classify

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"go/format"
	"hash/fnv"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"octopus/parse/charset"
	"octopus/parse/scan"
)

var train = flag.Bool("train", false, "write weights.go from the labelled pages")

const shared = "../../../shared/testdata/"

// example is one labelled page.
type example struct {
	site   string
	v      [features]float64
	data   bool
	weight float64

	file, url, set string
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

// examples reads every labelled page that is data or navigation.
func examples(t testing.TB) []example {
	t.Helper()
	files, _ := filepath.Glob(shared + "pages/*.labels.jsonl.gz")
	if len(files) == 0 {
		t.Skip("no shared test data")
	}
	var out []example
	for _, f := range files {
		sc := bufio.NewScanner(bytes.NewReader(gunzip(t, f)))
		sc.Buffer(nil, 64<<20)
		for sc.Scan() {
			var l struct{ ID, File, URL, Class string }
			if err := json.Unmarshal(sc.Bytes(), &l); err != nil {
				t.Fatal(err)
			}
			if l.Class == "other" {
				continue
			}
			body, _ := charset.ToUTF8(gunzip(t, shared+l.File), "")
			var p scan.Page
			p.Scan(body)
			site := l.ID
			if u, err := url.Parse(l.URL); err == nil && u.Host != "" {
				site = strings.TrimPrefix(u.Host, "www.")
			} else if i := strings.LastIndexByte(l.ID, '-'); i > 0 {
				site = l.ID[:i]
			}
			set, _, _ := strings.Cut(filepath.Base(f), ".")
			out = append(out, example{site, vector(&p, l.URL), l.Class == "data", 1, l.File, l.URL, set})
			if l.URL != "" { // pages of unknown URL must be judged too
				out = append(out, example{site, vector(&p, ""), l.Class == "data", 0.3, l.File, "", set})
			}
		}
	}
	return out
}

// Of the training: regularization, and how far the line is moved towards
// navigation, because both classes weigh the same in it while pages of data are
// the more frequent ones.
const (
	l2    = 0.03
	shift = 0.5
)

// fit trains a logistic regression: gradient descent with momentum on
// standardized features.
func fit(all []example) model {
	mean, sd, classes := moments(all)
	var w, speed [features + 1]float64
	for range 1000 {
		grad := gradient(all, &w, &mean, &sd, classes)
		for i := range w {
			if i < int(features) {
				grad[i] += l2 * w[i]
			}
			speed[i] = 0.9*speed[i] - 0.3*grad[i]
			w[i] += speed[i]
		}
	}
	m := model{bias: w[features] + shift, typical: mean}
	for i := range m.weights {
		m.weights[i] = w[i] / sd[i]
		m.bias -= m.weights[i] * mean[i]
	}
	return m
}

// moments returns mean and standard deviation of the features, and the weight
// of each class.
func moments(all []example) (mean, sd [features]float64, classes map[bool]float64) {
	classes = map[bool]float64{}
	n := 0.0
	for _, e := range all {
		n += e.weight
		classes[e.data] += e.weight
		for i, x := range e.v {
			mean[i] += e.weight * x
		}
	}
	for i := range mean {
		mean[i] /= n
	}
	for _, e := range all {
		for i, x := range e.v {
			sd[i] += e.weight * (x - mean[i]) * (x - mean[i])
		}
	}
	for i := range sd {
		sd[i] = math.Sqrt(sd[i]/n) + 1e-6
	}
	return mean, sd, classes
}

func gradient(all []example, w *[features + 1]float64, mean, sd *[features]float64, classes map[bool]float64) (grad [features + 1]float64) {
	for _, e := range all {
		z := w[features]
		for i, x := range e.v {
			z += w[i] * (x - mean[i]) / sd[i]
		}
		target := 0.0
		if e.data {
			target = 1
		}
		d := e.weight / 2 / classes[e.data] * (1/(1+math.Exp(-z)) - target)
		for i, x := range e.v {
			grad[i] += d * (x - mean[i]) / sd[i]
		}
		grad[features] += d
	}
	return grad
}

// table counts labels against answers.
type table struct{ dd, dn, nd, nn float64 }

func (c *table) add(data, says bool) {
	switch {
	case data && says:
		c.dd++
	case data:
		c.dn++
	case says:
		c.nd++
	default:
		c.nn++
	}
}

func (c table) f1() (data, nav float64) {
	f := func(tp, fp, fn float64) float64 { return 2 * tp / math.Max(2*tp+fp+fn, 1) }
	return f(c.dd, c.nd, c.dn), f(c.nn, c.dn, c.nd)
}

func (c table) macro() float64 {
	d, n := c.f1()
	return (d + n) / 2
}

func (c table) String() string {
	d, n := c.f1()
	return fmt.Sprintf("macro F1 %.3f (data %.3f, nav %.3f): data as data %v, data as nav %v, nav as data %v, nav as nav %v",
		c.macro(), d, n, c.dd, c.dn, c.nd, c.nn)
}

func half(site string, seed int) bool {
	h := fnv.New32a()
	fmt.Fprint(h, seed, site)
	return h.Sum32()>>7&1 == 0
}

// unseen trains on one half of the sites and visits the pages of the other, and
// the other way round, in so many splits.
func unseen(all []example, splits int, visit func(m model, e example)) {
	for seed := range splits {
		for _, side := range []bool{true, false} {
			var in, out []example
			for _, e := range all {
				if half(e.site, seed) == side {
					in = append(in, e)
				} else {
					out = append(out, e)
				}
			}
			m := fit(in)
			for _, e := range out {
				if e.weight == 1 {
					visit(m, e)
				}
			}
		}
	}
}

// TestUnseenSites holds the answers for sites that were not trained on (five
// splits with OCTOPUS_LONG) to what was reached when this was written, less the
// noise of so small a set.
func TestUnseenSites(t *testing.T) {
	splits := 1
	if os.Getenv("OCTOPUS_LONG") != "" {
		splits = 5
	}
	var c table
	unseen(examples(t), splits, func(m model, e example) { c.add(e.data, m.score(&e.v) > 0) })
	t.Log(c)
	if c.macro() < 0.87 {
		t.Errorf("macro F1 %.3f on unseen sites, want 0.87", c.macro())
	}
}

// TestTrain writes the weights when asked to, from all sites; and otherwise
// holds the committed ones to the pages they were made from.
func TestTrain(t *testing.T) {
	all := examples(t)
	if *train {
		if err := os.WriteFile("weights.go", source(fit(all)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	var c table
	for _, e := range all {
		if e.weight == 1 {
			c.add(e.data, trained.score(&e.v) > 0)
		}
	}
	t.Log(c)
	if c.macro() < 0.9 {
		t.Errorf("macro F1 %.3f on the pages of the training, want 0.9; run: go test ./parse/classify -run TestTrain -train", c.macro())
	}
}

func source(m model) []byte {
	var b bytes.Buffer
	fmt.Fprint(&b, "package classify\n\n// trained are the weights for real pages. Written by\n// go test ./parse/classify -run TestTrain -train\nvar trained = model{\n")
	fmt.Fprintf(&b, "\tbias: %.4f,\n\tweights: [features]float64{\n", m.bias)
	for i, w := range m.weights {
		fmt.Fprintf(&b, "\t\t%.4f, // %s\n", w, names[i])
	}
	fmt.Fprint(&b, "\t},\n\ttypical: [features]float64{\n")
	for i, w := range m.typical {
		fmt.Fprintf(&b, "\t\t%.4f, // %s\n", w, names[i])
	}
	fmt.Fprint(&b, "\t},\n}\n")
	out, err := format.Source(b.Bytes())
	if err != nil {
		panic(err)
	}
	return out
}
