package container_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"octopus/canon"
	"octopus/container"
	"octopus/internal/durable"
	"octopus/warc"
)

// scale multiplies the work of the campaigns below: OCTOPUS_TORTURE=20 makes
// them twenty times as long.
func scale(n int) int {
	if f, err := strconv.Atoi(os.Getenv("OCTOPUS_TORTURE")); err == nil && f > 0 {
		return n * f
	}
	return n
}

// truth is what a container must hold: body by URL, and what it may hold
// besides, because the call that stores it was under way.
type truth struct {
	mu       sync.Mutex
	sure     map[string]string
	possible map[string][]string
}

func newTruth() *truth { return &truth{sure: map[string]string{}, possible: map[string][]string{}} }

func (t *truth) begin(url, body string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.possible[url] = append(t.possible[url], body)
}

func (t *truth) acknowledge(url, body string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sure[url] = body
}

func (t *truth) clone() *truth {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := &truth{sure: maps.Clone(t.sure), possible: map[string][]string{}}
	for u, b := range t.possible {
		c.possible[u] = append([]string(nil), b...)
	}
	return c
}

// compare opens the container in fsys and holds it to the truth.
func (t *truth) compare(fsys durable.FS, index int64, what string) error {
	c, err := container.Open(container.Options{Dir: "pages", FS: fsys, SegmentBytes: 4000, IndexMemory: index})
	if err != nil {
		return fmt.Errorf("%s: open: %w", what, err)
	}
	defer c.Close()
	for url, bodies := range t.possible {
		u, _ := canon.Parse(url)
		s, err := c.Get(context.Background(), u)
		sure, must := t.sure[url]
		switch {
		case errors.Is(err, container.ErrNotFound) && !must:
		case err != nil:
			return fmt.Errorf("%s: %s: %w", what, url, err)
		default:
			from := 0 // what was acknowledged last, or something begun after it
			for i, b := range bodies {
				if must && b == sure {
					from = i
				}
			}
			if !strings.Contains("\x00"+strings.Join(bodies[from:], "\x00")+"\x00", "\x00"+string(s.Body)+"\x00") {
				return fmt.Errorf("%s: %s holds %q, want %q or one of %q", what, url, s.Body, sure, bodies[from:])
			}
		}
	}
	rep, err := c.Verify(context.Background(), nil)
	if err != nil || len(rep.Errors) > 0 {
		return fmt.Errorf("%s: verify: %v, %v", what, err, rep.Errors)
	}
	u, _ := canon.Parse("http://after.example/")
	p := page(nil2{}, "http://after.example/", "after the crash", start)
	if _, err := c.Put(context.Background(), container.Entry{Page: p}); err != nil {
		return fmt.Errorf("%s: put after recovery: %w", what, err)
	}
	if _, err := c.Get(context.Background(), u); err != nil {
		return fmt.Errorf("%s: get after recovery: %w", what, err)
	}
	return nil
}

// nil2 lets page be used outside a test function's goroutine.
type nil2 struct{ testing.TB }

func (nil2) Helper() {}

// work stores pages from several goroutines: new ones, new versions, the same
// content under other URLs, groups, and reopens in between.
func work(fsys durable.FS, index int64, t *truth, rounds int) error {
	for round := range rounds {
		c, err := container.Open(container.Options{Dir: "pages", FS: fsys, SegmentBytes: 4000, IndexMemory: index})
		if err != nil {
			return err
		}
		var wg sync.WaitGroup
		errs := make([]error, 3)
		for g := range errs {
			wg.Go(func() {
				for i := range 8 {
					var batch []container.Entry
					urls, bodies := []string{}, []string{}
					for k := range 1 + i%3 {
						url := fmt.Sprintf("http://g%d.example/%d", g, (i*3+k)%10)
						body := fmt.Sprintf("round %d item %d of %d %s", round, i, g, strings.Repeat("x", i*40))
						if i%4 == 3 {
							body = fmt.Sprintf("shared %d", round)
						}
						urls, bodies = append(urls, url), append(bodies, body)
						t.begin(url, body)
						batch = append(batch, container.Entry{Page: page(nil2{}, url, body, start.Add(time.Duration(round*100+i)*time.Second)),
							Meta: []warc.Field{{Name: "via", Value: url}}})
					}
					if _, errs[g] = c.PutAll(context.Background(), batch); errs[g] != nil {
						return
					}
					for k := range urls {
						t.acknowledge(urls[k], bodies[k])
					}
				}
			})
		}
		wg.Wait()
		// Versions that went out of the newest three are removed, so what must
		// be found is still there.
		_, err = c.Compact(context.Background(), 1.1, 3, nil)
		errs = append(errs, err)
		if err := errors.Join(append(errs, c.Close())...); err != nil {
			return err
		}
	}
	return nil
}

// indexes are values of IndexMemory: none, and so little that a checkpoint comes
// with every few pages.
var indexes = []int64{0, 4 << 10}

// TestPowerCut copies the file system as a power cut might leave it, at every
// operation that writes, and opens the copies.
func TestPowerCut(t *testing.T) {
	for _, index := range indexes {
		t.Run(fmt.Sprintf("index=%d", index), func(t *testing.T) { powerCut(t, index) })
	}
}

func powerCut(t *testing.T, index int64) {
	rng := rand.New(rand.NewPCG(1, 2))
	points := 0
	for range scale(1) {
		mem := durable.Crashable()
		now := newTruth()
		var mu sync.Mutex
		var copies []func() error
		ops := 0
		seed := rng.Uint64()
		pick := rand.New(rand.NewPCG(seed, 1))
		fsys, _ := durable.Failing(mem, func(write bool) {
			mu.Lock()
			defer mu.Unlock()
			if ops++; !write || scale(1) == 1 && ops%5 != 0 { // a campaign takes every operation
				return
			}
			before := now.clone() // acknowledged before the cut: must be there
			percent := []int{0, 10, 50, 90}[pick.IntN(4)]
			crashed := durable.Crash(mem, percent, pick)
			after := now.clone()
			before.possible = after.possible
			n := len(copies)
			copies = append(copies, func() error {
				return before.compare(crashed, index, fmt.Sprintf("seed %d point %d, %d%% of the unsynced kept", seed, n, percent))
			})
		})
		if err := work(fsys, index, now, 2); err != nil {
			t.Fatal(err)
		}
		for _, compare := range copies {
			if err := compare(); err != nil {
				t.Fatal(err)
			}
		}
		points += len(copies)
	}
	t.Logf("%d crash points", points)
}

// TestEveryOperationFails lets each operation of the file system fail in turn.
// What was acknowledged must be there once the disk works again.
func TestEveryOperationFails(t *testing.T) {
	for i, sticky := range []bool{false, true, false, true} {
		index := indexes[i/2]
		step := int64(301) // a campaign takes every operation
		if scale(1) > 1 {
			step = 1
		}
		for n := int64(0); ; n += step {
			mem := durable.Memory()
			now := newTruth()
			fsys, faults := durable.Failing(mem, nil)
			faults.FailAfter(n, sticky)
			err := work(fsys, index, now, 2)
			if err == nil && faults.Ops() <= n {
				t.Logf("%d operations", n)
				break
			}
			if err := now.compare(mem, index, fmt.Sprintf("index %d, operation %d failed, sticky %v (%v)", index, n, sticky, err)); err != nil {
				t.Fatal(err)
			}
		}
	}
}
