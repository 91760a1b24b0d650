package torture_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"octopus"
	"octopus/canon"
	"octopus/container"
	"octopus/internal/webtest"
)

// verdict is what a finished crawl came to.
type verdict struct {
	*webtest.Report
	problems []string
	records  []string // "URL visit" of each JSON line
}

func (v *verdict) blame(format string, args ...any) {
	v.problems = append(v.problems, fmt.Sprintf(format, args...))
}

// judge checks everything that doc.go promises of a crawl that ended.
func (c *crawl) judge() *verdict {
	v := &verdict{}
	found := v.readJSONL(c.jsonl())
	v.Report = c.web.Check(slices.Values(found), hostDelay)
	again := v.Refetched
	v.Refetched = nil // a crash may cause some: judged below
	if text := v.Problems(); text != "" {
		v.blame("%s", strings.TrimSpace(text))
	}
	v.Refetched = again
	if most := inFlight * c.crashes; len(again) > most {
		v.blame("%d pages fetched again after %d crashes, want at most %d", len(again), c.crashes, most)
	}
	v.checkOutputs(c.dir, v.records)
	v.checkStats(c, found)
	v.readPages(c)
	v.checkWARC(filepath.Join(c.dir, "db", "pages"))
	return v
}

// readJSONL reads the records; a line that is not whole is a problem.
func (v *verdict) readJSONL(name string) (found []webtest.Found) {
	f, err := os.Open(name)
	if err != nil {
		v.blame("%v", err)
		return nil
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		var rec octopus.Record
		if err := json.Unmarshal(lines.Bytes(), &rec); err != nil {
			v.blame("%s:%d: %v", name, n, err)
			continue
		}
		v.records = append(v.records, fmt.Sprint(rec.URL, " ", rec.Visit))
		found = append(found, webtest.Found{URL: rec.URL, Status: rec.Status, Digest: rec.Digest, Title: rec.Title})
	}
	if err := lines.Err(); err != nil {
		v.blame("%s: %v", name, err)
	}
	return found
}

// readPages reads every page of the truth from the container.
func (v *verdict) readPages(c *crawl) {
	store, err := container.Open(container.Options{Dir: filepath.Join(c.dir, "db", "pages")})
	if err != nil {
		v.blame("open the container: %v", err)
		return
	}
	defer store.Close()
	for _, err := range store.Damage() {
		v.blame("container: %v", err)
	}
	for text, page := range c.web.Truth().Pages {
		if page.Status != 200 {
			continue
		}
		u, err := canon.Parse(text)
		if err != nil {
			v.blame("%v", err)
			continue
		}
		stored, err := store.Get(context.Background(), u)
		switch {
		case err != nil:
			v.blame("stored page %s: %v", text, err)
		case stored.Status != 200:
			v.blame("stored page %s: status %d, want 200", text, stored.Status)
		case stored.Digest != c.web.Digest(text):
			v.blame("stored page %s: digest %s, the truth is %s", text, stored.Digest, c.web.Digest(text))
		}
	}
	if report, err := store.Verify(context.Background(), nil); err != nil || len(report.Errors) > 0 {
		v.blame("verify the container: %v %v", err, report.Errors)
	}
}

// checkStats holds the statistics against the records, which are exact over
// crashes too: each visit is counted once.
func (v *verdict) checkStats(c *crawl, found []webtest.Found) {
	out, err := exec.Command(binary, "stats", "--by", "day", "--dir", filepath.Join(c.dir, "db"), "--json").Output()
	if err != nil {
		v.blame("statistics: %v", err)
		return
	}
	var got, want struct{ Pages, Redirects int }
	for line := range bytes.Lines(out) {
		var day struct{ Pages, Redirects int }
		if err := json.Unmarshal(line, &day); err != nil {
			v.blame("statistics: %v in %q", err, line)
			return
		}
		got.Pages += day.Pages
		got.Redirects += day.Redirects
	}
	for _, f := range found {
		switch f.Status / 100 {
		case 2:
			want.Pages++
		case 3:
			want.Redirects++
		}
	}
	if got != want {
		v.blame("the statistics count %+v, the records %+v", got, want)
	}
}

// checker is an independent reader of WARC files; without it, only gzip judges.
const checker = "../../../shared/tools/warc_check.py"

func (v *verdict) checkWARC(dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
	if err != nil || len(files) == 0 {
		v.blame("no WARC file in %s", dir)
		return
	}
	tools := [][]string{{"gzip", "-t"}}
	if _, err := os.Stat(checker); err == nil {
		tools = append(tools, []string{"python3", checker})
	}
	for _, tool := range tools {
		if _, err := exec.LookPath(tool[0]); err != nil {
			continue
		}
		if out, err := exec.Command(tool[0], append(tool[1:], files...)...).CombinedOutput(); err != nil {
			v.blame("%s: %v\n%s", strings.Join(tool, " "), err, bytes.TrimSpace(out))
		}
	}
}

// repeat runs the same command once more: nothing is left, so it asks nobody.
func (v *verdict) repeat(c *crawl) {
	before := len(c.web.Log())
	c.finish()
	if n := len(c.web.Log()) - before; n > 0 {
		v.blame("the same command once more made %d requests, want none", n)
	}
}

// check fails the test where anything is wrong.
func (c *crawl) check() *verdict {
	c.t.Helper()
	v := c.judge()
	v.repeat(c)
	if len(v.problems) > 0 {
		c.fail("after %d crashes:\n%s", c.crashes, strings.Join(v.problems[:min(len(v.problems), 40)], "\n"))
	}
	return v
}
