package simhash_test

import (
	"fmt"
	"strings"
	"testing"

	"octopus/parse/simhash"
)

// article returns n different sentences.
func article(n, seed int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Sentence %d of story %d tells about topic %d in some words of its own. ", i, seed, (i*7+seed*13)%101)
	}
	return b.String()
}

func TestNearAndFar(t *testing.T) {
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
		{"one sentence more", long, long + "Updated at noon.", 0, simhash.Near},
		{"another story", long, article(120, 2), simhash.Near + 1, 64},
		{"chinese punctuation", chinese, strings.ReplaceAll(chinese, "，", " "), 0, 0},
		{"chinese and english", chinese, long, 10, 64},
	}
	for _, tt := range tests {
		d := simhash.Distance(simhash.Of(tt.a), simhash.Of(tt.b))
		if d < tt.min || d > tt.max {
			t.Errorf("%s: distance %d, want %d to %d", tt.name, d, tt.min, tt.max)
		}
	}
}

func TestEdges(t *testing.T) {
	if got := simhash.Of(" .,!?"); got != 0 {
		t.Errorf("text without words: %x, want 0", got)
	}
	if simhash.Of("one") == 0 || simhash.Of("one") == simhash.Of("two") {
		t.Error("short texts must have fingerprints of their own")
	}
	// Fingerprints are stored: the value must not change between versions.
	const want = 0xcac1398add908fb1
	if got := simhash.Of("The quick brown fox jumps over the lazy dog"); got != want {
		t.Errorf("got %#x, want %#x", got, uint64(want))
	}
}

func BenchmarkOf(b *testing.B) {
	text := article(60, 1)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		simhash.Of(text)
	}
}
