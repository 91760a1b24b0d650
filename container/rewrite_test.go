package container_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"octopus"
	"octopus/canon"
	"octopus/container"
	"octopus/internal/durable"
)

// model is what a container should answer: the visible versions of each URL,
// oldest first.
type model map[string][]string

func (m model) compare(t *testing.T, c *container.Container, what string) {
	t.Helper()
	for url, versions := range m {
		u, _ := canon.Parse(url)
		if len(versions) == 0 {
			if _, err := c.Get(context.Background(), u); !errors.Is(err, container.ErrNotFound) {
				t.Fatalf("%s: %s is gone, got %v", what, url, err)
			}
			continue
		}
		wantBody(t, c, url, versions[len(versions)-1])
		all, err := c.Versions(context.Background(), u)
		if err != nil || len(all) != len(versions) {
			t.Fatalf("%s: %s has %d versions, want %d (%v)", what, url, len(all), len(versions), err)
		}
		for i, v := range all {
			s, err := c.Read(context.Background(), v.Ref)
			if want := versions[len(versions)-1-i]; err != nil || string(s.Body) != want || s.URL != url {
				t.Fatalf("%s: version %d of %s: %v, want %q", what, i, url, err, want)
			}
		}
	}
	if rep, err := c.Verify(context.Background(), nil); err != nil || len(rep.Errors) > 0 {
		t.Fatalf("%s: verify: %v, %v", what, err, rep.Errors)
	}
}

