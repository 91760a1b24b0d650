package container_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"octopus/container"
	"octopus/warc"
)

func gzipped(t *testing.T, text string) int64 {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, warc.DefaultLevel)
	if err != nil {
		t.Fatal(err)
	}
	z.Write([]byte(text))
	z.Close()
	return int64(out.Len())
}

// TestOverhead measures what a page takes beyond its body, compressed alone with
// the same encoder, and the site's own HTTP head.
func TestOverhead(t *testing.T) {
	dir := t.TempDir()
	c := open(t, container.Options{Dir: dir})
	rng := rand.New(rand.NewPCG(1, 1))
	const n, size = 300, 3000
	var heads, bodies int64
	words := strings.Fields("a crawler keeps what it fetched in segments and finds every page again by one look-up in memory")
	for i := 0; i < n; i += 100 {
		var batch []container.Entry
		for k := i; k < i+100; k++ {
			var text strings.Builder
			for text.Len() < size {
				fmt.Fprintf(&text, "<p class=\"c%d\">%s</p>\n", rng.IntN(9), words[rng.IntN(len(words))])
			}
			body := text.String()
			bodies += gzipped(t, body)
			p := page(t, fmt.Sprintf("http://www.host%d.example/section/article-%d.html", k%50, k), body, start.Add(time.Duration(k)*time.Second))
			heads += int64(len(warc.HTTPBlock(p.Status, p.Header, int64(len(body)))))
			batch = append(batch, container.Entry{Page: p})
		}
		if _, err := c.PutAll(context.Background(), batch); err != nil {
			t.Fatal(err)
		}
	}
	st := c.Stat()
	closed(t, c)
	var disk int64
	for _, pattern := range []string{"*.warc.gz", "*.key"} {
		files, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, f := range files {
			info, err := os.Stat(f)
			if err != nil {
				t.Fatal(err)
			}
			disk += info.Size()
		}
	}
	// The index is small here, so its share of a large container is counted.
	const index = 22
	per := float64(disk-bodies-heads)/n + index
	t.Logf("%.0f bytes a page beyond body and HTTP head: files %.0f, index %d; %d versions", per, per-index, index, st.Versions)
	if per > 350 {
		t.Errorf("%.0f bytes a page, want at most 350", per)
	}
}
