package article

import (
	"bytes"
	"slices"
	"testing"

	"golang.org/x/net/html"
)

func TestModelFile(t *testing.T) {
	again := trained.encode()
	if !bytes.Equal(again, modelFile) {
		t.Error("decoding and encoding changes the model")
	}
	for n := range 200 {
		if _, err := decodeJudgement(modelFile[:n*len(modelFile)/200]); err == nil {
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
	var none lexicon
	rows := p.vectors(newHints(&opinion{}, 0, [typeWidth]float32{}), none.weigh, none.weigh)
	if len(rows) != 3 || len(rows[0]) != width {
		t.Fatalf("%d rows of %d features, want 3 of %d", len(rows), len(rows[0]), width)
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
		for _, keep := range p.likely(tt.z) {
			if keep {
				n++
			}
		}
		if n != tt.want {
			t.Errorf("%v: %d kept, want %d", tt.z, n, tt.want)
		}
	}
}

// TestOnce: a text is kept once, also where it stands again in other pieces.
func TestOnce(t *testing.T) {
	doc, err := html.Parse(bytes.NewReader([]byte("<p>one two three four five six seven eight nine<p>ten eleven twelve thirteen fourteen fifteen sixteen seventeen" +
		"<p>short<p>short<p>one two three four five six seven eight nine, ten eleven twelve thirteen fourteen fifteen sixteen seventeen<p>one two three four five six seven eight NEW nine")))
	if err != nil {
		t.Fatal(err)
	}
	p := cut(doc)
	keep := []bool{true, true, true, true, true, true}
	p.once(keep)
	if want := []bool{true, true, true, true, false, true}; !slices.Equal(keep, want) {
		t.Errorf("kept %v, want %v", keep, want)
	}
}

func FuzzModel(f *testing.F) {
	f.Add((&judgement{&model{nodes: []treeNode{{}}, roots: []int32{0}}, evidence{lexicon{1: 2}, nil}}).encode())
	f.Fuzz(func(t *testing.T, p []byte) {
		if j, err := decodeJudgement(p); err == nil {
			j.score(make([]float32, width))
		}
	})
}
