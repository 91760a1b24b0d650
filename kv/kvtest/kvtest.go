package kvtest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"octopus/kv"
)

// Run tests the store that open returns, an empty one each time. open arranges
// for it to be closed (testing.T.Cleanup).
func Run(t *testing.T, open func(t *testing.T) kv.Store) {
	for _, c := range []struct {
		name string
		test func(*testing.T, kv.Store)
	}{
		{"Get", testGet},
		{"Order", testOrder},
		{"Ranges", testRanges},
		{"Scan", testScan},
		{"ScanIsASnapshot", testSnapshot},
		{"VisitMayUseTheStore", testNested},
		{"BatchIsCopied", testCopied},
		{"OnCommit", testOnCommit},
		{"BatchIsAtomic", testAtomic},
		{"LargeBatch", testLarge},
		{"Model", testModel},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

func testGet(t *testing.T, s kv.Store) {
	if _, err := s.Get([]byte("a")); !errors.Is(err, kv.ErrNotFound) {
		t.Fatalf("Get of a missing key: %v, want ErrNotFound", err)
	}
	apply(t, s, func(b *kv.Batch) { b.Set([]byte("a"), []byte("1")); b.Set([]byte("empty"), nil) })
	if got := get(t, s, "a"); got != "1" {
		t.Errorf("Get(a) = %q, want 1", got)
	}
	if v, err := s.Get([]byte("empty")); err != nil || v == nil || len(v) != 0 {
		t.Errorf("Get of an empty value = %v, %v; want an empty slice", v, err)
	}
	v, _ := s.Get([]byte("a"))
	v[0] = 'x' // the copy is the caller's
	if got := get(t, s, "a"); got != "1" {
		t.Errorf("after the caller changed his copy, Get(a) = %q", got)
	}
	apply(t, s, func(b *kv.Batch) { b.Delete([]byte("a")); b.Delete([]byte("never there")) })
	if _, err := s.Get([]byte("a")); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("Get of a deleted key: %v", err)
	}
}

func testOrder(t *testing.T, s kv.Store) {
	apply(t, s, func(b *kv.Batch) {
		b.Set([]byte("k"), []byte("1"))
		b.DeleteRange([]byte("a"), []byte("z"))
		b.Set([]byte("k"), []byte("2"))
		b.Set([]byte("gone"), []byte("1"))
		b.Delete([]byte("gone"))
	})
	want(t, s, "", "", "k=2")
}

func testRanges(t *testing.T, s kv.Store) {
	fill := func(b *kv.Batch) {
		for _, k := range []string{"a", "b", "ba", "c", "d"} {
			b.Set([]byte(k), []byte("1"))
		}
	}
	for _, c := range []struct{ lo, hi, want string }{
		{"b", "c", "a=1 c=1 d=1"},
		{"b", "ba", "a=1 ba=1 c=1 d=1"},
		{"", "b", "b=1 ba=1 c=1 d=1"},
		{"x", "y", "a=1 b=1 ba=1 c=1 d=1"},
		{"c", "b", "a=1 b=1 ba=1 c=1 d=1"}, // backwards: nothing
		{"b", "", "a=1 b=1 ba=1 c=1 d=1"},  // an empty end: nothing
		{"", "\xff", ""},
	} {
		apply(t, s, fill)
		apply(t, s, func(b *kv.Batch) { b.DeleteRange([]byte(c.lo), []byte(c.hi)) })
		t.Logf("delete [%q, %q)", c.lo, c.hi)
		want(t, s, "", "", c.want)
	}
}

func testScan(t *testing.T, s kv.Store) {
	apply(t, s, func(b *kv.Batch) {
		for _, k := range []string{"b", "a", "c", "b\x00", "\xff\xff"} {
			b.Set([]byte(k), []byte(k))
		}
	})
	for _, c := range []struct{ lo, hi, want string }{
		{"", "", "a=a b=b b\x00=b\x00 c=c \xff\xff=\xff\xff"},
		{"b", "c", "b=b b\x00=b\x00"},
		{"b\x00", "", "b\x00=b\x00 c=c \xff\xff=\xff\xff"},
		{"aa", "aaa", ""},
		{"c", "a", ""},
	} {
		want(t, s, c.lo, c.hi, c.want)
	}
	stop, n := errors.New("stop"), 0
	visit := func(err error) func(k, v []byte) error {
		return func(k, v []byte) error {
			if n++; n == 2 {
				return err
			}
			return nil
		}
	}
	if err := s.Scan(nil, nil, visit(stop)); err != stop || n != 2 {
		t.Errorf("Scan that is stopped by an error: %v after %d keys", err, n)
	}
	n = 0
	if err := s.Scan(nil, nil, visit(kv.ErrStop)); err != nil || n != 2 {
		t.Errorf("Scan that is stopped by ErrStop: %v after %d keys", err, n)
	}
}

func testSnapshot(t *testing.T, s kv.Store) {
	apply(t, s, func(b *kv.Batch) {
		for i := range 100 {
			b.Set(fmt.Appendf(nil, "%03d", i), []byte("old"))
		}
	})
	n := 0
	err := s.Scan(nil, nil, func(k, v []byte) error {
		if n == 0 {
			apply(t, s, func(b *kv.Batch) {
				b.DeleteRange([]byte("050"), []byte("060"))
				b.Set([]byte("070"), []byte("new"))
				b.Set([]byte("0705"), []byte("new"))
			})
		}
		if n++; string(v) != "old" {
			t.Errorf("a scan sees %s=%s, which came after it began", k, v)
		}
		return nil
	})
	if err != nil || n != 100 {
		t.Errorf("the scan saw %d keys of 100, error %v", n, err)
	}
	want(t, s, "069", "071", "069=old 070=new 0705=new")
}

func testNested(t *testing.T, s kv.Store) {
	apply(t, s, func(b *kv.Batch) { b.Set([]byte("a"), []byte("1")); b.Set([]byte("b"), []byte("2")) })
	var got []string
	err := s.Scan(nil, nil, func(k, _ []byte) error {
		apply(t, s, func(b *kv.Batch) { b.Delete(k) })
		return s.Scan([]byte("b"), nil, func(k, _ []byte) error {
			got = append(got, string(k))
			return nil
		})
	})
	if err != nil || !slices.Equal(got, []string{"b"}) {
		t.Errorf("scans inside a scan that deletes saw %q, %v; want one b", got, err)
	}
}

func testCopied(t *testing.T, s kv.Store) {
	var b kv.Batch
	key, value := []byte("key"), []byte("value")
	b.Set(key, value)
	copy(key, "xxx")
	copy(value, "xxxxx")
	if err := s.Apply(&b, kv.Sync); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	b.Set([]byte("zzz"), []byte("zzzzz"))
	want(t, s, "", "", "key=value")
}

func testOnCommit(t *testing.T, s kv.Store) {
	var staged, b kv.Batch
	calls := ""
	b.OnCommit(func() { calls += "1" })
	staged.Set([]byte("a"), []byte("1"))
	staged.OnCommit(func() {
		calls += "2"
	})
	b.Append(&staged)
	if calls != "" {
		t.Errorf("called before Apply")
	}
	for range 2 { // applied again, the calls are not made again
		if err := s.Apply(&b, kv.NoSync); err != nil {
			t.Fatal(err)
		}
	}
	if calls != "12" {
		t.Errorf("calls %q, want 12", calls)
	}
	b.OnCommit(func() { t.Error("called although the batch was reset") })
	b.Reset()
	if err := s.Apply(&b, kv.Sync); err != nil {
		t.Fatalf("empty batch: %v", err)
	}
}

// testAtomic has writers move a token between keys, while readers count it.
func testAtomic(t *testing.T, s kv.Store) {
	const slots, moves = 8, 200
	apply(t, s, func(b *kv.Batch) { b.Set([]byte{'t', 0}, nil) })
	var group sync.WaitGroup
	done := make(chan struct{})
	group.Go(func() {
		defer close(done)
		for i := range moves {
			apply(t, s, func(b *kv.Batch) {
				b.Delete([]byte{'t', byte(i % slots)})
				b.Set([]byte{'t', byte((i + 1) % slots)}, nil)
			})
		}
	})
	for range 2 {
		group.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				n := 0
				if err := s.Scan([]byte("t"), []byte("u"), func(_, _ []byte) error { n++; return nil }); err != nil || n != 1 {
					t.Errorf("%d tokens seen, want 1; %v", n, err)
					return
				}
			}
		})
	}
	group.Wait()
}

