package container_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"octopus"
	"octopus/canon"
	"octopus/container"
	"octopus/internal/durable"
)

// TestIndexOnDisk holds a container whose index has little memory to what one in
// memory does: new pages, versions, doubles, deleted pages, compaction; opened
// again either way, with and without a checkpoint.
func TestIndexOnDisk(t *testing.T) {
	const pages, memory = 3000, 32 << 10
	opt := container.Options{Dir: "pages", FS: durable.Memory(), SegmentBytes: 200_000, Sync: container.Never, IndexMemory: memory}
	c := open(t, opt)
	want := map[string]string{}
	store := func(i int, body string, at time.Duration) {
		u := fmt.Sprintf("http://h%d.example/%d", i%7, i)
		put(t, c, container.Entry{Page: page(t, u, body, start.Add(at))})
		want[u] = body
	}
	for i := range pages {
		store(i, fmt.Sprintf("page %d", i/2*2), 0) // two of each
		if i%3 == 0 {
			store(i/2, fmt.Sprintf("page %d again", i), time.Duration(i+1)*time.Second)
		}
	}
	for i := 0; i < pages; i += 10 {
		u := fmt.Sprintf("http://h%d.example/%d", i%7, i)
		if err := c.Delete(context.Background(), address(t, u)); err != nil {
			t.Fatal(err)
		}
		want[u] = ""
	}
	check := func(what string) {
		t.Helper()
		for u, body := range want {
			s, err := c.Get(context.Background(), address(t, u))
			if body == "" && !errors.Is(err, container.ErrNotFound) || body != "" && (err != nil || string(s.Body) != body) {
				t.Fatalf("%s: %s: %+v, %v, want %q", what, u, s, err, body)
			}
		}
		if rep, err := c.Verify(context.Background(), nil); err != nil || len(rep.Errors) > 0 {
			t.Fatalf("%s: %v, %v", what, rep.Errors, err)
		}
	}
	check("as stored")
	if st := c.Stat(); st.URLs != pages {
		t.Errorf("%d URLs", st.URLs)
	}
	if _, err := c.Compact(context.Background(), 1, 1, nil); err != nil {
		t.Fatal(err)
	}
	check("compacted")
	for _, memory := range []int64{0, memory, memory, 0} {
		closed(t, c)
		opt.IndexMemory = memory
		c = open(t, opt)
		// Half of the memory at most is filled while it is opened; an entry makes two shards of at least 8 slots.
		if st := c.Stat(); memory > 0 && st.IndexBytes+st.DigestBytes > memory*5 {
			t.Errorf("%d bytes of index in memory", st.IndexBytes+st.DigestBytes)
		}
		check(fmt.Sprintf("opened again with %d bytes of index", memory))
	}
	closed(t, c)
	if err := opt.FS.Remove("pages/address.idx"); err != nil {
		t.Fatal(err)
	}
	opt.IndexMemory = memory
	c = open(t, opt)
	check("without a checkpoint")
	closed(t, c)
}

func address(t *testing.T, text string) octopus.URL {
	t.Helper()
	u, err := canon.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
