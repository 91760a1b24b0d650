package container_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"octopus"
	"octopus/canon"
	"octopus/container"
)

func segmentFile(t *testing.T, dir string, segment int) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, fmt.Sprintf("*%08d.warc.gz", segment)))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	return names[0]
}

// breakRecord damages the middle of a record.
func breakRecord(t *testing.T, dir string, r container.Ref) {
	t.Helper()
	name := segmentFile(t, dir, r.Segment)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[r.Offset+r.Length/2] ^= 0x55
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestRebuildTellsLost damages a record whose payload another URL shares, takes a
// segment away, and breaks a record of the last segment, behind which whole ones
// follow: the rebuild names exactly the requests that lost a page, and the next
// one names none.
func TestRebuildTellsLost(t *testing.T) {
	dir := t.TempDir()
	opt := container.Options{Dir: dir, SegmentBytes: 2600}
	c := open(t, opt)
	url := func(i int) string { return fmt.Sprintf("http://a.example/%d", i) }
	var refs []container.Ref
	for n := 0; n < 30 || refs[n-4].Segment != refs[n-1].Segment; n++ { // the last segment has four records or more
		body := fmt.Sprintf("text %d", n)
		if n == 9 {
			body = "text 3"
		}
		refs = append(refs, put(t, c, container.Entry{Page: page(t, url(n), body, start)}).Ref)
	}
	n := len(refs)
	if refs[3].Segment != 1 || refs[9].Segment == 3 || refs[n-1].Segment < 4 {
		t.Fatalf("the pages lie elsewhere: %v", refs)
	}
	closed(t, c)
	breakRecord(t, dir, refs[3])
	breakRecord(t, dir, refs[n-3])
	if err := os.Remove(segmentFile(t, dir, 3)); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{url(3): true, url(9): true, url(n - 3): true}
	for i, r := range refs {
		if r.Segment == 3 {
			want[url(i)] = true
		}
	}
	for round := range 2 {
		c = open(t, opt)
		lost := map[octopus.Key]bool{}
		if err := c.Rebuild(context.Background(), nil, func(keys []octopus.Key) error {
			for _, k := range keys {
				lost[k] = true
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			u, _ := canon.Parse(url(i))
			if lost[u.Key] != (want[u.Text] && (round == 0 || i == 9)) { // the revisit's record is whole, and speaks again
				t.Errorf("round %d: %s lost: %v", round, u.Text, lost[u.Key])
			}
			if _, err := c.Get(context.Background(), u); (err != nil) != want[u.Text] {
				t.Errorf("round %d: %s: %v", round, u.Text, err)
			}
		}
		closed(t, c)
	}
	if aside, _ := filepath.Glob(filepath.Join(dir, "*.key.damaged")); len(aside) != 1 {
		t.Errorf("key file of the missing segment: %v", aside)
	}
	// Fetched again, all is well.
	c = open(t, opt)
	for i := range n {
		if want[url(i)] {
			put(t, c, container.Entry{Page: page(t, url(i), fmt.Sprintf("text %d again", i), start.AddDate(0, 0, 1))})
		}
	}
	for i := range n {
		text := fmt.Sprintf("text %d", i)
		if want[url(i)] {
			text += " again"
		}
		wantBody(t, c, url(i), text)
	}
	// The revisit without payload is still an older version of its URL, until
	// compaction.
	if rep, err := c.Verify(context.Background(), nil); err != nil || len(rep.Errors) != 1 || !strings.Contains(rep.Errors[0].Error(), "payload") {
		t.Errorf("verify: %v, %v", rep.Errors, err)
	}
	if err := c.Rebuild(context.Background(), nil, func(keys []octopus.Key) error { return fmt.Errorf("%v lost", keys) }); err != nil {
		t.Error(err)
	}
	if r, err := c.Compact(context.Background(), 1, 0, nil); err != nil || r.Dropped != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if rep, err := c.Verify(context.Background(), nil); err != nil || len(rep.Errors) > 0 {
		t.Errorf("verify: %v, %v", rep.Errors, err)
	}
	closed(t, c)
}
