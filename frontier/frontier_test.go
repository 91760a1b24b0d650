package frontier_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"octopus"
	"octopus/frontier"
	"octopus/frontier/frontiertest"
	"octopus/kv"
	"octopus/kv/pebblekv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plain are options without manners.
func plain(s kv.Store) frontier.Options {
	return frontier.Options{Store: s, Robots: "ignore", Politeness: frontier.Politeness{HostDelay: -1}}
}

func TestConformance(t *testing.T) {
	all := frontiertest.Promises{Durable: true, Ordered: true, Blocking: true}
	stores := map[string]func(t *testing.T) kv.Store{
		"memory": func(*testing.T) kv.Store { return kv.NewMemory() },
		"pebble": func(t *testing.T) kv.Store {
			s, err := pebblekv.Open(t.TempDir(), pebblekv.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			return s
		},
	}
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			frontiertest.Run(t, all, func(t *testing.T) frontiertest.Open {
				store := open(t)
				return func(t *testing.T) octopus.Frontier {
					f, err := frontier.Open(plain(store))
					if err != nil {
						t.Fatal(err)
					}
					return f
				}
			})
		})
	}
}

func TestForgets(t *testing.T) {
	frontiertest.Forgets(t, func(t *testing.T, seen *frontiertest.Seen) octopus.Frontier {
		opt := plain(kv.NewMemory())
		opt.Seen, opt.Relink = seen, frontiertest.Always
		f, err := frontier.Open(opt)
		if err != nil {
			t.Fatal(err)
		}
		return f
	})
}

// impatient is a context for a Lease that must not wait: it is fine until the
// Lease waits for it.
type impatient struct {
	context.Context
	asked atomic.Bool
}

func now() *impatient { return &impatient{Context: context.Background()} }

func (c *impatient) Err() error {
	if c.asked.Swap(true) {
		return context.DeadlineExceeded
	}
	return nil
}

func (c *impatient) Done() <-chan struct{} { return closed }

var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// TestLeaseWakesByItself: a waiting Lease returns at the moment a host comes
// due, not before and not after.
func TestLeaseWakesByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opt := plain(kv.NewMemory())
		opt.HostDelay = 7 * time.Second
		f, err := frontier.Open(opt)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		ctx := context.Background()
		if _, err := f.Add(ctx, []octopus.Link{frontiertest.Link("a.com/1", 0), frontiertest.Link("a.com/2", 0)}); err != nil {
			t.Fatal(err)
		}
		l, err := f.Lease(ctx, 5)
		if err != nil || len(l) != 1 {
			t.Fatal(l, err)
		}
		end := time.Now()
		f.Release(octopus.Outcome{Lease: l[0], Status: 200, End: end})
		if _, err := f.Lease(ctx, 5); err != nil || time.Since(end) != 7*time.Second {
			t.Errorf("leased after %s, %v", time.Since(end), err)
		}
	})
}

// TestClose: closing ends a waiting Lease, and calls after it fail.
func TestClose(t *testing.T) {
	f, err := frontier.Open(plain(kv.NewMemory()))
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error)
	go func() {
		_, err := f.Lease(context.Background(), 1)
		got <- err
	}()
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := <-got; !errors.Is(err, frontier.ErrClosed) {
		t.Errorf("Lease: %v", err)
	}
	if _, err := f.Add(context.Background(), []octopus.Link{frontiertest.Link("a.com/1", 0)}); !errors.Is(err, frontier.ErrClosed) {
		t.Errorf("Add: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// failing is a store whose commits fail once told so.
type failing struct {
	kv.Store
	err error
}

func (s *failing) Apply(b *kv.Batch, d kv.Durability) error {
	if s.err != nil {
		return s.err
	}
	return s.Store.Apply(b, d)
}

// TestFailedCommit: an Add whose commit failed is not acknowledged, and the
// frontier stays failed: memory and disk may differ.
func TestFailedCommit(t *testing.T) {
	s := &failing{Store: kv.NewMemory()}
	f, err := frontier.Open(plain(s))
	if err != nil {
		t.Fatal(err)
	}
	s.err = errors.New("disk full")
	ctx := context.Background()
	for range 2 {
		if _, err := f.Add(ctx, []octopus.Link{frontiertest.Link("a.com/1", 0)}); !errors.Is(err, s.err) {
			t.Errorf("Add: %v", err)
		}
	}
	if _, err := f.Lease(ctx, 1); !errors.Is(err, s.err) {
		t.Errorf("Lease: %v", err)
	}
	if err := f.Close(); !errors.Is(err, s.err) {
		t.Errorf("Close: %v", err)
	}
}

// TestBadInput: what is no canonical link, and a state of another version, get a
// clear error.
func TestBadInput(t *testing.T) {
	if _, err := frontier.Open(frontier.Options{}); err == nil {
		t.Error("Open without a store")
	}
	store := kv.NewMemory()
	for _, o := range []frontier.Options{
		{Store: store, Robots: "maybe"},
		{Store: store, Buckets: frontier.Buckets{Picker: "random"}},
	} {
		if _, err := frontier.Open(o); err == nil {
			t.Errorf("Open with %+v", o)
		}
	}
	f, err := frontier.Open(plain(store))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Add(context.Background(), []octopus.Link{{}}); err == nil {
		t.Error("Add of a link without a URL")
	}
	f.Close()
	var b kv.Batch
	if err := store.Scan(nil, nil, func(k, v []byte) error {
		b.Set(k, append([]byte{9}, v[1:]...))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := store.Apply(&b, kv.Sync); err != nil {
		t.Fatal(err)
	}
	if _, err := frontier.Open(plain(store)); err == nil {
		t.Error("Open of a state of another version")
	}
}
