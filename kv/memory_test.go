package kv_test

import (
	"encoding/binary"
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
