package container_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"octopus/container"
	"octopus/warc"
)

// TestZstd keeps pages in segments of both kinds: all are found, verified, rebuilt
// without key files and compacted into the other kind.
func TestZstd(t *testing.T) {
	dir := t.TempDir()
	want := map[string]string{}
	store := func(round int, opt container.Options, suffix string) {
		t.Helper()
		opt.Dir, opt.SegmentBytes = dir, 6000
		c := open(t, opt)
		for i := range 30 {
			url, body := fmt.Sprintf("http://a.example/%d", i%20), fmt.Sprintf("round %d page %d %s", round, i, strings.Repeat("word ", i))
			put(t, c, container.Entry{Page: page(t, url, body, start.Add(time.Duration(100*round+i)*time.Second)), Meta: []warc.Field{{Name: "via", Value: url}}})
			want[url] = body
		}
		closed(t, c)
		files, _ := filepath.Glob(filepath.Join(dir, "*"+suffix))
		if len(files) == 0 {
			t.Fatalf("round %d: no %s", round, suffix)
		}
	}
	store(0, container.Options{}, ".warc.gz")
	store(1, container.Options{Compression: container.Zstd}, ".warc.zst")
	gz, _ := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
	store(2, container.Options{}, ".warc.zst") // as before
	if now, _ := filepath.Glob(filepath.Join(dir, "*.warc.gz")); len(now) != len(gz) {
		t.Errorf("%d gzip segments became %d", len(gz), len(now))
	}
	for round, opt := range []container.Options{{}, {Compression: container.Gzip}} {
		keys, _ := filepath.Glob(filepath.Join(dir, "*.key"))
		for _, k := range keys {
			os.Remove(k)
		}
		opt.Dir, opt.SegmentBytes = dir, 6000
		c := open(t, opt)
		readAll(t, c, want, "key files removed")
		for i := 0; i < 20; i += 2 { // every second page is moved, and compressed the other way in the last round
			url := fmt.Sprintf("http://a.example/%d", i)
			want[url] = fmt.Sprintf("again %d %d", round, i)
			put(t, c, container.Entry{Page: page(t, url, want[url], start.AddDate(0, 0, 1+round)), Meta: []warc.Field{{Name: "via", Value: url}}})
		}
		if _, err := c.Compact(context.Background(), 1.1, 1, nil); err != nil {
			t.Fatal(err)
		}
		if n := readAll(t, c, want, "compacted"); n > 0 {
			t.Errorf("%d pages unreadable", n)
		}
		for url := range want {
			if s := wantBody(t, c, url, want[url]); len(s.Meta) != 1 {
				t.Errorf("%s: metadata %v", url, s.Meta)
			}
		}
		if rep, err := c.Verify(context.Background(), nil); err != nil || len(rep.Errors) > 0 {
			t.Fatal(rep.Errors, err)
		}
		err := c.ExportWACZ(context.Background(), &bytes.Buffer{}, warc.WACZInfo{})
		if round == 0 && (err == nil || !strings.Contains(err.Error(), "zst")) {
			t.Errorf("WACZ of zstd segments: %v", err)
		}
		closed(t, c)
		if frames, _ := filepath.Glob(filepath.Join(dir, "*.warc.zst")); round == 0 {
			checkFrames(t, frames)
		}
	}
	check(t, dir)
}

// checkFrames has zstd's own program read segments, where it is there.
func checkFrames(t *testing.T, files []string) {
	t.Helper()
	if len(files) == 0 {
		t.Error("no zstd segment is left")
	}
	if _, err := exec.LookPath("zstd"); err != nil {
		t.Log("no zstd program to ask")
		return
	}
	for _, name := range files {
		out, err := exec.Command("zstd", "-dcq", name).CombinedOutput()
		if err != nil || !bytes.HasPrefix(out, []byte("WARC/1.1\r\n")) {
			t.Errorf("%s: %v %.80q", name, err, out)
		}
	}
}
