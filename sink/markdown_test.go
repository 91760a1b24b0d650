package sink_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"octopus/sink"
	"octopus/sink/sinktest"
)

// TestMarkdown runs the suite on pages, which are known by their front matter.
func TestMarkdown(t *testing.T) {
	dir := t.TempDir()
	recs := sinktest.Records(0, 3)
	recs[0].Markdown, recs[0].Author = "# Hello\n\nworld\n", `O"Neil`
	recs[0].Tags = []string{"a", "b: c"}
	recs[1].Text = "only text"
	recs[2].Status, recs[2].Text = 404, "not found"
	s := sink.NewMarkdown(dir)
	for range 2 {
		if err := s.Write(t.Context(), recs); err != nil {
			t.Fatal(err)
		}
	}
	recs[1].Visit, recs[1].Text = 2, "newer"
	if err := s.Write(t.Context(), recs[1:2]); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, _ := os.ReadFile(path)
			rel, _ := filepath.Rel(dir, path)
			got[filepath.ToSlash(rel)] = string(text)
		}
		return err
	})
	if err != nil || len(got) != 2 {
		t.Fatalf("%v: %q", err, got)
	}
	if want := "---\nurl: \"http://h.example/0\"\ntitle: \"page 0\"\nauthor: \"O\\\"Neil\"\nfetched_at: \"2026-01-02T03:04:05Z\"\ntags:\n  - \"a\"\n  - \"b: c\"\n---\n\n# Hello\n\nworld\n"; got["h.example_80/0.md"] != want {
		t.Errorf("%q, want %q", got["h.example_80/0.md"], want)
	}
	if !strings.HasSuffix(got["h.example_80/1.md"], "\n\nnewer\n") {
		t.Errorf("the newer visit: %q", got["h.example_80/1.md"])
	}
}

func TestPagePath(t *testing.T) {
	for url, want := range map[string]string{
		"https://example.com/":                            "example.com/index.md",
		"https://example.com/a/b.html":                    "example.com/a/b.html.md",
		"https://example.com/a/b/":                        "example.com/a/b/index.md",
		"https://example.com/index":                       "example.com/index-#.md",
		"http://example.com/a":                            "example.com_80/a.md",
		"http://127.0.0.1:8080/a":                         "127.0.0.1_8080/a.md",
		"https://example.com:8080/a":                      "example.com_8080/a-#.md",
		"http://example.com:443/a":                        "example.com_443/a-#.md",
		"http://[::1]/a":                                  "-__1-_80/a-#.md",
		"https://example.com/a?b=1":                       "example.com/a-#.md",
		"https://example.com/%E5%A4%9A%E8%85%95":          "example.com/多腕.md",
		"https://example.com/A":                           "example.com/a-#.md",
		"https://example.com/%41":                         "example.com/a-#.md",
		"https://example.com/a%2Fb":                       "example.com/a-b-#.md",
		"https://example.com/%2e%2e/x":                    "example.com/_/x-#.md",
		"https://example.com/..%2f..%2fetc%2fpasswd":      "example.com/_..-..-etc-passwd-#.md",
		"https://example.com/a.md/b":                      "example.com/a.md_/b-#.md",
		"https://example.com//x":                          "example.com/_/x-#.md",
		"https://example.com/" + strings.Repeat("x", 300): "example.com/" + strings.Repeat("x", 120) + "-#.md",
		"https://example.com/%FF":                         "example.com/--#.md",
	} {
		want = strings.Replace(want, "#", sink.URLKey(url)[:10], 1)
		if got := sink.PagePath(url); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}

// FuzzPagePath wants a path below the folder, in which no part is too long.
func FuzzPagePath(f *testing.F) {
	f.Add("https://example.com/a/../b")
	f.Add("http://[::1]:80/%00%ff/.")
	f.Fuzz(func(t *testing.T, url string) {
		path := sink.PagePath(url)
		parts := strings.Split(path, "/")
		if !filepath.IsLocal(filepath.FromSlash(path)) || !strings.HasSuffix(path, ".md") || len(path) > 1100 ||
			slices.ContainsFunc(parts, func(p string) bool {
				return p == "" || p == "." || p == ".." || len(p) > 255 || strings.ContainsAny(p, "\x00\\:\n")
			}) {
			t.Errorf("%q becomes %q", url, path)
		}
	})
}
