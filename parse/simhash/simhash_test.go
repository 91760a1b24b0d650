package simhash_test

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"octopus/parse/simhash"
)

// of returns the fingerprint of a text, a piece for each sentence.
func of(text string) uint64 {
	var s simhash.Sketch
	for piece := range strings.SplitSeq(text, ".") {
		s.Add([]byte(piece))
	}
	return s.Sum()
}

// article returns n different sentences.
func article(n, seed int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Sentence %d of story %d tells about topic %d in some words of its own. ", i, seed, (i*7+seed*13)%101)
	}
	return b.String()
}

func TestNearAndFar(t *testing.T) {
	const near = 3 // octopus.Fingerprint.Near
	long := article(120, 1)
	chinese := strings.Repeat("今天上午，记者从有关部门获悉，新的规定将于下月起施行。", 3) +
		"第一条说明了适用的范围，第二条列出了例外的情形，第三条规定了处罚的办法，其余各条由地方另行制定。"
	tests := []struct {
		name     string
		a, b     string
		min, max int
	}{
		{"same", long, long, 0, 0},
		{"case and white space", long, strings.ToUpper(strings.ReplaceAll(long, " ", "\n  ")), 0, 0},
		{"one sentence more", long, long + "Updated at noon.", 0, near},
		{"another story", long, article(120, 2), near + 1, 64},
		{"chinese punctuation", chinese, strings.ReplaceAll(chinese, "，", " "), 0, 0},
		{"chinese and english", chinese, long, 10, 64},
	}
	for _, tt := range tests {
		d := bits.OnesCount64(of(tt.a) ^ of(tt.b))
		if d < tt.min || d > tt.max {
			t.Errorf("%s: distance %d, want %d to %d", tt.name, d, tt.min, tt.max)
		}
	}
}

func TestEdges(t *testing.T) {
	if got := of(" .,!?"); got != 0 {
		t.Errorf("text without words: %x, want 0", got)
	}
	if of("one") == 0 || of("one") == of("two") {
		t.Error("short texts must have fingerprints of their own")
	}
	// Fingerprints are stored: the value must not change between versions.
	const want = 0xe9e9a891a1809467
	if got := of("The quick brown fox jumps over the lazy dog"); got != want {
		t.Errorf("got %#x, want %#x", got, uint64(want))
	}
}

// TestPieces: a text in pieces is the text, as long as no word is cut.
func TestPieces(t *testing.T) {
	text := "A few words of text. 汉字与 English，混合. Ελληνικά и кириллица… 한국어. ｆｕｌｌ １２ 🙂 é"
	var s simhash.Sketch
	for word := range strings.FieldsSeq(text) {
		s.Add([]byte(word))
	}
	if s.Sum() != of(text) || s.Words() < 15 {
		t.Errorf("%x of %d words in pieces, %x in one", s.Sum(), s.Words(), of(text))
	}
	if s.Reset(); s.Sum() != 0 || s.Words() != 0 {
		t.Error("Reset leaves something")
	}
}

func FuzzAdd(f *testing.F) {
	f.Add([]byte("a \xe4\xb8\xad\xf0\x9f\x99\x82\xef\xbc"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var s simhash.Sketch
		s.Add(text)
		if sum := s.Sum(); s.Words() > len(text) || s.Words() == 0 && sum != 0 || sum != s.Sum() {
			t.Errorf("%x of %d words in %d bytes", sum, s.Words(), len(text))
		}
	})
}

func BenchmarkOf(b *testing.B) {
	text := article(60, 1)
	b.SetBytes(int64(len(text)))
	var s simhash.Sketch
	for b.Loop() {
		s.Reset()
		s.Add([]byte(text))
		s.Sum()
	}
}
