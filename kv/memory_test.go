package kv_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"octopus/kv"
	"octopus/kv/kvtest"
)

func TestMemory(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) kv.Store {
		s := kv.NewMemory()
		t.Cleanup(func() { s.Close() })
		return s
	})
}

func TestPrefixEnd(t *testing.T) {
	for _, c := range []struct{ prefix, end string }{
		{"a", "b"}, {"a\xff", "b"}, {"a\xfe\xff\xff", "a\xff"}, {"\xff", ""}, {"", ""},
	} {
		if got := kv.PrefixEnd([]byte(c.prefix)); string(got) != c.end {
			t.Errorf("PrefixEnd(%q) = %q, want %q", c.prefix, got, c.end)
		}
	}
	p := []byte("ab")
	if end := kv.PrefixEnd(p[:1]); string(p) != "ab" || string(end) != "b" {
		t.Errorf("PrefixEnd changed its argument: %q", p)
	}
}

func BenchmarkMemory(b *testing.B) {
	for _, size := range []int{1, 100} {
		b.Run(map[int]string{1: "batch=1", 100: "batch=100"}[size], func(b *testing.B) {
			s := kv.NewMemory()
			var batch kv.Batch
			for i := 0; i < b.N; i += size {
				batch.Reset()
				for j := range size {
					key := binary.BigEndian.AppendUint64(nil, uint64(i+j)*0x9e3779b97f4a7c15)
					batch.Set(key, key)
				}
				if err := s.Apply(&batch, kv.NoSync); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestMemoryDeep compares a tree of three levels with a Go map: values that grow
// and shrink, ranges that span nodes, and scans that see none of what is done
// while they run.
func TestMemoryDeep(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	s, model := kv.NewMemory(), map[string]string{}
	key := func() string { return fmt.Sprintf("%05x", rng.IntN(1<<20)) }
	change := func(n int) {
		var b kv.Batch
		for range n {
			switch k := key(); rng.IntN(40) {
			case 0:
				hi := fmt.Sprintf("%s%c", k[:3], 'a'+rng.IntN(6))
				b.DeleteRange([]byte(k), []byte(hi))
				maps.DeleteFunc(model, func(x, _ string) bool { return x >= k && x < hi })
			case 1, 2, 3, 4, 5, 6:
				for x := range model { // any
					b.Delete([]byte(x))
					delete(model, x)
					break
				}
			case 7, 8, 9:
				for x := range model {
					k = x
					break
				}
				fallthrough
			default:
				v := strings.Repeat(k, rng.IntN(20))
				b.Set([]byte(k), []byte(v))
				model[k] = v
			}
		}
		if err := s.Apply(&b, kv.NoSync); err != nil {
			t.Fatal(err)
		}
	}
	for range 16 {
		change(2000)
		before := maps.Clone(model)
		n, last := 0, ""
		err := s.Scan(nil, nil, func(k, v []byte) error {
			if n%500 == 0 {
				change(20)
			}
			n++
			if want, ok := before[string(k)]; !ok || want != string(v) || string(k) <= last {
				return fmt.Errorf("after %q: %q is %q, want %q (%v)", last, k, v, want, ok)
			}
			last = string(k)
			return nil
		})
		if err != nil || n != len(before) {
			t.Fatalf("a scan of %d keys of %d: %v", n, len(before), err)
		}
	}
	if len(model) < 10_000 {
		t.Fatalf("only %d keys", len(model))
	}
	for k, v := range model {
		if got, err := s.Get([]byte(k)); err != nil || string(got) != v {
			t.Fatalf("Get(%s) = %q, %v; want %q", k, got, err, v)
		}
	}
	for k := range model {
		var b kv.Batch
		b.Delete([]byte(k))
		if err := s.Apply(&b, kv.NoSync); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Scan(nil, nil, func(k, _ []byte) error { return fmt.Errorf("%s is left", k) }); err != nil {
		t.Error(err)
	}
}