// TestModel runs random operations on a container and on a map.
func TestModel(t *testing.T) {
	for seed := range uint64(scale(3)) {
		rng := rand.New(rand.NewPCG(seed, 7))
		opt := container.Options{Dir: "pages", FS: durable.Memory(), SegmentBytes: 3000, Sync: container.Sync(seed % 3)}
		c := open(t, opt)
		m := model{}
		now := start
		for step := range 250 {
			url := fmt.Sprintf("http://h%d.example/%d", rng.IntN(3), rng.IntN(8))
			u, _ := canon.Parse(url)
			what := fmt.Sprintf("seed %d step %d", seed, step)
			var err error
			switch op := rng.IntN(40); {
			case op < 24:
				now = now.Add(time.Second)
				body := fmt.Sprintf("content %d", rng.IntN(30))
				put(t, c, container.Entry{Page: page(t, url, body, now)})
				m[url] = append(m[url], body)
			case op < 28 && len(m[url]) > 0:
				now = now.Add(time.Second)
				p := page(t, url, "", now)
				p.Status = 304
				put(t, c, container.Entry{Page: p})
				m[url] = append(m[url], m[url][len(m[url])-1])
			case op < 31 && len(m[url]) > 0:
				err = c.Delete(context.Background(), u)
				m[url] = nil
			case op == 32:
				_, err = c.Compact(context.Background(), rng.Float64()*1.2, 0, nil)
				m.compare(t, c, what+", compacted")
			case op == 33:
				_, err = c.PurgeURL(context.Background(), u, nil)
				m[url] = nil
				m.compare(t, c, what+", purged")
			case op == 34 && step%3 == 0:
				host := fmt.Sprintf("h%d.example", rng.IntN(3))
				_, err = c.PurgeHost(context.Background(), host, nil)
				for url := range m {
					if strings.Contains(url, host) {
						m[url] = nil
					}
				}
				m.compare(t, c, what+", host purged")
			case op == 35:
				closed(t, c)
				c = open(t, opt)
				m.compare(t, c, what+", reopened")
			case op == 36:
				err = c.Rebuild(context.Background(), nil, nil)
				m.compare(t, c, what+", rebuilt")
			}
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		m.compare(t, c, "at the end")
		closed(t, c)
	}
}

// TestProgress: what long operations report are bytes of segments, never more
// than all, and in the end all.
func TestProgress(t *testing.T) {
	c := open(t, container.Options{Dir: t.TempDir(), SegmentBytes: 2000})
	defer closed(t, c)
	for i := range 40 {
		put(t, c, container.Entry{Page: page(t, fmt.Sprintf("http://a.example/%d", i), fmt.Sprintf("content %d", i), start.Add(time.Duration(i)*time.Second))})
	}
	var last, all int64
	progress := func(done, total int64) {
		if done < last || done > total {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last, all = done, total
	}
	if err := c.Rebuild(context.Background(), progress, nil); err != nil || last != all || all != c.Stat().SegmentBytes {
		t.Errorf("rebuild: %d of %d, %v", last, all, err)
	}
	last = 0
	u, _ := canon.Parse("http://a.example/20") // in a segment that is not the first
	if r, err := c.PurgeURL(context.Background(), u, progress); err != nil || r.Segments != 1 || last != all || last != r.Bytes {
		t.Errorf("purge: %d of %d, %+v, %v", last, all, r, err)
	}
	last = 0
	if r, err := c.PurgeHost(context.Background(), "a.example", progress); err != nil || r.Segments < 2 || last != all || last != r.Bytes {
		t.Errorf("purge of the host: %d of %d, %+v, %v", last, all, r, err)
	}
}

// TestPurgeLeavesNothing greps what is on disk.
func TestPurgeLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	c := open(t, container.Options{Dir: dir, SegmentBytes: 2000})
	for i := range 20 {
		at := start.Add(time.Duration(i) * time.Minute)
		put(t, c, container.Entry{Page: page(t, fmt.Sprintf("http://secret.example/%d", i), fmt.Sprintf("secret %d", i), at)})
		put(t, c, container.Entry{Page: page(t, fmt.Sprintf("http://open.example/%d", i), fmt.Sprintf("open %d", i), at)})
	}
	put(t, c, container.Entry{Page: page(t, "http://open.example/copy", "secret 3", start)})
	put(t, c, container.Entry{Page: page(t, "http://open.example/copy2", "secret 3", start)})
	r, err := c.PurgeHost(context.Background(), "secret.example", nil)
	if err != nil || r.Dropped < 20 || r.Promoted != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	wantBody(t, c, "http://open.example/copy", "secret 3")
	if s := wantBody(t, c, "http://open.example/copy2", "secret 3"); s.RefersTo != "http://open.example/copy" {
		t.Errorf("refers to %s", s.RefersTo)
	}
	closed(t, c)
	check(t, dir)
	files, _ := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
	for _, name := range files {
		data, _ := os.ReadFile(name)
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(z); err != nil || bytes.Contains(text, []byte("secret.example")) {
			t.Errorf("%s still names secret.example (%v)", name, err)
		}
	}
}

// TestCompactNewest: the segment that is written to is compacted like others, and
// once it is there is nothing left to do.
func TestCompactNewest(t *testing.T) {
	c := open(t, container.Options{Dir: "pages", FS: durable.Memory()})
	for v := range 3 {
		put(t, c, container.Entry{Page: page(t, "http://a.example/", fmt.Sprint("text ", v), start.Add(time.Duration(v)*time.Hour))})
	}
	for round, want := range []container.Rewritten{{Segments: 1, Moved: 1, Dropped: 2}, {}} {
		r, err := c.Compact(context.Background(), 1, 1, nil)
		if r.Bytes = 0; err != nil || r != want {
			t.Errorf("round %d: %+v, %v", round, r, err)
		}
		wantBody(t, c, "http://a.example/", "text 2")
	}
	closed(t, c)
}

// TestPurgeEnds: revisits that are written while others are looked for are in the
// same segment, and not looked at again.
func TestPurgeEnds(t *testing.T) {
	c := open(t, container.Options{Dir: "pages", FS: durable.Memory()})
	for _, host := range []string{"a", "b", "c", "d"} {
		put(t, c, container.Entry{Page: page(t, "http://"+host+".example/", "the same text", start)})
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	r, err := c.PurgeHost(ctx, "a.example", nil)
	if err != nil || r.Promoted != 1 || c.Stat().Versions != 3 {
		t.Fatalf("%+v, %v, %+v", r, err, c.Stat())
	}
	for _, host := range []string{"c", "d"} {
		if s := wantBody(t, c, "http://"+host+".example/", "the same text"); s.RefersTo != "http://b.example/" {
			t.Errorf("%s refers to %s", host, s.RefersTo)
		}
	}
	closed(t, c)
}

// spoil writes over some bytes of the only segment in dir.
func spoil(t *testing.T, dir string, at int64) {
	t.Helper()
	segments, err := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
	if err != nil || len(segments) != 1 {
		t.Fatal(segments, err)
	}
	f, err := os.OpenFile(segments[0], os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("damage"), at); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestPurgeOfDamaged: what can't be read goes by its key, answers to other methods
// go with their URL, and files that recovery put aside are named.
func TestPurgeOfDamaged(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	c := open(t, container.Options{Dir: dir})
	put(t, c, container.Entry{Page: page(t, "http://a.example/", "text of a", start)})
	ref := put(t, c, container.Entry{Page: page(t, "http://a.example/broken", "text that breaks", start)}).Ref
	posted := page(t, "http://a.example/", "answer to a form", start.Add(time.Hour))
	link := &posted.Lease.Link
	link.Method, link.Body = "POST", []byte("q=1")
	link.URL.Key = canon.Key(link.URL, link.Method, link.Body)
	put(t, c, container.Entry{Page: posted})
	closed(t, c)
	spoil(t, dir, ref.Offset+40)
	if err := os.WriteFile(filepath.Join(dir, "octopus-1.damaged"), []byte("who knows"), 0o666); err != nil {
		t.Fatal(err)
	}
	c = open(t, container.Options{Dir: dir})
	for _, url := range []string{"http://a.example/broken", "http://a.example/"} {
		u, _ := canon.Parse(url)
		r, err := c.PurgeURL(ctx, u, nil)
		if r.Dropped == 0 || err == nil || !strings.Contains(err.Error(), "octopus-1.damaged") {
			t.Errorf("%s: %+v, %v", url, r, err)
		}
	}
	if st := c.Stat(); st.Versions != 0 {
		t.Errorf("%d versions are left", st.Versions)
	}
	closed(t, c)
}

// TestPurgeThatFails: what shares its payload with a purged page can be read also
// where the purge stops at a record that is damaged.
func TestPurgeThatFails(t *testing.T) {
	dir := t.TempDir()
	c := open(t, container.Options{Dir: dir})
	put(t, c, container.Entry{Page: page(t, "http://moved.example/", "text", start)})
	for _, host := range []string{"a", "b"} {
		for n := range 2 {
			put(t, c, container.Entry{Page: page(t, fmt.Sprintf("http://%s.example/%d", host, n), fmt.Sprint("shared text ", n), start)})
		}
	}
	// Now no key entry says where a payload is.
	if _, err := c.PurgeHost(context.Background(), "moved.example", nil); err != nil {
		t.Fatal(err)
	}
	u, _ := canon.Parse("http://b.example/0")
	versions, err := c.Versions(context.Background(), u)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, c)
	spoil(t, dir, versions[0].Ref.Offset+40)
	c = open(t, container.Options{Dir: dir})
	if _, err := c.PurgeHost(context.Background(), "a.example", nil); err == nil {
		t.Error("the damage went unnoticed")
	}
	wantBody(t, c, "http://b.example/1", "shared text 1")
	closed(t, c)
}

// TestReadersOfShared reads in every way while the originals of what is read are
// purged and compacted away.
func TestReadersOfShared(t *testing.T) {
	ctx := context.Background()
	c := open(t, container.Options{Dir: t.TempDir(), SegmentBytes: 5_000, Sync: container.Never})
	const hosts, pages = 6, 10
	body := func(p int) string { return fmt.Sprintf("page %d of every host %s", p, strings.Repeat("x ", p)) }
	at := func(v int) time.Time { return start.Add(time.Duration(v) * time.Hour) }
	for v := range 2 {
		for h := range hosts {
			for p := range pages {
				put(t, c, container.Entry{Page: page(t, fmt.Sprintf("http://h%d.example/%d", h, p), body(p+v), at(v))})
			}
		}
	}
	ways := []func(u octopus.URL, p int) error{
		func(u octopus.URL, p int) error {
			s, err := c.Get(ctx, u)
			if err == nil && string(s.Body) != body(p+1) {
				err = fmt.Errorf("body %.30q", s.Body)
			}
			return err
		},
		func(u octopus.URL, p int) error {
			s, err := c.At(ctx, u, at(0))
			if err == nil && string(s.Body) != body(p) {
				err = fmt.Errorf("at: body %.30q", s.Body)
			}
			return err
		},
		func(u octopus.URL, _ int) error { _, err := c.CDX(ctx, u); return err },
		func(octopus.URL, int) error { return c.Scan(ctx, func(*container.Stored) error { return nil }) },
	}
	var readers sync.WaitGroup
	stop := make(chan struct{})
	for g, read := range ways {
		readers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 2))
			for {
				select {
				case <-stop:
					return
				default:
				}
				p := rng.IntN(pages)
				u, _ := canon.Parse(fmt.Sprintf("http://h%d.example/%d", hosts-1-rng.IntN(2), p)) // hosts that stay
				if err := read(u, p); err != nil {
					t.Errorf("%s: %v", u.Text, err)
					return
				}
			}
		})
	}
	for h := range hosts - 2 {
		if _, err := c.PurgeHost(ctx, fmt.Sprintf("h%d.example", h), nil); err != nil {
			t.Error(err)
		}
		if _, err := c.Compact(ctx, 1, 0, nil); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	readers.Wait()
	closed(t, c)
}

