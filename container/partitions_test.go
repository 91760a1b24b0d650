package container_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"octopus/canon"
	"octopus/container"
	"octopus/internal/durable"
	"octopus/warc"
)

func TestPartitions(t *testing.T) {
	opt := container.Options{FS: durable.Memory()}
	dirs := []string{"disk0", "disk1", "disk2"}
	for round := range 2 {
		p, err := container.OpenPartitions(opt, dirs...)
		if err != nil {
			t.Fatal(err)
		}
		used := map[*container.Container]bool{}
		for i := range 60 {
			url, body := fmt.Sprintf("http://site%d.example/%d", i/2, i), fmt.Sprintf("text %d", i)
			u, _ := canon.Parse(url)
			used[p.Of(u)] = true
			if round == 0 {
				if _, err := p.Put(context.Background(), container.Entry{Page: page(t, url, body, start)}); err != nil {
					t.Fatal(err)
				}
			}
			if s, err := p.Get(context.Background(), u); err != nil || string(s.Body) != body {
				t.Fatalf("round %d: %s: %v", round, url, err)
			}
			if got, ok := p.Digest(warc.Digest([]byte(body))); !ok || got != url {
				t.Errorf("digest of %s: %s", url, got)
			}
		}
		if len(used) != 3 || len(p.All()) != 3 {
			t.Errorf("%d partitions used", len(used))
		}
		if round == 1 {
			u, _ := canon.Parse("http://site1.example/3")
			if err := p.Delete(context.Background(), u); err != nil {
				t.Error(err)
			}
			if _, err := p.Versions(context.Background(), u); !errors.Is(err, container.ErrNotFound) {
				t.Error(err)
			}
			if _, err := p.At(context.Background(), u, start); !errors.Is(err, container.ErrNotFound) {
				t.Error(err)
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := container.OpenPartitions(opt); err == nil {
		t.Error("no directory accepted")
	}
}

// TestPartitionsAreNamed: with directories swapped, missing or added pages would be
// looked for in the wrong place.
func TestPartitionsAreNamed(t *testing.T) {
	opt := container.Options{FS: durable.Memory()}
	try := func(dirs ...string) error {
		p, err := container.OpenPartitions(opt, dirs...)
		if err != nil {
			return err
		}
		return p.Close()
	}
	for range 2 {
		if err := try("a", "b"); err != nil {
			t.Fatal(err)
		}
	}
	for _, dirs := range [][]string{{"b", "a"}, {"a"}, {"a", "new"}, {"a", "b", "c"}} {
		if err := try(dirs...); err == nil || !strings.Contains(err.Error(), "order") {
			t.Errorf("%v: %v", dirs, err)
		}
	}
	opt.Dir = "plain"
	c := open(t, opt)
	put(t, c, container.Entry{Page: page(t, "http://a.example/", "text", start)})
	closed(t, c)
	if err := try("plain", "other"); err == nil || !strings.Contains(err.Error(), "was no partition") {
		t.Error(err)
	}
}