func testLarge(t *testing.T, s kv.Store) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB
	apply(t, s, func(b *kv.Batch) {
		for i := range 40 {
			b.Set(fmt.Appendf(nil, "big%02d", i), big)
		}
		b.DeleteRange([]byte("big01"), []byte("big39"))
	})
	n := 0
	err := s.Scan(nil, nil, func(k, v []byte) error {
		if n++; !bytes.Equal(v, big) {
			t.Errorf("%s has %d bytes", k, len(v))
		}
		return nil
	})
	if err != nil || n != 2 {
		t.Errorf("%d large values, want 2; %v", n, err)
	}
}

// testModel compares the store with a Go map under random batches.
func testModel(t *testing.T, s kv.Store) {
	rng := rand.New(rand.NewPCG(1, 2))
	model := map[string]string{}
	key := func() string { return fmt.Sprintf("%02x", rng.IntN(200)) }
	for round := range 400 {
		apply(t, s, func(b *kv.Batch) {
			for range rng.IntN(12) {
				switch k, l := key(), key(); rng.IntN(6) {
				case 0:
					b.Delete([]byte(k))
					delete(model, k)
				case 1:
					l = min(l, k+"\x03") // short ranges
					b.DeleteRange([]byte(k), []byte(l))
					maps.DeleteFunc(model, func(x, _ string) bool { return x >= k && x < l })
				default:
					v := fmt.Sprint(round)
					b.Set([]byte(k), []byte(v))
					model[k] = v
				}
			}
		})
		lo, hi := key(), key()
		want(t, s, lo, hi, render(model, lo, hi))
		if k := key(); model[k] != "" && get(t, s, k) != model[k] {
			t.Fatalf("round %d: Get(%s) = %s, want %s", round, k, get(t, s, k), model[k])
		}
	}
	want(t, s, "", "", render(model, "", ""))
}

func render(model map[string]string, lo, hi string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(model)) {
		if k >= lo && (hi == "" || k < hi) {
			parts = append(parts, k+"="+model[k])
		}
	}
	return strings.Join(parts, " ")
}

func apply(t *testing.T, s kv.Store, fill func(*kv.Batch)) {
	t.Helper()
	var b kv.Batch
	fill(&b)
	if err := s.Apply(&b, kv.NoSync); err != nil {
		t.Fatalf("Apply: %v", err)
	}
}

func get(t *testing.T, s kv.Store, key string) string {
	t.Helper()
	v, err := s.Get([]byte(key))
	if err != nil {
		t.Fatalf("Get(%q): %v", key, err)
	}
	return string(v)
}

// want compares a scan with "key=value key=value".
func want(t *testing.T, s kv.Store, lo, hi, text string) {
	t.Helper()
	var parts []string
	err := s.Scan([]byte(lo), []byte(hi), func(k, v []byte) error {
		parts = append(parts, string(k)+"="+string(v))
		return nil
	})
	if got := strings.Join(parts, " "); err != nil || got != text {
		t.Fatalf("Scan(%q, %q) = %q, %v; want %q", lo, hi, got, err, text)
	}
}