// TestReadersAndWriters has many readers and writers while segments are
// compacted away below them.
func TestReadersAndWriters(t *testing.T) {
	c := open(t, container.Options{Dir: t.TempDir(), SegmentBytes: 20_000, Sync: container.Never})
	body := func(i int) string { return fmt.Sprintf("page %d %s", i, strings.Repeat("x ", i)) }
	for i := range 100 {
		put(t, c, container.Entry{Page: page(t, fmt.Sprintf("http://a.example/%d", i), body(i), start)})
	}
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	for g := range 4 {
		readers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 1))
			for {
				select {
				case <-stop:
					return
				default:
					i := rng.IntN(100)
					u, _ := canon.Parse(fmt.Sprintf("http://a.example/%d", i))
					if s, err := c.Get(context.Background(), u); err != nil || string(s.Body) != body(i) {
						t.Errorf("page %d: %v", i, err)
						return
					}
				}
			}
		})
	}
	for g := range 2 {
		writers.Go(func() {
			for k := range 150 {
				url := fmt.Sprintf("http://b.example/%d", k%20)
				put(t, c, container.Entry{Page: page(t, url, fmt.Sprintf("version %d of writer %d", k, g), start.Add(time.Duration(k)*time.Second))})
			}
		})
	}
	for range 10 {
		if _, err := c.Compact(context.Background(), 1.1, 1, nil); err != nil {
			t.Error(err)
		}
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	if rep, err := c.Verify(context.Background(), nil); err != nil || len(rep.Errors) > 0 {
		t.Errorf("%v, %v", rep.Errors, err)
	}
	closed(t, c)
}
