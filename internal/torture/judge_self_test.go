package torture_test

import (
	"bytes"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"octopus/internal/webtest"
)

// TestJudgeSeesDamage crawls once without a crash, and then breaks each promise
// by hand: the judge must see it.
func TestJudgeSeesDamage(t *testing.T) {
	web := newWeb(t, webtest.Options{Seed: *seed, Hosts: 4, Pages: 60, Features: webtest.Duplicates | webtest.Sitemaps})
	c := newCrawl(t, web, t.TempDir(), rand.New(rand.NewPCG(*seed, 4)))
	c.finish()
	c.check()
	pages := filepath.Join(c.dir, "db", "pages")
	segment := glob(t, filepath.Join(pages, "*.warc.gz"))
	for _, d := range []struct {
		name, file string
		damage     func([]byte) []byte
		want       string
	}{
		{"record lost", c.jsonl(), func(b []byte) []byte { return b[bytes.IndexByte(b, '\n')+1:] }, "missing"},
		{"record twice", c.jsonl(), func(b []byte) []byte { return append(b, b[:bytes.IndexByte(b, '\n')+1]...) }, "two records"},
		{"line torn", c.jsonl(), func(b []byte) []byte { return b[:len(b)-20] }, "pages.jsonl"},
		{"wrong digest", c.jsonl(), func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"digest":"sha1:`), []byte(`"digest":"sha1:A`), 1)
		}, "wrong digest"},
		{"page damaged", segment, func(b []byte) []byte { b[len(b)/2] ^= 4; return b }, "verify the container"},
		{"segment torn", segment, func(b []byte) []byte { return b[:len(b)-9] }, "it ends at"},
	} {
		t.Run(d.name, func(t *testing.T) {
			restore := snapshot(t, filepath.Dir(d.file))
			defer restore()
			whole, err := os.ReadFile(d.file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(d.file, d.damage(bytes.Clone(whole)), 0o600); err != nil {
				t.Fatal(err)
			}
			expect(t, c.judge(), d.want)
		})
	}
	t.Run("fetched again", func(t *testing.T) {
		ask(t, web, web.Entries()[0])
		expect(t, c.judge(), "fetched again")
	})
}

func glob(t *testing.T, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) != 1 {
		t.Fatalf("%s: %v %v, want one file", pattern, names, err)
	}
	return names[0]
}

// snapshot returns what puts the files of dir back as they are now.
func snapshot(t *testing.T, dir string) (restore func()) {
	copies := t.TempDir()
	if err := os.CopyFS(copies, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(dir, os.DirFS(copies)); err != nil {
			t.Fatal(err)
		}
	}
}

func expect(t *testing.T, v *verdict, want string) {
	t.Helper()
	if all := strings.Join(v.problems, "\n"); !strings.Contains(all, want) {
		t.Errorf("the judge says %q, want something about %q", all, want)
	}
}

// ask makes one request behind the crawler's back.
func ask(t *testing.T, web *webtest.Web, url string) {
	t.Helper()
	addr := web.Log()[0].IP // of host 0, the entry's
	_, port, _ := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/"))
	req, err := http.NewRequest("GET", "http://"+net.JoinHostPort(addr, port)+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/")
	req.Close = true
	resp, err := new(http.Transport).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}
