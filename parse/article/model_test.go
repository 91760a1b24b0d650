package article

import (
	"bytes"
	"testing"

	"golang.org/x/net/html"
)

func TestModelFile(t *testing.T) {
	again := trained.encode()
	if !bytes.Equal(again, modelFile) {
		t.Error("decoding and encoding changes the model")
	}
	for n := range 200 {
		if _, err := decodeForests(modelFile[:n*len(modelFile)/200]); err == nil {
			t.Fatalf("a model cut to %d of 200 parts was accepted", n)
		}
	}
}

// TestWidths holds the features to the numbers that the model was made for.
func TestWidths(t *testing.T) {
	doc, err := html.Parse(bytes.NewReader([]byte("<h1>a b</h1><p>c d e<p>f")))
	if err != nil {
		t.Fatal(err)
	}
	p := cut(doc)
	rows := p.vectors(newHints(&opinion{}, 0))
	if len(rows) != 3 || len(rows[0]) != firstWidth {
		t.Fatalf("%d rows of %d features, want 3 of %d", len(rows), len(rows[0]), firstWidth)
	}
	if more := p.secondLook(rows, make([]float64, 3)); len(more[0]) != secondWidth {
		t.Errorf("%d features in the second look, want %d", len(more[0]), secondWidth)
	}
}

// TestBest: a clear page keeps what is likely, a doubtful one what is possible.
func TestBest(t *testing.T) {
	p := &page{blocks: make([]block, 4)}
	for i := range p.blocks {
		p.blocks[i].words = make([]uint64, 10)
	}
	for _, tt := range []struct {
		z    []float64
		want int
	}{
		{[]float64{5, 5, -1, -5}, 2},
		{[]float64{-1, -1, -1, -9}, 3},
		{[]float64{9, 9, 9, 9}, 4},
	} {
		n := 0
		for _, keep := range p.best(tt.z, tt.z, -1) {
			if keep {
				n++
			}
		}
		if n != tt.want {
			t.Errorf("%v: %d kept, want %d", tt.z, n, tt.want)
		}
	}
}

func FuzzModel(f *testing.F) {
	f.Add((&forests{&model{nodes: []treeNode{{}}, roots: []int32{0}}, &model{}}).encode())
	f.Fuzz(func(t *testing.T, p []byte) {
		if f, err := decodeForests(p); err == nil {
			f.one.score(make([]float32, firstWidth))
			f.two.score(make([]float32, secondWidth))
		}
	})
}
